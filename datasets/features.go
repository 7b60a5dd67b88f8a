package datasets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/arrays"
)

// FeaturesFile is the name of the data set of feature vectors in a file.
const FeaturesFile = "features"

// openFeatures opens a .npz, .safetensors or .parquet file, whatever its name. Its
// arrays, of N examples with D features, are:
//
//   - features [N, D], or [N, V, D] with V views of each example; view 0 is the
//     clean one, in float16, bfloat16, float32 or float64
//   - labels [N], numbers with -1 for unknown, or names with "" for unknown; without it
//     no class is known
//   - domains [N], numbers or names; without it all examples are of one domain, "all"
//   - ids [N], text or numbers (also called id, paths or path); without it the rows'
//     numbers
//   - groups [N], numbers or names with "" for one of its own; other groups of opts replace them
//   - splits [N] (also called split), 0, 1 and 2 or names of splits (see parseSplit); without
//     it floor(0.9 n) of the n examples of a class in a domain are Train, drawn from the seed
//   - class_names, domain_names: the names of the numbers; without them these
//
// Names may also be in the metadata of a .safetensors or .parquet file, as JSON lists,
// and so may "views", the views' names with commas between them: clean, weak or strong.
// opts.Labels add to the labels and overrule them. Files of ledg embed say in their
// metadata where the images are ([Origin]) and have their digests; where those are images
// of one's own, they are split as [Folder] splits them. Errors name the file and the array.
func openFeatures(path string, opts Options) (*Dataset, Truth, error) {
	file, err := arrays.Open(path)
	if err != nil {
		return nil, Truth{}, err
	}
	f := &featureFile{File: file}
	d, t, err := f.dataset(path, opts)
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

func (f *featureFile) dataset(path string, opts Options) (*Dataset, Truth, error) {
	fail := func(err error) (*Dataset, Truth, error) { return nil, Truth{}, err }
	x, views, dim, err := f.features()
	if err != nil {
		return fail(err)
	}
	kinds, err := f.views(views)
	if err != nil {
		return fail(err)
	}
	d := &Dataset{Name: FeaturesFile}
	labels, classes, err := f.numbered("labels", "class_names", Unknown)
	if err != nil {
		return fail(err)
	}
	from, err := f.originals(opts.Images)
	if err != nil {
		return fail(err)
	}
	if text, ok := f.Metadata()[LeftOutKey]; ok {
		if err := json.Unmarshal([]byte(text), &d.Skipped); err != nil {
			return fail(fmt.Errorf("%s: %s in the metadata: %w", path, LeftOutKey, err))
		}
	}
	if from != nil && opts.Classes != nil { // which are names, not numbers that get others
		d.Classes, err = renumber(path, labels, classes, opts.Classes)
	} else {
		d.Classes, err = classNames(path, classes, opts.Classes)
	}
	if err != nil {
		return fail(err)
	}
	domains, names, err := f.numbered("domains", "domain_names", 0)
	if err != nil {
		return fail(err)
	}
	if d.Domains = names; names == nil {
		d.Domains = []string{"all"}
	}
	for _, name := range d.Domains {
		if strings.ContainsFunc(name, unprintable) {
			return fail(fmt.Errorf("%s: domain_names: %q has a newline or another character that does not print", path, name))
		}
	}
	entries, rows, err := f.entries(labels, domains, d, from, opts)
	if err != nil {
		return fail(err)
	}
	var t Truth
	for _, e := range entries {
		d.Examples, t.classes = append(d.Examples, e.Example), append(t.classes, e.class)
		if d.SplitsBy != "" {
			d.given = append(d.given, e.given)
		}
	}
	named, err := f.classEmbeddings(dim)
	if err != nil {
		return fail(err)
	}
	d.source = &Features{names: named, Views: kinds, Dim: dim, path: path, array: x.Rows(), rows: rows, examples: d.Examples, originals: from, close: f.Close}
	if err := d.finish(t); err != nil {
		return fail(fmt.Errorf("%s: %w", path, err))
	}
	return d, t, nil
}

// features finds the array of the features, and the number of rows.
func (f *featureFile) features() (x *arrays.Array, views, dim int, err error) {
	if x, err = f.Array("features"); err != nil {
		return nil, 0, 0, err
	}
	shape := x.Shape()
	if len(shape) == 2 {
		shape = []int{shape[0], 1, shape[1]}
	}
	if t := x.Type(); !t.IsFloat() {
		return nil, 0, 0, x.Errorf("type %s, want float16, bfloat16, float32 or float64", t)
	}
	if len(shape) != 3 || slices.Contains(shape, 0) {
		return nil, 0, 0, x.Errorf("shape %v, want [N, D] or [N, V, D], none of them 0", x.Shape())
	}
	f.rows = shape[0]
	return x, shape[1], shape[2], f.CheckRows()
}

// classNames are the file's class names, or names specified for its numbers.
func classNames(path string, own, listed []string) ([]string, error) {
	names := own
	if listed != nil {
		if len(listed) < len(own) {
			return nil, fmt.Errorf("%s: got %d class names, and the file has %d classes", path, len(listed), len(own))
		}
		names = slices.Clone(listed)
	}
	if len(names) > 0 {
		if err := ValidClasses(names); err != nil {
			return nil, fmt.Errorf("%s: class_names: %w", path, err)
		}
	}
	return names, nil
}

// renumber gives the numbers of classes the places of their names among others.
func renumber(path string, numbers []int, own, listed []string) ([]string, error) {
	if err := ValidClasses(listed); err != nil {
		return nil, err
	}
	for i, k := range numbers {
		if k == Unknown {
			continue
		}
		if numbers[i] = slices.Index(listed, own[k]); numbers[i] < 0 {
			return nil, fmt.Errorf("%s: row %d: class %q is not one of the %s: %s", path, i, own[k], plural(len(listed), "class"), firstFew(listed))
		}
	}
	return slices.Clone(listed), nil
}

// entries returns the examples in the order of data sets with their splits, and the row
// of each.
func (f *featureFile) entries(labels, domains []int, d *Dataset, from *originals, opts Options) (sorted []entry, rows []int, err error) {
	ids, err := f.ids()
	if err != nil {
		return nil, nil, err
	}
	root := ""
	if from != nil {
		root = from.origin.Root
	}
	if d.fileGroups, err = f.groups(ids); err != nil {
		return nil, nil, err
	}
	opts.groups = cmp.Or(opts.groups, d.fileGroups)
	if opts.Labels, err = d.locate(root, ids, opts.Labels, slices.Concat(opts.Classes, d.Classes), opts.Strict, opts.groups); err != nil {
		return nil, nil, err
	}
	sites, names, err := resite(ids, opts.Labels)
	if err != nil {
		return nil, nil, err
	}
	if names != nil {
		d.Domains, domains = names, sites
	}
	none, err := d.relabel(ids, labels, opts)
	if err != nil {
		return nil, nil, err
	}
	splits, err := f.splits()
	if err != nil {
		return nil, nil, err
	}
	column, by, err := splitsOf(ids, opts.Labels)
	if err != nil {
		return nil, nil, err
	}
	if d.SplitsBy = by; by != "" {
		splits = column
	} else if splits != nil {
		d.SplitsBy = "splits of the file"
	}
	byRow := make([]entry, f.rows)
	for i := range byRow {
		if domains[i] < 0 {
			d.Skipped = append(d.Skipped, Skipped{ids[i], noSite})
			continue
		}
		if none[i] {
			d.Skipped = append(d.Skipped, Skipped{ids[i], isNone})
			continue
		}
		rows = append(rows, i)
		byRow[i] = entry{Example: Example{ID: ids[i], Domain: domains[i]}, class: labels[i]}
		if splits != nil {
			byRow[i].Split = splits[i]
		}
	}
	slices.SortFunc(rows, func(a, b int) int { return compareExamples(byRow[a].Example, byRow[b].Example) })
	for _, row := range rows {
		sorted = append(sorted, byRow[row])
	}
	if splits != nil && by == "" && !slices.ContainsFunc(splits, func(s Split) bool { return s != Train }) {
		d.SplitsBy = "" // the file has no validation images
		return sorted, rows, nil
	}
	own := sorted
	if from == nil { // whose labels are all that there are
		own = nil
	}
	return sorted, rows, d.divide(sorted, opts.Seed, leastOf(len(ofClass(opts.Labels)) > 0, own), opts.groups)
}

// relabel puts the classes that labels are given for into the numbers of the examples called
// ids. Classes that are new follow the others, in byte order, unless all are given. It returns
// which examples are labelled [NoneOfThese].
func (d *Dataset) relabel(ids []string, numbers []int, opts Options) (none []bool, err error) {
	none = make([]bool, len(ids))
	classes := opts.Classes
	if classes == nil {
		classes = d.Classes
	}
	isClass := func(name string) bool { return slices.Contains(classes, name) }
	labels := spellNone(ofClass(opts.Labels), isClass)
	if len(labels) == 0 {
		return none, nil
	}
	list := make([]named, len(ids))
	for i, id := range ids {
		if list[i].ID = id; numbers[i] != Unknown {
			list[i].class = d.Classes[numbers[i]]
		}
	}
	if d.Overruled, err = overrule(list, labels); err != nil {
		return nil, err
	}
	for i := range list {
		if none[i] = list[i].class == NoneOfThese && !isClass(NoneOfThese); none[i] {
			list[i].class = ""
		}
	}
	if opts.Classes == nil {
		var more []string
		for _, l := range labels {
			if !isClass(l.Class) && l.Class != NoneOfThese {
				more = append(more, l.Class)
			}
		}
		slices.Sort(more)
		classes = append(slices.Clone(classes), slices.Compact(more)...)
	}
	entries, err := d.number(list, nil, Options{Classes: classes})
	for i, e := range entries {
		numbers[i] = e.class
	}
	return none, err
}
