package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// FolderName is the name of the data set of one's own images in folders.
const FolderName = "folder"

// Unlabelled is the folder of unlabelled images inside a domain, as FiftyOne writes it; they may
// also lie in the domain's own folder.
const Unlabelled = "_unlabeled"

// Folder opens a data set of images at domain/class/image in fsys, with known classes, and at
// domain/image, with unknown classes unless opts.Labels has them. Domains and classes are indexed
// in byte order of their folders' names ("B" before "a", "10" before "9"). Classes are the classes
// of all domains; a domain need not have every one, and there may be none.
//
// JPEG, PNG, GIF, BMP, TIFF and WebP files are examples, by content; an example's ID is its
// path. Other files, and files and folders at other depths, are listed in Dataset.Skipped with a
// reason; names that begin with a dot are ignored. The layout or opts.Labels name the splits. Without,
// floor(0.9 n) of a class's n images in a domain are Train, and at least one, drawn with the seed, and the rest Val;
// unlabelled images are Train. If some
// images are unlabelled or opts.Labels is not empty, a class with fewer than five labelled
// images in a domain has no Val images there.
//
// A domain without images is an error. So is a class folder without images in any domain, unless
// unlabelled images may have the class. Class names must be valid and in opts.Classes; labels
// of images that are not there are left out, see Dataset.Notes, and two labels of one image must
// agree. Images are not decoded here: Check and Prepare find damaged ones. Only [Open] reads
// SplitsDir, CacheDir, Group, Decoding, FollowLinks and Images of the options.
func Folder(fsys fs.FS, opts Options) (*Dataset, Truth, error) {
	d, entries, err := scanFolder(fsys, opts)
	if err != nil {
		return nil, Truth{}, fmt.Errorf("data set %s: %w", d.Name, err)
	}
	if err := d.divide(entries, opts.Seed, leastOf(len(ofClass(opts.Labels)) > 0, entries), opts.groups); err != nil {
		return nil, Truth{}, fmt.Errorf("data set %s: %w", d.Name, err)
	}
	return assemble(d, fsys, entries)
}

// fewLabels is how many images of a class and a domain there have to be for a
// validation image where not all images came with a class, and oneLabel where all did.
const fewLabels, oneLabel = 5, 2

// leastOf returns one of the two: fewLabels with labels of a table or entries to train on of unknown class.
func leastOf(table bool, entries []entry) int {
	if table || slices.ContainsFunc(entries, func(e entry) bool { return e.class == Unknown && e.Split == Train }) {
		return fewLabels
	}
	return oneLabel
}

func scanFolder(fsys fs.FS, opts Options) (*Dataset, []entry, error) {
	d := &Dataset{Name: FolderName}
	opts.Classes = sameNames(opts.Classes)
	if opts.Classes != nil {
		if err := ValidClasses(opts.Classes); err != nil {
			return d, nil, err
		}
	}
	l := newLister(fsys, opts.Exclude, opts.known)
	l.leaves, l.looked, l.patterns, l.damaged = opts.leaves, opts.Looked, opts.Patterns, make(map[string]string)
	for _, f := range opts.Damaged {
		l.damaged[f.ID] = f.Reason
	}
	if l.deep = opts.groups != nil && opts.groups.rule != nil; l.deep {
		l.classes = opts.Classes
	}
	rule, err := newLayout(opts.Layout, opts.SiteRule)
	if err != nil {
		return d, nil, err
	}
	var list []named
	perClass := make(map[string]int) // images in folders of the name
	if rule != nil {
		d.Domains, list, err = l.byLayout(rule, perClass)
	} else {
		d.Domains, list, err = l.byFolder(perClass)
	}
	if err != nil {
		return d, nil, err
	}
	if err := l.finish(); err != nil {
		return d, nil, err
	}
	if opts.Boxes != nil {
		if list, d.Notes, err = opts.Boxes.into(l, opts.root, list); err != nil {
			return d, nil, err
		}
		d.withoutEmpty(list)
	}
	ids := idsOf(list)
	d.Skipped = l.skipped
	if opts.Labels, err = d.locate(opts.root, ids, opts.Labels, opts.Classes, opts.Strict, opts.groups); err != nil {
		return d, nil, err
	}
	if d.Domains, list, err = l.bySite(d.Domains, list, opts.Labels, perClass); err != nil {
		return d, nil, err
	}
	if n := len(ids) - len(list); n > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d of %s are left out, first %s: %s", n, plural(len(ids), "image"), l.skipped[len(d.Skipped)].ID, noSite))
	}
	if d.SplitsBy, err = l.bySplit(list, opts.Labels); err != nil {
		return d, nil, err
	}
	isClass := func(name string) bool {
		_, folder := perClass[name]
		return opts.Classes == nil && folder || slices.Contains(opts.Classes, name)
	}
	if d.Overruled, err = overrule(list, spellNone(ofClass(opts.Labels), isClass)); err != nil {
		return d, nil, err
	}
	if !isClass(NoneOfThese) {
		list = l.withoutNone(list)
	}
	entries, err := d.number(list, perClass, opts)
	d.Skipped = l.skipped
	return d, entries, err
}

// named is an entry whose class is a name yet, "" for unknown.
type named struct {
	Example
	class string
	where string // where it is specified; "" for the folder
}

func idsOf(list []named) []string {
	ids := make([]string, len(list))
	for i, e := range list {
		ids[i] = e.ID
	}
	return ids
}

// byFolder lists the images of domain/class/image and domain/image.
func (l *lister) byFolder(perClass map[string]int) (domains []string, list []named, err error) {
	folders, err := l.domains()
	if err != nil {
		return nil, nil, err
	}
	domains = sameNames(folders)
	slices.Sort(domains)
	domains = slices.Compact(domains)
	for _, domain := range folders {
		k, _ := slices.BinarySearch(domains, SameName(domain))
		more, err := l.domain(domain, k, perClass)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, more...)
	}
	return domains, list, nil
}

