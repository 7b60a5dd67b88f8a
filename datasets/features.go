package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ledg-go/ledg/ceg/arrays"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// FeaturesFile is the name of the data set whose examples are feature vectors in a
// file instead of images.
const FeaturesFile = "features"

// openFeatures opens a .npz, .safetensors or .parquet file, whatever its name. Its
// arrays, of N examples with D features, are:
//
//   - features [N, D], or [N, V, D] with V views of each example of which view 0 is the
//     clean one, in float16, float32 or float64
//   - labels [N], numbers with -1 for unknown, or names with "" for unknown; without it
//     no class is known
//   - domains [N], numbers or names; without it all examples are of one domain, "all"
//   - ids [N], text or numbers (also called id, paths or path); without it the rows'
//     numbers
//   - splits [N], 0 or "train" and 1 or "val"; without it floor(0.9 n) of the n
//     examples of a class in a domain are Train, drawn from the seed
//   - class_names, domain_names: the names of the numbers; without them these
//
// Names may also be in the metadata of a .safetensors or .parquet file, as JSON lists,
// and so may "views", the views' names with commas between them: clean, weak or strong.
// Errors name the file and the array.
func openFeatures(path string, opts Options) (*Dataset, Truth, error) {
	file, err := arrays.Open(path)
	if err != nil {
		return nil, Truth{}, err
	}
	f := &featureFile{File: file}
	d, t, err := f.open(path, opts)
	if err != nil {
		file.Close()
	}
	return d, t, err
}

// featureFile is an open file of features.
type featureFile struct {
	*arrays.File
	rows int
}

func (f *featureFile) open(path string, opts Options) (*Dataset, Truth, error) {
	fail := func(err error) (*Dataset, Truth, error) { return nil, Truth{}, err }
	x, err := f.Array("features")
	if err != nil {
		return fail(err)
	}
	shape := x.Shape()
	if len(shape) == 2 {
		shape = []int{shape[0], 1, shape[1]}
	}
	if t := x.Type(); t != arrays.Float32 && t != arrays.Float64 && t != arrays.Float16 {
		return fail(x.Errorf("type %s, want float16, float32 or float64", t))
	}
	if len(shape) != 3 || slices.Contains(shape, 0) {
		return fail(x.Errorf("shape %v, want [N, D] or [N, V, D], none of them 0", x.Shape()))
	}
	f.rows = shape[0]
	d := &Dataset{Name: FeaturesFile}
	labels, classes, err := f.numbered("labels", "class_names", Unknown)
	if err != nil {
		return fail(err)
	}
	domains, names, err := f.numbered("domains", "domain_names", 0)
	if err != nil {
		return fail(err)
	}
	if names == nil {
		names = []string{"all"}
	}
	if d.Classes, d.Domains = classes, names; opts.Classes != nil {
		if len(opts.Classes) < len(classes) {
			return fail(fmt.Errorf("%s: %d class names are given, the file has %d classes", path, len(opts.Classes), len(classes)))
		}
		d.Classes = slices.Clone(opts.Classes)
	}
	if len(d.Classes) > 0 {
		if err := ValidClasses(d.Classes); err != nil {
			return fail(fmt.Errorf("%s: class_names: %w", path, err))
		}
	}
	ids, err := f.ids()
	if err != nil {
		return fail(err)
	}
	splits, err := f.splits()
	if err != nil {
		return fail(err)
	}
	views, err := f.views(shape[1])
	if err != nil {
		return fail(err)
	}
	rows := make([]int, f.rows)
	for i := range rows {
		rows[i] = i
	}
	entries := make([]entry, f.rows)
	for i := range entries {
		entries[i] = entry{Example: Example{ID: ids[i], Domain: domains[i]}, class: labels[i]}
	}
	slices.SortFunc(rows, func(a, b int) int { return compareExamples(entries[a].Example, entries[b].Example) })
	sorted := make([]entry, f.rows)
	for i, row := range rows {
		sorted[i] = entries[row]
		if splits != nil {
			sorted[i].Split = splits[row]
		}
	}
	if len(opts.Labels) > 0 {
		return fail(fmt.Errorf("%s: labels are in the file, and no others are taken", path))
	}
	if splits == nil {
		splitByRule(sorted, d.Domains, d.Classes, opts.Seed, 0)
	}
	var t Truth
	for _, e := range sorted {
		if e.class == Unknown {
			e.Split = Train // an example of unknown class is never in Val
		}
		d.Examples, t.classes = append(d.Examples, e.Example), append(t.classes, e.class)
	}
	d.source = &Features{Views: views, Dim: shape[2], path: path, array: x.Rows(), rows: rows, examples: d.Examples, close: f.Close}
	if err := d.finish(t); err != nil {
		return fail(fmt.Errorf("%s: %w", path, err))
	}
	return d, t, nil
}

