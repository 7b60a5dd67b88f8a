package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The domains and classes of PACS (Li et al., ICCV 2017), in the order of their
// numbers; the official lists number the classes from 1.
var (
	pacsDomains = []string{"art_painting", "cartoon", "photo", "sketch"}
	pacsClasses = []string{"dog", "elephant", "giraffe", "guitar", "horse", "house", "person"}
)

// pacsBadFile is in the train list but is left out, as the authors of CEG do
// (datasets/ssdg_pacs.py).
const pacsBadFile = "sketch/dog/n02103406_4068-1.png"

// Where PACS looks for the folder of images and for the folder of lists.
var (
	pacsImageFolders = []string{".", "pacs128", "kfold", "images", "pacs", "PACS", "pacs_data"}
	pacsListFolders  = []string{".", "splits", "pacs_kfolds", "pacs_splits", "kfolds",
		"Train val splits and h5py files pre-read"}
)

// PACS opens PACS with the official train and crossval lists as Train and Val: the domains
// art_painting, cartoon, photo, sketch and the classes dog, elephant, giraffe, guitar, horse,
// house, person, in this order.
//
// Images are DOMAIN/CLASS/FILE in fsys or in its folder pacs128, kfold, images, pacs, PACS or
// pacs_data; an ID is this path without the folder. The lists DOMAIN_train_kfold.txt and
// DOMAIN_crossval_kfold.txt have "path label" lines with labels from 1. They are searched beside
// and inside the images, in the folder itself and in splits, pacs_kfolds, pacs_splits, kfolds
// and "Train val splits and h5py files pre-read".
//
// The one known bad file is skipped, and so are images in no list, each with its reason. A listed
// image that is missing, listed twice, or listed with a label other than its folder is an error
// that names list and line. Other lists work, too, such as lists of a subset; Dataset.Differences
// lists differences from the published counts.
func PACS(fsys, splits fs.FS, exclude []string) (*Dataset, Truth, error) {
	d := &Dataset{Name: "pacs", Domains: slices.Clone(pacsDomains), Classes: slices.Clone(pacsClasses)}
	fail := func(err error) (*Dataset, Truth, error) {
		return nil, Truth{}, fmt.Errorf("data set pacs: %w", err)
	}
	root := fsys
	dir, err := pacsImages(root)
	if err != nil {
		return fail(err)
	}
	images, err := fs.Sub(root, dir)
	if err != nil {
		return fail(err)
	}
	if splits == nil {
		splits, err = findPACSLists(root, images)
		if err != nil {
			return fail(err)
		}
	}
	lists, err := readPACSLists(splits)
	if err != nil {
		return fail(err)
	}
	entries, skipped, err := matchPACS(images, lists, exclude)
	if err != nil {
		return fail(err)
	}
	d.Skipped = skipped
	d, t, err := assemble(d, images, entries)
	if err != nil {
		return nil, Truth{}, err
	}
	d.Differences = append(comparePACS(d, t), testListDifferences(splits, lists)...)
	return d, t, nil
}

// pacsImages finds the folder of fsys that holds the domain folders.
func pacsImages(fsys fs.FS) (string, error) {
	for _, dir := range pacsImageFolders {
		for _, domain := range pacsDomains {
			if info, err := fs.Stat(fsys, path.Join(dir, domain)); err == nil && info.IsDir() {
				return dir, nil
			}
		}
	}
	return "", fmt.Errorf("none of the folders %s is there, nor in %s",
		strings.Join(pacsDomains, ", "), strings.Join(pacsImageFolders[1:], ", "))
}

// errNoLists is wrapped when the PACS lists cannot be found.
var errNoLists = errors.New("the official lists are missing")

// findPACSLists finds the folder of the lists in one of the roots.
func findPACSLists(roots ...fs.FS) (fs.FS, error) {
	for _, root := range roots {
		for _, dir := range pacsListFolders {
			if matches, err := fs.Glob(root, path.Join(dir, "*_train_kfold.txt")); err == nil && len(matches) > 0 {
				return fs.Sub(root, dir)
			}
		}
	}
	return nil, fmt.Errorf("%w: no file like %s in the root, nor in %s",
		errNoLists, listName(pacsDomains[0], Train), strings.Join(pacsListFolders[1:], ", "))
}

// matchPACS finds the listed images among the files, and skips the other files.
func matchPACS(images fs.FS, lists []listed, exclude []string) ([]entry, []Skipped, error) {
	l := newLister(images, exclude, nil)
	found := make(map[string]bool)
	for _, domain := range pacsDomains {
		// A folder that is not there shows as missing images below.
		classes, err := l.folders(domain, "not in the official lists")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, class := range classes {
			dir := path.Join(domain, class)
			_, files, err := l.read(dir)
			if err != nil {
				return nil, nil, err
			}
			for _, name := range files {
				found[path.Join(dir, name)] = true
			}
		}
	}
	var entries []entry
	var missing []string
	for _, e := range lists {
		wanted := true
		switch {
		case e.ID == pacsBadFile:
			l.skip(e.ID, "the known bad file of PACS; the published code leaves it out, too")
			wanted = false
		case l.excluded(e.ID):
			wanted = false
		case !found[e.ID]:
			missing = append(missing, fmt.Sprintf("%s:%d: %s", e.file, e.line, e.ID))
		}
		delete(found, e.ID)
		if wanted {
			entries = append(entries, e.entry)
		}
	}
	if len(missing) > 0 {
		return nil, nil, fmt.Errorf("%d listed images do not exist: %s", len(missing), firstFew(missing))
	}
	for id := range found {
		if !l.excluded(id) {
			l.skip(id, "not in the official lists")
		}
	}
	return entries, l.skipped, l.finish()
}

// firstFew joins up to five items, with the number of the rest.
func firstFew(items []string) string {
	const few = 5
	if len(items) <= few {
		return strings.Join(items, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(items[:few], "; "), len(items)-few)
}
