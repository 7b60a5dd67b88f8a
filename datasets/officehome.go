package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The domains and classes of Office-Home (Venkateswara et al., CVPR 2017), in
// the order of their numbers. Classes are in byte order, so TV precedes Table.
var (
	officeHomeDomains = []string{"art", "clipart", "product", "real_world"}
	officeHomeClasses = []string{
		"Alarm_Clock", "Backpack", "Batteries", "Bed", "Bike", "Bottle", "Bucket", "Calculator", "Calendar",
		"Candles", "Chair", "Clipboards", "Computer", "Couch", "Curtains", "Desk_Lamp", "Drill", "Eraser",
		"Exit_Sign", "Fan", "File_Cabinet", "Flipflops", "Flowers", "Folder", "Fork", "Glasses", "Hammer",
		"Helmet", "Kettle", "Keyboard", "Knives", "Lamp_Shade", "Laptop", "Marker", "Monitor", "Mop",
		"Mouse", "Mug", "Notebook", "Oven", "Pan", "Paper_Clip", "Pen", "Pencil", "Postit_Notes", "Printer",
		"Push_Pin", "Radio", "Refrigerator", "Ruler", "Scissors", "Screwdriver", "Shelf", "Sink",
		"Sneakers", "Soda", "Speaker", "Spoon", "TV", "Table", "Telephone", "ToothBrush", "Toys",
		"Trash_Can", "Webcam",
	}
)

// officeHomeFolders are where OfficeHome looks for the domain folders.
var officeHomeFolders = []string{".", "office_home_dg", "office_home", "OfficeHomeDataset_10072016", "OfficeHome", "images"}

// OfficeHome opens Office-Home: the domains art, clipart, product, real_world and 65 classes in
// byte order.
//
// It reads the archive office_home_dg, with train/ and val/ in each domain and class folders
// inside them, or the original archive ("Art", "Clipart", "Product", "Real World" or
// "RealWorld") with class folders directly inside. For the latter, floor(0.9 n) of the n images
// of a class in a domain are Train, drawn with the seed: the rule by which office_home_dg was
// made, with another draw. Case, spaces, underscores and hyphens in names do not matter, and
// class folders may have the old three-digit prefix (000_Alarm_Clock). Domain folders are
// searched in fsys and in its folders office_home_dg, office_home, OfficeHomeDataset_10072016,
// OfficeHome and images; an ID is the path from there, as spelled on disk.
//
// A missing or empty domain folder is an error. Otherwise any part of the data set can be
// loaded; Dataset.Differences lists differences from the published counts.
func OfficeHome(fsys fs.FS, opts Options) (*Dataset, Truth, error) {
	d := &Dataset{
		Name:    "officehome",
		Domains: slices.Clone(officeHomeDomains),
		Classes: slices.Clone(officeHomeClasses),
	}
	fail := func(err error) (*Dataset, Truth, error) {
		return nil, Truth{}, fmt.Errorf("data set officehome: %w", err)
	}
	images, folders, err := officeHomeRoot(fsys)
	if err != nil {
		return fail(err)
	}
	l := newLister(images, opts.Exclude, opts.known)
	for _, name := range folders.other {
		l.skip(name, "not one of the four domains")
	}
	var drawn, published []entry
	for k, domain := range d.Domains {
		name, ok := folders.domain[k]
		if !ok {
			return fail(fmt.Errorf("there is no folder for the domain %s", domain))
		}
		entries, official, err := l.officeHomeDomain(name, k)
		if err != nil {
			return fail(err)
		}
		switch {
		case len(entries) == 0:
			return fail(fmt.Errorf("domain folder %q has no images", name))
		case official:
			published = append(published, entries...)
		default:
			drawn = append(drawn, entries...)
		}
	}
	if err := l.finish(); err != nil {
		return fail(err)
	}
	d.Skipped = l.skipped
	splitByRule(drawn, d.Domains, d.Classes, opts.Seed, 0, opts.groups)
	d, t, err := assemble(d, images, append(published, drawn...))
	if err != nil {
		return nil, Truth{}, err
	}
	d.Differences = compareOfficeHome(d, t)
	return d, t, nil
}

// domainFolders are the folders of an Office-Home root.
type domainFolders struct {
	domain map[int]string // by domain number
	other  []string       // neither a domain nor hidden
}

// officeHomeRoot finds the folder that holds the domain folders.
func officeHomeRoot(fsys fs.FS) (fs.FS, domainFolders, error) {
	for _, dir := range officeHomeFolders {
		names, files, err := newLister(fsys, nil, nil).read(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, domainFolders{}, err
		}
		found := domainFolders{domain: make(map[int]string), other: files}
		for _, name := range names {
			k := indexOfName(officeHomeDomains, name)
			if k < 0 {
				found.other = append(found.other, name)
				continue
			}
			if first, twice := found.domain[k]; twice {
				return nil, domainFolders{}, fmt.Errorf("the folders %q and %q are both the domain %s", first, name, officeHomeDomains[k])
			}
			found.domain[k] = name
		}
		if len(found.domain) > 0 {
			sub, err := fs.Sub(fsys, dir)
			return sub, found, err
		}
	}
	return nil, domainFolders{}, fmt.Errorf("none of the domain folders %s is there, nor in %s",
		strings.Join(officeHomeDomains, ", "), strings.Join(officeHomeFolders[1:], ", "))
}

// officeHomeDomain lists one domain folder. Official reports that it has train/
// and val/ inside.
func (l *lister) officeHomeDomain(name string, k int) (entries []entry, official bool, err error) {
	parts, err := l.folders(name, "a file beside the class folders")
	if err != nil {
		return nil, false, err
	}
	if !slices.Contains(parts, "train") && !slices.Contains(parts, "val") {
		entries, err = l.officeHomeClassFolders(name, parts, k, Train)
		return entries, false, err
	}
	for _, part := range parts {
		s := Train
		switch part {
		case "train":
		case "val":
			s = Val
		default:
			l.skip(path.Join(name, part), "a folder beside train and val")
			continue
		}
		dir := path.Join(name, part)
		classes, err := l.folders(dir, "a file beside the class folders")
		if err != nil {
			return nil, true, err
		}
		more, err := l.officeHomeClassFolders(dir, classes, k, s)
		if err != nil {
			return nil, true, err
		}
		entries = append(entries, more...)
	}
	return entries, true, nil
}

// classPrefix is the number before a class in the older archive.
var classPrefix = regexp.MustCompile(`^[0-9]{3}_`)

// officeHomeClassFolders lists the images in the class folders of dir.
func (l *lister) officeHomeClassFolders(dir string, folders []string, k int, s Split) ([]entry, error) {
	var entries []entry
	spelled := make(map[int]string)
	for _, folder := range folders {
		c := indexOfName(officeHomeClasses, classPrefix.ReplaceAllString(folder, ""))
		if c < 0 {
			l.skip(path.Join(dir, folder), "not one of the 65 classes")
			continue
		}
		if first, twice := spelled[c]; twice {
			return nil, fmt.Errorf("in %s the folders %q and %q are both the class %s", dir, first, folder, officeHomeClasses[c])
		}
		spelled[c] = folder
		ids, err := l.images(path.Join(dir, folder))
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			entries = append(entries, entry{Example: Example{ID: id, Domain: k, Split: s}, class: c})
		}
	}
	return entries, nil
}

// indexOfName finds a name whatever its case, spaces, underscores and hyphens,
// or returns -1.
func indexOfName(names []string, name string) int {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(s))
	}
	return slices.IndexFunc(names, func(n string) bool { return plain(n) == plain(name) })
}
