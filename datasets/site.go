package datasets

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Site opens all images below a folder, at any depth, as one domain with the folder's name. No
// class is known; folder names have no meaning. also lists IDs of images whose files are gone,
// which cannot be shown. IDs are paths relative to the folder. Other files are listed in
// Dataset.Skipped, and names that begin with a dot are ignored. Symbolic links are followed if
// followLinks is set or they stay inside. Not nil, boxes make the boxes in the images the items.
func Site(root string, classes []string, followLinks bool, decoding rgb.Decoding, boxes *Boxes, also ...string) (*Dataset, Truth, error) {
	fail := func(err error) (*Dataset, Truth, error) { return nil, Truth{}, fmt.Errorf("site %s: %w", root, err) }
	dir, err := folderPath(root)
	if err != nil {
		return fail(err)
	}
	if err := ValidClasses(classes); err != nil {
		return fail(err)
	}
	fsys := os.DirFS(dir)
	l := newLister(fsys, nil, nil)
	if !followLinks {
		r, err := os.OpenRoot(dir)
		if err != nil {
			return fail(err)
		}
		defer r.Close()
		l.leaves = leaves(r, dir)
	}
	d := &Dataset{Name: "site", Domains: []string{filepath.Base(dir)}, Classes: classes}
	var entries []entry
	there := make(map[string]bool)
	add := func(id string) error {
		if !there[id] {
			there[id] = true
			entries = append(entries, entry{Example: Example{ID: id}, class: Unknown})
		}
		return nil
	}
	listed := add
	var list []named
	if boxes != nil {
		listed = func(id string) error { list = append(list, named{Example: Example{ID: id}}); return nil }
	}
	if err := l.walkImages(listed); err != nil {
		return fail(err)
	}
	if len(list) > 0 {
		if list, d.Notes, err = boxes.into(l, dir, list); err != nil {
			return fail(err)
		}
		for _, e := range list {
			add(e.ID)
		}
	}
	for _, id := range also {
		add(id)
	}
	d.Skipped = l.skipped
	if len(entries) == 0 {
		why := ""
		if len(l.skipped) > 0 {
			why = fmt.Sprintf(" (%s: %s)", l.skipped[0].ID, l.skipped[0].Reason)
		}
		return fail(unread(noImages("there are no images"+why), dir))
	}
	d, t, err := assemble(d, fsys, entries)
	if err != nil {
		return fail(err)
	}
	s := d.source.(*fileSource)
	s.root, s.decoding = dir, decoding
	return d, t, d.setGroups(nil)
}
