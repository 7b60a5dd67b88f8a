package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// locate returns the labels of the images of a data set that is being opened, in order, without
// those that say nothing there, and adds to Notes what was left out: rows that name no image, and
// missing values that are no classes. Rows of files that are left out are passed over. It is an error
// if no row names an image, or next to none: a row in twenty, and one image in twenty. With
// Strict every row has to name one.
func (d *Dataset) locate(ids []string, list []Label, classes []string, strict bool) ([]Label, error) {
	if len(list) == 0 {
		return nil, nil
	}
	const image, out = 1, 2
	known := make(map[string]int, len(ids)+len(d.Skipped))
	for _, f := range d.Skipped {
		known[SameName(f.ID)] = out
	}
	for _, id := range ids {
		known[SameName(id)] = image
	}
	var used, absent []Label
	images, missing, nothing := make(map[string]bool), 0, ""
	for _, l := range list {
		if l.Class != "" && Missing(l.Class) && !slices.Contains(classes, l.Class) {
			missing, nothing = missing+1, l.Class
			if l.Class = ""; l.Group == "" && l.Site == "" && l.Split == "" {
				continue
			}
		}
		at := slices.IndexFunc(l.spellings(), func(id string) bool { return known[id] == image })
		switch {
		case at >= 0:
			l.ID = l.spellings()[at]
			images[l.ID] = true
			used = append(used, l)
		case !slices.ContainsFunc(l.spellings(), func(id string) bool { return within(known, id) }):
			absent = append(absent, l)
		}
	}
	if missing > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s %s such as %s: no class", plural(missing, "cell"), map[bool]string{true: "is a missing value", false: "are missing values"}[missing == 1], nothing))
	}
	if len(absent) == 0 {
		return used, nil
	}
	first := absent[0]
	n := len(used) + len(absent)
	few := len(images) == 0 || 20*len(images) < min(n, len(ids))
	switch {
	case strict || n == 1:
		return nil, first.errorf("there is no image %q; IDs are paths in the data set, such as %q", first.ID, ids[0])
	case few:
		return nil, first.errorf("there is no image %q: %d of %d rows name no image; IDs are paths in the data set, such as %q", first.ID, len(absent), n, ids[0])
	}
	d.Notes = append(d.Notes, fmt.Sprintf("%d of %d rows name photos that are not there, first %s; they are left out", len(absent), n, printable(strings.TrimPrefix(first.Where+": "+first.ID, ": "))))
	return used, nil
}