// domains returns the domain folders.
func (l *lister) domains() ([]string, error) {
	domains, err := l.folders(".", "a file beside the site folders")
	if err != nil {
		return nil, err
	}
	if len(domains) == 0 {
		why := ""
		if len(l.skipped) > 0 {
			why = fmt.Sprintf(" (%s is %s)", l.skipped[0].ID, l.skipped[0].Reason)
		}
		return nil, noImages("there are no folders in it; a site is where, when or how images were taken, such as a place, a camera or a year, and has a folder of its own: images are expected at site/class/image or, without classes, at site/image" + why)
	}
	for _, domain := range domains {
		if strings.ContainsFunc(domain, unprintable) {
			return nil, fmt.Errorf("site folder %q has a newline or another character that does not print in its name", domain)
		}
	}
	return domains, nil
}

// domain returns the images of a domain, and counts the images of its class folders.
func (l *lister) domain(domain string, k int, perClass map[string]int) ([]named, error) {
	classes, files, err := l.read(domain)
	if err != nil {
		return nil, err
	}
	ids, err := l.pick(domain, files)
	if err != nil {
		return nil, err
	}
	var list []named
	add := func(ids []string, class string) {
		for _, id := range ids {
			list = append(list, named{Example: Example{ID: id, Domain: k}, class: class})
		}
	}
	add(ids, "")
	for _, class := range classes {
		ids, err := l.images(path.Join(domain, class))
		if err != nil {
			return nil, err
		}
		if class == Unlabelled || l.deep && l.classes != nil && !slices.Contains(l.classes, SameName(class)) { // frames
			add(ids, "")
			continue
		}
		if err := ValidClass(class); err != nil {
			return nil, fmt.Errorf("the folders of site %s: %w", domain, err)
		}
		class = SameName(class)
		perClass[class] += len(ids)
		add(ids, class)
	}
	if len(list) == 0 {
		return nil, noImages(fmt.Sprintf("site %s has no images, neither in its folder nor in its %s%s; images are expected at site/class/image or site/image",
			domain, plural(len(classes), "class folder"), l.firstSkipped(domain)))
	}
	return list, nil
}

// withoutNone leaves out the images that are labelled [NoneOfThese].
func (l *lister) withoutNone(list []named) (used []named) {
	for _, e := range list {
		if e.class != NoneOfThese {
			used = append(used, e)
			continue
		}
		l.skip(e.ID, isNone)
	}
	return used
}

// firstSkipped names the first file of a folder that was skipped, with its reason, and the
// number of all.
func (l *lister) firstSkipped(dir string) string {
	in := slices.DeleteFunc(slices.Clone(l.skipped), func(f Skipped) bool { return !strings.HasPrefix(f.ID, dir+"/") })
	if len(in) == 0 {
		return ""
	}
	sortSkipped(in)
	return fmt.Sprintf("; %s left out, first %s: %s", plural(len(in), "file"), in[0].ID, in[0].Reason)
}

// overrule assigns the classes in labels to images, and returns the images whose folder names
// another class. Labels of other images are passed over.
func overrule(list []named, labels []Label) ([]Skipped, error) {
	at := make(map[string]int, len(list))
	for i, e := range list {
		at[SameName(e.ID)] = i
	}
	var overruled []Skipped
	for _, label := range labels {
		label.Class = SameName(label.Class)
		if err := ValidClass(label.Class); err != nil {
			return nil, label.errorf("%w", err)
		}
		i, ok := at[SameName(label.ID)]
		if !ok {
			continue
		}
		e := &list[i]
		switch {
		case e.where != "" && e.class != label.Class:
			return nil, label.errorf("%s is %q here, but %q at %s", e.ID, label.Class, e.class, e.where)
		case e.where == "" && e.class != "" && e.class != label.Class:
			overruled = append(overruled, Skipped{e.ID, fmt.Sprintf("it is in the folder of %s, but labelled %s", e.class, label.Class)})
		}
		e.class, e.where = label.Class, "another place"
		if label.Where != "" {
			e.where = label.Where
		}
	}
	sortSkipped(overruled)
	return overruled, nil
}

// number gives the classes their numbers.
func (d *Dataset) number(list []named, perClass map[string]int, opts Options) ([]entry, error) {
	unknown, used := false, make(map[string]*named)
	for i := range list {
		unknown = unknown || list[i].class == ""
		used[list[i].class] = &list[i]
	}
	if d.Classes = slices.Clone(opts.Classes); d.Classes == nil {
		var empty []string
		for class, n := range perClass {
			if n == 0 && used[class] == nil && !unknown {
				empty = append(empty, class)
			}
			used[class] = nil
		}
		if len(empty) > 0 {
			slices.Sort(empty)
			return nil, fmt.Errorf("no site has an image of class %s", strings.Join(empty, ", "))
		}
		for class := range used {
			if class != "" {
				d.Classes = append(d.Classes, class)
			}
		}
		slices.Sort(d.Classes)
	}
	numbers := map[string]int{"": Unknown}
	for k, class := range d.Classes {
		numbers[class] = k
	}
	entries := make([]entry, len(list))
	for i, e := range list {
		k, ok := numbers[e.class]
		if !ok {
			where := cmp.Or(e.where, path.Dir(e.ID))
			return nil, fmt.Errorf("%s: class %q is not one of the %s: %s", where, e.class, plural(len(d.Classes), "class"), firstFew(d.Classes))
		}
		entries[i] = entry{Example: e.Example, class: k}
	}
	return entries, nil
}