// vector opens an array with an element for every row.
func (f *featureFile) vector(name string) (*arrays.Array, error) {
	a, err := f.Array(name)
	if err != nil {
		return nil, err
	}
	n, err := a.Vector()
	if err != nil {
		return nil, err
	}
	if a.Type() != arrays.Bytes && n != f.rows { // of bytes the lines count
		return nil, a.Errorf("%d elements, but features has %d rows", n, f.rows)
	}
	return a, nil
}

// text reads a vector of text with an element for every row.
func (f *featureFile) text(a *arrays.Array) ([]string, error) {
	list, err := arrays.Strings(a)
	if err == nil && len(list) != f.rows {
		err = a.Errorf("%d strings, but features has %d rows", len(list), f.rows)
	}
	return list, err
}

func isText(a *arrays.Array) bool {
	return a.Type() == arrays.Bytes || a.Type() == arrays.Text || a.Type() == arrays.Lines
}

// numbered reads numbers, or gives names numbers in byte order. Without the array all
// are missing, and there are no names. Unknown is allowed if it is what is missing.
func (f *featureFile) numbered(name, namesOf string, missing int) (numbers []int, names []string, err error) {
	if names, err = f.names(namesOf); err != nil {
		return nil, nil, err
	}
	if !f.Has(name) {
		return slices.Repeat([]int{missing}, f.rows), names, nil
	}
	a, err := f.vector(name)
	if err != nil {
		return nil, nil, err
	}
	if isText(a) {
		return f.named(a, names, missing)
	}
	if numbers, err = arrays.Ints(a); err != nil {
		return nil, nil, err
	}
	given := names != nil
	for i, v := range numbers {
		switch {
		case v == Unknown && missing == Unknown:
		case v < 0 || v >= math.MaxInt32:
			return nil, nil, a.Errorf("row %d: %d, want 0 or more%s", i, v, map[bool]string{true: ", or -1 for unknown"}[missing == Unknown])
		case given && v >= len(names):
			return nil, nil, a.Errorf("row %d: %d, but %s has %d names", i, v, namesOf, len(names))
		case v > 1<<20:
			return nil, nil, a.Errorf("row %d: %d, want a number of a class or domain", i, v)
		}
		for !given && v >= len(names) {
			names = append(names, strconv.Itoa(len(names)))
		}
	}
	return numbers, names, nil
}

// named gives names their numbers.
func (f *featureFile) named(a *arrays.Array, names []string, missing int) ([]int, []string, error) {
	list, err := f.text(a)
	if err != nil {
		return nil, nil, err
	}
	if names == nil {
		names = slices.Clone(list)
		slices.Sort(names)
		names = slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
	}
	at := map[string]int{}
	for i, s := range names {
		at[s] = i
	}
	if missing == Unknown {
		at[""] = Unknown
	}
	numbers := make([]int, len(list))
	for i, s := range list {
		k, ok := at[s]
		if !ok {
			return nil, nil, a.Errorf("row %d: %q is not one of %s", i, s, firstFew(names))
		}
		numbers[i] = k
	}
	return numbers, names, nil
}

