package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// locate returns the labels of the images of a data set that is being opened, by the IDs of a [Finder],
// in order, without those that say nothing there, and makes groups those of their groups. It adds to
// Notes what was left out: rows that name no image, and missing values that are no classes. Rows
// of files that are left out are passed over. It is an error if no row names an image, or next to none:
// a row in twenty, and one image in twenty. With strict every row has to name one.
func (d *Dataset) locate(root string, ids []string, list []Label, classes []string, strict bool, groups *grouper) ([]Label, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var leftOut []string
	for _, f := range d.Skipped {
		leftOut = append(leftOut, f.ID)
	}
	boxes := newItemIndex(ids)
	if boxes != nil {
		list, ids = cutBoxes(list), boxes.paths
	}
	finder, found := newFinder(root, ids, leftOut...), make([]Found, len(list))
	for i, l := range list {
		found[i] = finder.Find(l.ID)
	}
	d.Notes = append(d.Notes, finder.Settle(found)...)
	var used []Label
	images, rows, missing, absent, nothing := make(map[int]bool), 0, 0, []int(nil), ""
	for i, l := range list {
		if l.Class != "" && Missing(l.Class) && !slices.Contains(classes, l.Class) {
			missing, nothing = missing+1, l.Class
			if l.Class = ""; l.Group == "" && l.Site == "" && l.Split == "" {
				continue
			}
		}
		if found[i].LeftOut {
			continue
		}
		if rows++; found[i].Err != nil {
			absent = append(absent, i)
			continue
		}
		images[found[i].Index] = true
		l.ID = ids[found[i].Index]
		used = append(used, l)
	}
	if missing > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s %s such as %s: no class", plural(missing, "cell"), verb(missing, "is a missing value", "are missing values"), nothing))
	}
	if boxes != nil {
		n := 0
		if used, n = boxes.spread(used); n > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("%s of boxes that are not there %s left out", plural(n, "label"), verb(n, "is", "are")))
		}
	}
	if groups != nil && groups.rule == nil {
		g, err := newGrouper("", used)
		if err != nil {
			return nil, err
		}
		if *groups = (grouper{}); g != nil {
			*groups = *g
		}
	}
	if len(absent) == 0 {
		return used, nil
	}
	first, err := list[absent[0]], found[absent[0]].Err
	if strict || rows == 1 {
		return nil, first.errorf("%w; IDs are paths in the data set, such as %q", err, ids[0])
	}
	if len(images) == 0 || 20*len(images) < min(rows, len(ids)) {
		return nil, first.errorf("%w; %d of %d rows name no image; IDs are paths in the data set, such as %q", err, len(absent), rows, ids[0])
	}
	d.Notes = append(d.Notes, fmt.Sprintf("%d of %d rows name photos that are not there, first %s; they are left out", len(absent), rows, printable(strings.TrimPrefix(first.Where+": ", ": ")+err.Error())))
	return used, nil
}

// Renamed returns labels with the IDs of the images below an absolute root that they stand for, where
// there is one; a label of a box keeps its box.
func Renamed(root string, ids []string, list []Label) []Label {
	list = cutBoxes(list)
	finder, found := newFinder(root, ids), make([]Found, len(list))
	for i, l := range list {
		found[i] = finder.Find(l.ID)
	}
	finder.Settle(found)
	for i, f := range found {
		if f.Err == nil {
			list[i].ID = ids[f.Index]
		}
		list[i].ID, list[i].box = list[i].ID+list[i].box, ""
	}
	return list
}
