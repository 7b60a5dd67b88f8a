package datasets

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/rgb"
)

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

// text reads a vector of text, or of numbers as text, with an element for every row.
func (f *featureFile) text(a *arrays.Array) ([]string, error) {
	list, err := arrays.Names(a)
	if err == nil && len(list) != f.rows {
		err = a.Errorf("%d strings, but features has %d rows", len(list), f.rows)
	}
	return list, err
}

// numbered reads numbers, or gives names numbers in byte order. Without the array all are missing,
// and there are no names. An unknown value is allowed where it stands for a missing one.
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
	if a.Type().IsText() {
		return f.named(a, names, missing)
	}
	if numbers, err = arrays.Ints(a); err != nil {
		return nil, nil, err
	}
	named := names != nil
	// Numbers without names may leave gaps. Records have a count for each pair of classes, so that
	// a stray number would fill the memory.
	most := min(max(f.rows, 1000), 10_000)
	for i, v := range numbers {
		switch {
		case v == Unknown && missing == Unknown:
		case v < 0 || v >= math.MaxInt32:
			return nil, nil, a.Errorf("row %d: %d, want 0 or more%s", i, v, map[bool]string{true: ", or -1 for unknown"}[missing == Unknown])
		case named && v >= len(names):
			return nil, nil, a.Errorf("row %d: %d, but %s has %d names", i, v, namesOf, len(names))
		case !named && v >= most:
			return nil, nil, a.Errorf("row %d: %d, want 0 to %d in a file of %d rows, or names in %s", i, v, most-1, f.rows, namesOf)
		}
		for !named && v >= len(names) {
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
	if name := f.First("ids", "id", "paths", "path"); name != "" {
		a, err := f.vector(name)
		if err != nil {
			return nil, err
		}
		return f.text(a)
	}
	list, width := make([]string, f.rows), len(strconv.Itoa(f.rows-1))
	for i := range list {
		list[i] = fmt.Sprintf("%0*d", width, i) // in the order of the rows
	}
	return list, nil
}

// groups reads the groups of the examples called ids; nil if the file does not say.
func (f *featureFile) groups(ids []string) (*grouper, error) {
	if !f.Has("groups") {
		return nil, nil
	}
	a, err := f.vector("groups")
	if err != nil {
		return nil, err
	}
	list, err := f.text(a)
	if err != nil {
		return nil, err
	}
	g := &grouper{named: make(map[string]string)}
	for i, name := range list {
		g.named[SameName(rgb.FilePath(ids[i]))] = name
	}
	return g, nil
}

// splits reads the splits of the examples; nil if the file does not say.
func (f *featureFile) splits() ([]Split, error) {
	name := f.First("splits", "split")
	if name == "" {
		return nil, nil
	}
	a, err := f.vector(name)
	if err != nil {
		return nil, err
	}
	return ReadSplits(a)
}

// ReadSplits reads an array of splits, numbers or names.
func ReadSplits(a *arrays.Array) ([]Split, error) {
	if a.Type().IsText() {
		text, err := arrays.Strings(a)
		if err != nil {
			return nil, err
		}
		list := make([]Split, len(text))
		for i, s := range text {
			var ok bool
			if list[i], ok = parseSplit(s); !ok {
				return nil, a.Errorf("row %d: %q, want train, val or test", i, s)
			}
		}
		return list, nil
	}
	numbers, err := arrays.Ints(a)
	if err != nil {
		return nil, err
	}
	list := make([]Split, len(numbers))
	for i, v := range numbers {
		if v < 0 || v > int(Test) {
			return nil, a.Errorf("row %d: %d, want 0 (train), 1 (val) or 2 (test)", i, v)
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
