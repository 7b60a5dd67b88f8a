package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/detections"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Boxes make items of the boxes in a file of a detector: an item is a box in an image, and its ID is
// PATH#X,Y,W,H; see [rgb.CutBox]. The image is the group of its boxes.
type Boxes struct {
	// File is the path of the file; see [detections.Read].
	File string `json:"file"`
	// Score is the least score of a box, and Classes are those of boxes that count; nil for
	// animal if the file has it, else all.
	Score   float64  `json:"score"`
	Classes []string `json:"classes,omitempty"`
	// Most is the largest number of boxes of an image, by their scores, and Side the
	// least length of a box's longer side in pixels; 0 for any.
	Most int `json:"most,omitempty"`
	Side int `json:"side,omitempty"`
	// Labels makes the classes of boxes labels of the items, as people draw boxes in COCO and CVAT.
	Labels bool `json:"labels,omitempty"`
}

// DefaultBoxScore is the default of Boxes.Score, MegaDetector's usual threshold.
const DefaultBoxScore = 0.2

// usualClass is the class of boxes that counts if a file has it.
const usualClass = "animal"

// BoxesOf are the boxes of images.
type BoxesOf struct {
	// Boxes are those of each image that count, Items their IDs, and Reasons why an image has none.
	Boxes   [][]detections.Box
	Items   [][]string
	Reasons []string
	// Images are what the file says of each image, nil for nothing.
	Images []*detections.Image
	// Note says in one line what was found, and By who did.
	Note, By string
}

// Find reads the file and finds the boxes of images with IDs below an absolute root, empty for an
// unknown one, in fsys.
func (b *Boxes) Find(fsys fs.FS, root string, ids []string) (*BoxesOf, error) {
	list, err := detections.Read(b.File)
	if err != nil {
		return nil, err
	}
	classes, err := b.classes(list)
	if err != nil {
		return nil, err
	}
	kind := cmp.Or(strings.Join(classes, ", "), "any class")
	finder, found := newFinder(root, ids), make([]Found, len(list.Images))
	for i, m := range list.Images {
		found[i] = finder.Find(m.File)
	}
	notes := finder.Settle(found)
	of := &BoxesOf{By: cmp.Or(list.Model, filepath.Base(b.File)), Boxes: make([][]detections.Box, len(ids)), Items: make([][]string, len(ids)), Reasons: make([]string, len(ids)), Images: make([]*detections.Image, len(ids))}
	for k, f := range found {
		if f.Err != nil {
			continue
		}
		m := &list.Images[k]
		if old := of.Images[f.Index]; old != nil { // listed twice
			m = &detections.Image{File: old.File, Failure: cmp.Or(old.Failure, m.Failure), Boxes: slices.Concat(old.Boxes, m.Boxes), Said: old.Said}
		}
		of.Images[f.Index] = m
	}
	if err := sameSizes(fsys, ids, of.Images); err != nil {
		return nil, fmt.Errorf("%s: %w", b.File, err)
	}
	var boxes, images, without, absent, failed, flat int
	for i, m := range of.Images {
		switch {
		case m == nil:
			absent++
			of.Reasons[i] = "no detections of it in " + filepath.Base(b.File)
			continue
		case m.Failure != "":
			failed++
			of.Reasons[i] = "the detector failed: " + m.Failure
			continue
		}
		if of.Boxes[i], err = b.choose(fsys, ids[i], m, classes); err != nil {
			return nil, err
		}
		for _, box := range of.Boxes[i] {
			of.Items[i] = append(of.Items[i], ids[i]+"#"+box.Box.String())
		}
		for _, box := range m.Boxes {
			if _, _, ok := rgb.CutBox(ids[i] + "#" + box.Box.String()); !ok && box.Score >= b.Score {
				flat++
			}
		}
		if len(of.Items[i]) == 0 {
			without++
			of.Reasons[i] = fmt.Sprintf("no box of %s with a score of at least %v", kind, b.Score)
			continue
		}
		boxes, images = boxes+len(of.Items[i]), images+1
	}
	of.Note = fmt.Sprintf("%s: %s of %s with a score of at least %v in %d of %s; %d without one", filepath.Base(b.File), plural(boxes, "box"), kind, b.Score, images, plural(len(ids), "image"), without)
	if failed > 0 {
		of.Note += fmt.Sprintf(", %d where the detector failed", failed)
	}
	if flat > 0 {
		of.Note += fmt.Sprintf(", %s without an area left out", plural(flat, "box"))
	}
	if absent > 0 {
		of.Note += fmt.Sprintf(", %d not in the file", absent)
	}
	of.Note = strings.Join(append([]string{of.Note}, notes...), "; ")
	if absent == len(ids) && absent > 0 {
		var names []string
		for _, m := range list.Images[:min(len(list.Images), 3)] {
			names = append(names, m.File)
		}
		return nil, fmt.Errorf("%s has detections of none of the %s: it names %q, and an image here is %s", b.File, plural(len(ids), "image"), names, ids[0])
	}
	return of, nil
}