// names reads names from an array or the metadata; nil if there are none.
func (f *featureFile) names(name string) (list []string, err error) {
	if !f.Has(name) {
		if text, ok := f.Metadata()[name]; ok {
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				return nil, fmt.Errorf("%s: %s in the metadata is no JSON list of names: %w", f.Path(), name, err)
			}
		}
		return list, nil
	}
	a, err := f.Array(name)
	if err != nil {
		return nil, err
	}
	return arrays.Strings(a)
}

// ids reads what the examples are called.
func (f *featureFile) ids() ([]string, error) {
	for _, name := range []string{"ids", "id", "paths", "path"} {
		if !f.Has(name) {
			continue
		}
		a, err := f.vector(name)
		if err != nil {
			return nil, err
		}
		if isText(a) {
			return f.text(a)
		}
		numbers, err := arrays.Ints(a)
		if err != nil {
			return nil, err
		}
		list := make([]string, len(numbers))
		for i, v := range numbers {
			list[i] = strconv.Itoa(v)
		}
		return list, nil
	}
	list, width := make([]string, f.rows), len(strconv.Itoa(f.rows-1))
	for i := range list {
		list[i] = fmt.Sprintf("%0*d", width, i) // in the order of the rows
	}
	return list, nil
}

// splits reads which examples are for training; nil if the file does not say.
func (f *featureFile) splits() ([]Split, error) {
	if !f.Has("splits") {
		return nil, nil
	}
	a, err := f.vector("splits")
	if err != nil {
		return nil, err
	}
	list := make([]Split, f.rows)
	if isText(a) {
		text, err := f.text(a)
		if err != nil {
			return nil, err
		}
		for i, s := range text {
			switch s {
			case "train":
			case "val":
				list[i] = Val
			default:
				return nil, a.Errorf("row %d: %q, want train or val", i, s)
			}
		}
		return list, nil
	}
	numbers, err := arrays.Ints(a)
	if err != nil {
		return nil, err
	}
	for i, v := range numbers {
		if v != 0 && v != 1 {
			return nil, a.Errorf("row %d: %d, want 0 (train) or 1 (val)", i, v)
		}
		list[i] = Split(v)
	}
	return list, nil
}

// views returns the kinds of the views.
func (f *featureFile) views(n int) ([]ViewKind, error) {
	list := slices.Repeat([]ViewKind{AnyView}, n)
	list[0] = CleanView
	text, ok := f.Metadata()["views"]
	if !ok {
		return list, nil
	}
	names := strings.Split(text, ",")
	if len(names) != n {
		return nil, fmt.Errorf("%s: the metadata name the views %s, but features has %d", f.Path(), text, n)
	}
	for i, name := range names {
		switch k := ViewKind(name); {
		case k == CleanView && i == 0, k == WeakView && i > 0, k == StrongView && i > 0:
			list[i] = k
		default:
			return nil, fmt.Errorf("%s: the metadata call view %d %q, want clean for 0, and weak or strong for others", f.Path(), i, name)
		}
	}
	return list, nil
}

// ViewKind says what a stored view is of.
type ViewKind string

// The kinds of views. AnyView is an augmented one of which nothing else is known.
const (
	CleanView  ViewKind = "clean"
	WeakView   ViewKind = "weak"
	StrongView ViewKind = "strong"
	AnyView    ViewKind = "any"
)

// Features are the examples of a data set of feature vectors.
type Features struct {
	// Views are the kinds of the stored views of every example; the first is clean.
	Views []ViewKind
	// Dim is the number of features.
	Dim int

	path     string
	array    *arrays.Array // [rows, views*dim]
	rows     []int         // of the examples
	examples []Example
	close    func() error
}

// Features returns the feature vectors that the data set has for examples; ok is false
// if it has images.
func (d *Dataset) Features() (f *Features, ok bool) {
	f, ok = d.source.(*Features)
	return f, ok
}

// errNoPixels is the error of who asks features for an image.
var errNoPixels = errors.New("the data set has feature vectors, not images")

func (f *Features) digest(int) (digest, error)           { return digest{}, errNoPixels }
func (f *Features) read(int) (*rgb.Image, digest, error) { return nil, digest{}, errNoPixels }
func (f *Features) errorf(i int, err error) error {
	return fmt.Errorf("%s: features: %s (row %d): %w", f.path, f.examples[i].ID, f.rows[i], err)
}
func (f *Features) size() int64 { return int64(len(f.rows)) * int64(len(f.Views)*f.Dim) * 4 }

