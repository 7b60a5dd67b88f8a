package datasets

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// FolderOptions are the choices that Folder leaves to its caller. The zero value
// works.
type FolderOptions struct {
	// Name is the data set's name; empty means "folder".
	Name string
	// Seed draws the train/val split.
	Seed uint64
	// Exclude lists IDs to leave out, for instance of damaged images. One that
	// does not exist is an error.
	Exclude []string

	known index // see lister
}

// Folder makes a data set of the images at domain/class/image in fsys. Domains
// and classes are numbered in byte order of their folders' names ("B" before
// "a", "10" before "9"); the classes are those of all domains together, and a
// domain need not have every one.
//
// JPEG, PNG, GIF, BMP, TIFF and WebP files are examples, whatever their names; an example's ID is its
// path. Other files, and files and folders at other depths, go to
// Dataset.Skipped with a reason; names that begin with a dot are ignored. In each
// domain floor(0.9 n) of the n images of a class are Train, drawn from the seed,
// and the rest Val.
//
// A domain without images is an error, and so is a class without images in any
// domain. Images are not decoded here: Check and Prepare find damaged ones.
func Folder(fsys fs.FS, opts FolderOptions) (*Dataset, Truth, error) {
	d, entries, err := scanFolder(fsys, opts)
	if err != nil {
		return nil, Truth{}, fmt.Errorf("data set %s: %w", d.Name, err)
	}
	splitByRule(entries, d.Domains, d.Classes, opts.Seed)
	return assemble(d, fsys, entries)
}

func scanFolder(fsys fs.FS, opts FolderOptions) (*Dataset, []entry, error) {
	d := &Dataset{Name: opts.Name}
	if d.Name == "" {
		d.Name = "folder"
	}
	l := newLister(fsys, opts.Exclude, opts.known)
	domains, err := l.folders(".", "a file beside the domain folders")
	if err != nil {
		return d, nil, err
	}
	if len(domains) == 0 {
		return d, nil, fmt.Errorf("there are no folders; images are expected at domain/class/image")
	}
	d.Domains = domains
	var entries []entry
	var classNames []string // of each entry
	perClass := make(map[string]int)
	for k, domain := range domains {
		classes, err := l.folders(domain, "a file beside the class folders")
		if err != nil {
			return d, nil, err
		}
		before := len(entries)
		for _, class := range classes {
			ids, err := l.images(path.Join(domain, class))
			if err != nil {
				return d, nil, err
			}
			perClass[class] += len(ids)
			for _, id := range ids {
				entries = append(entries, entry{Example: Example{ID: id, Domain: k}})
				classNames = append(classNames, class)
			}
		}
		switch {
		case len(classes) == 0:
			return d, nil, fmt.Errorf("domain %s has no class folders; images are expected at domain/class/image", domain)
		case len(entries) == before:
			return d, nil, fmt.Errorf("domain %s has no images in its %d class folders", domain, len(classes))
		}
	}
	var empty []string
	for class, n := range perClass {
		d.Classes = append(d.Classes, class)
		if n == 0 {
			empty = append(empty, class)
		}
	}
	if len(empty) > 0 {
		slices.Sort(empty)
		return d, nil, fmt.Errorf("no domain has an image of class %s", strings.Join(empty, ", "))
	}
	if err := l.finish(); err != nil {
		return d, nil, err
	}
	slices.Sort(d.Classes)
	for i, class := range classNames {
		entries[i].class, _ = slices.BinarySearch(d.Classes, class)
	}
	d.Skipped = l.skipped
	return d, entries, nil
}