// sized is the number of files with boxes in pixels whose sizes are compared with those that the file of boxes says.
const sized = 16

// sameSizes returns an error if boxes in pixels are of images of another size, as of larger copies.
func sameSizes(fsys fs.FS, ids []string, images []*detections.Image) error {
	n := 0
	for i, m := range images {
		if m == nil || m.Width == 0 || n == sized || !slices.ContainsFunc(m.Boxes, func(b detections.Box) bool { return max(b.X, b.Y, b.W, b.H) > 1 }) {
			continue
		}
		n++
		if width, height, err := sizeOf(fsys, ids[i]); err == nil && (width != m.Width || height != m.Height) { // unreadable files are found later
			return fmt.Errorf("its boxes in pixels are of images of another size: %s has %d x %d there, and upright %d x %d here", ids[i], m.Width, m.Height, width, height)
		}
	}
	return nil
}

// classes returns the classes that count, nil for all.
func (b *Boxes) classes(list *detections.List) ([]string, error) {
	there := list.Classes()
	if b.Classes == nil {
		if slices.Contains(there, usualClass) && !b.Labels {
			return []string{usualClass}, nil
		}
		return nil, nil
	}
	for _, name := range b.Classes {
		if !slices.Contains(there, name) {
			return nil, fmt.Errorf("%s has no boxes of class %q; it has %s", b.File, name, firstFew(there))
		}
	}
	return b.Classes, nil
}