// Len returns the number of examples.
func (f *Features) Len() int { return len(f.rows) }

// Path returns the path of the file.
func (f *Features) Path() string { return f.path }

// Close closes the file.
func (f *Features) Close() error { return f.close() }

// Digest returns the SHA-256 of the whole file in hexadecimal.
func (f *Features) Digest() (string, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("%s: %w", f.path, err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// Vectors are features that can be read in any order.
type Vectors struct {
	*Features
	memory []float32 // all rows, or nil
	array  *arrays.Array
	spill  *os.File
}

// inMemory is up to how many bytes of float32 [Features.Open] keeps all features.
const inMemory = 1 << 30

// Open makes the features ready to be read in any order: up to a GiB of them in
// memory, more where they lie in the file; compressed and Parquet files of more are
// written to a file in cacheDir that has no name, for as long as they are open.
// Vectors are safe for concurrent use.
func (f *Features) Open(ctx context.Context, cacheDir string) (*Vectors, error) {
	v := &Vectors{Features: f, array: f.array}
	switch {
	case f.size() <= inMemory:
		all, err := arrays.ReadAll[float32](ctx, f.array)
		if err != nil {
			return nil, err
		}
		v.memory = all
		for i := range f.rows {
			if err := v.check(i, v.row(i)); err != nil {
				return nil, err
			}
		}
	case f.array.ReaderAt() == nil:
		if err := v.unpack(ctx, cacheDir); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *Vectors) row(i int) []float32 {
	n := len(v.Views) * v.Dim
	return v.memory[v.rows[i]*n : (v.rows[i]+1)*n]
}

// check returns an error if a feature of example i is not a number.
func (v *Vectors) check(i int, x []float32) error {
	for j, y := range x {
		if y-y != 0 {
			return v.errorf(i, fmt.Errorf("feature %d is %v", j%v.Dim, y))
		}
	}
	return nil
}

// unpack writes the features to a file without a name.
func (v *Vectors) unpack(ctx context.Context, cacheDir string) error {
	dir, err := cacheFolder(cacheDir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	if v.spill, err = os.CreateTemp(dir, "features-*.raw"); err != nil {
		return err
	}
	name := v.spill.Name()
	err = arrays.Unpack(ctx, v.Features.array, v.spill)
	if err == nil {
		v.array, err = arrays.Raw(v.Features.array, v.spill)
	}
	return errors.Join(err, os.Remove(name))
}

// Read copies a view of example i to dst, which has Dim elements. The scratch, of the
// caller's own, may grow.
func (v *Vectors) Read(i, view int, dst []float32, scratch *[]byte) error {
	if v.memory != nil {
		copy(dst, v.row(i)[view*v.Dim:(view+1)*v.Dim])
		return nil
	}
	first := v.rows[i]*len(v.Views)*v.Dim + view*v.Dim
	if err := arrays.ReadAt(v.array, first, dst, scratch); err != nil {
		return v.errorf(i, err)
	}
	return v.check(i, dst)
}

// Change lets fn change every vector that is in memory, in its place and on several
// goroutines, and reports whether they are; otherwise it does nothing. It must not run
// beside Read.
func (v *Vectors) Change(fn func(x []float32)) bool {
	if v.memory == nil {
		return false
	}
	n := len(v.memory) / v.Dim
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				fn(v.memory[i*v.Dim : (i+1)*v.Dim])
			}
		})
	}
	wg.Wait()
	return true
}

// InMemory reports whether all features are in memory.
func (v *Vectors) InMemory() bool { return v.memory != nil }

// Row returns the row of the file that example i is.
func (v *Vectors) Row(i int) int { return v.rows[i] }

// Close gives what Open took back, and closes the file.
func (v *Vectors) Close() error {
	v.memory = nil
	if v.spill != nil {
		v.spill.Close()
	}
	return v.Features.Close()
}