// choose returns the boxes of an image that count, each once, those of the highest scores first.
func (b *Boxes) choose(fsys fs.FS, id string, m *detections.Image, classes []string) (chosen []detections.Box, err error) {
	width, height := m.Width, m.Height
	if b.Side > 0 && width == 0 && len(m.Boxes) > 0 {
		if width, height, err = sizeOf(fsys, id); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	at := make(map[string]bool)
	list := slices.Clone(m.Boxes)
	slices.SortStableFunc(list, func(x, y detections.Box) int { return cmp.Compare(y.Score, x.Score) })
	for _, box := range list {
		if box.Score < b.Score || classes != nil && !slices.Contains(classes, box.Class) || at[box.Box.String()] {
			continue
		}
		long := max(box.W*float64(width), box.H*float64(height))
		if max(box.X, box.Y, box.W, box.H) > 1 {
			long = max(box.W, box.H)
		}
		if _, _, ok := rgb.CutBox(id + "#" + box.Box.String()); !ok || b.Side > 0 && math.Round(long) < float64(b.Side) {
			continue
		}
		at[box.Box.String()] = true
		if chosen = append(chosen, box); b.Most > 0 && len(chosen) == b.Most {
			break
		}
	}
	return chosen, nil
}

// Said returns what the file says of the boxes of a data set, where it is one of the classes: of a box, of
// the image of a single box, or else the class of the box. source names who says it.
func (b *Boxes) Said(d *Dataset, root string) (said map[string]detections.Said, source string, err error) {
	ids := make([]string, d.Len())
	for i, e := range d.Examples {
		ids[i] = e.ID
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, "", err
	}
	paths := newItemIndex(ids).paths
	of, err := b.Find(os.DirFS(root), root, paths)
	if err != nil {
		return nil, "", err
	}
	said = make(map[string]detections.Said)
	for i, path := range paths {
		for _, box := range of.Boxes[i] {
			s := box.Said
			if s.Class == "" && len(of.Boxes[i]) == 1 {
				s = of.Images[i].Said
			}
			if s.Class == "" {
				s = detections.Said{Class: box.Class, Score: box.Score}
			}
			if slices.Contains(d.Classes, s.Class) {
				said[path+"#"+box.Box.String()] = s
			}
		}
	}
	return said, of.By, nil
}

// sizeOf returns the size of an image file, upright.
func sizeOf(fsys fs.FS, id string) (width, height int, err error) {
	data, err := regular.ReadFS(fsys, id, rgb.MaxFile)
	if err != nil {
		return 0, 0, regular.Bare(err)
	}
	return rgb.UprightSize(data)
}

// into replaces the images of a listing by their boxes, which keep their classes, and skips images
// without one.
func (b *Boxes) into(l *lister, root string, list []named) (items []named, notes []string, err error) {
	of, err := b.Find(l.fsys, root, idsOf(list))
	if err != nil {
		return nil, nil, err
	}
	for i, e := range list {
		for k, id := range of.Items[i] {
			e.ID = id
			if class := SameName(of.Boxes[i][k].Class); b.Labels && class != "" {
				if err := ValidClass(class); err != nil {
					return nil, nil, fmt.Errorf("%s: a box of %s: %w", b.File, list[i].ID, err)
				}
				e.class, e.where = class, b.File
			}
			items = append(items, e)
		}
		if of.Reasons[i] != "" {
			l.skip(list[i].ID, of.Reasons[i])
		}
	}
	if len(items) == 0 {
		return nil, nil, fmt.Errorf("no image has a box that counts: %s", of.Note)
	}
	return items, []string{of.Note}, nil
}

// withoutEmpty leaves out the domains of a listing that have no items, and gives the others their numbers.
func (d *Dataset) withoutEmpty(list []named) {
	n := make([]int, len(d.Domains))
	for _, e := range list {
		n[e.Domain]++
	}
	var kept, empty []string
	for k, name := range d.Domains {
		if n[k] == 0 {
			empty = append(empty, name)
		} else {
			n[k], kept = len(kept), append(kept, name)
		}
	}
	for i := range list {
		list[i].Domain = n[list[i].Domain]
	}
	if d.Domains = kept; len(empty) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("left out, as no image there has a box: %s", firstFew(empty)))
	}
}

// itemIndex finds the items of images: their boxes, or an image itself.
type itemIndex struct {
	paths []string
	at    map[string]int // in paths
	items [][]string     // of paths
}

// newItemIndex returns nil if no ID is of a box.
func newItemIndex(ids []string) *itemIndex {
	if !slices.ContainsFunc(ids, func(id string) bool { return rgb.FilePath(id) != id }) {
		return nil
	}
	x := &itemIndex{at: make(map[string]int)}
	for _, id := range ids {
		path := rgb.FilePath(id)
		k, ok := x.at[path]
		if !ok {
			k = len(x.paths)
			x.at[path], x.paths, x.items = k, append(x.paths, path), append(x.items, nil)
		}
		x.items[k] = append(x.items[k], id)
	}
	return x
}

// spread gives the labels of images to their boxes: a label that names a box is of it, one that names
// the image is of its boxes without their own. absent are labels of boxes that are not there.
func (x *itemIndex) spread(list []Label) (spread []Label, absent int) {
	own := make(map[string]bool)
	for _, l := range list {
		if l.box != "" && l.Class != "" {
			own[l.ID+l.box] = true
		}
	}
	for _, l := range list {
		items := x.items[x.at[l.ID]]
		if l.box != "" && !slices.Contains(items, l.ID+l.box) {
			absent++
			continue
		}
		for _, id := range items {
			m := l
			switch {
			case l.box != "" && id != l.ID+l.box:
				continue
			case l.box == "" && own[id]:
				m.Class = ""
			}
			m.ID = id
			if m.Class+m.Group+m.Site+m.Split != "" {
				spread = append(spread, m)
			}
		}
	}
	return spread, absent
}

// cut takes the box off the IDs of labels.
func cutBoxes(list []Label) []Label {
	list = slices.Clone(list)
	for i := range list {
		if path, box, ok := rgb.CutBox(list[i].ID); ok {
			list[i].ID, list[i].box = path, "#"+box.String()
		}
	}
	return list
}
