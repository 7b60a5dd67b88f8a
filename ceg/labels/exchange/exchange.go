package exchange

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/foreign"
)

// Format is a tool's file format.
type Format string

const (
	CSV         Format = "csv"
	LabelStudio Format = "labelstudio"
	CVAT        Format = "cvat"
	Folder      Format = "folder"
	COCO        Format = "coco" // is only read
)

// formats has what is known of each format.
var formats = map[Format]struct {
	// tool is the ledger's name of the tool that exports it.
	tool string
	// accepts are the formats of files that it is, file is the extension of a file of annotations
	// that lies alone, and holds is what is looked for in it.
	accepts     []foreign.Format
	file, holds string
}{
	CSV:         {"csv", []foreign.Format{foreign.Camtrap}, "", "rows with a class in the column label (or class), or with skipped, unsure or bad in the column flag"},
	LabelStudio: {"label-studio", []foreign.Format{foreign.LabelStudio}, "", "tasks with annotations that choose a class, as Label Studio exports them as JSON"},
	CVAT:        {"cvat", []foreign.Format{foreign.CVAT, foreign.Zip}, ".xml", "annotations.xml with tags, synsets.txt with lists of images, or images in class folders"},
	Folder:      {"folders", nil, "", "images in class folders"},
	COCO:        {"coco", []foreign.Format{foreign.COCO, foreign.Zip}, ".json", "annotations with image_id and category_id"},
}

// Formats lists all.
func Formats() []Format { return []Format{CSV, LabelStudio, CVAT, Folder, COCO} }

// Written reports whether Write has the format.
func (f Format) Written() bool { return f != COCO }

// ParseFormat returns the format with the given name.
func ParseFormat(name string) (Format, error) {
	if _, ok := formats[Format(name)]; ok {
		return Format(name), nil
	}
	return "", fmt.Errorf("there is no format %q; choose one of %s", name, strings.Trim(fmt.Sprint(Formats()), "[]"))
}

// Item is an image to export, with its label.
type Item struct {
	labels.Image
	// Index is the image's index in the data set.
	Index int
	// Seconds is how long the annotator looked at it.
	Seconds float64
	// Kind is the kind of the deciding event; empty if there is none.
	Kind labels.Kind
}

// Which selects the images to export.
type Which string

const (
	// Open selects images without a label: open, skipped and disputed queries, and all others of
	// a data set without queries.
	Open Which = "open"
	// Labelled selects the labelled images.
	Labelled Which = "labelled"
	// All selects both, and bad and unsure ones.
	All Which = "all"
)

// Items returns images with their state in a ledger: queries in query order, then others with
// events, and with rest all remaining images of the data set. truth has classes that are known
// without the ledger; its zero value has none.
func Items(d *datasets.Dataset, truth datasets.Truth, s *labels.State, which Which, rest bool) []Item {
	var list []Item
	seen := make(map[string]bool)
	add := func(v labels.Image) {
		i, ok := d.Index(v.ID)
		if !ok || seen[v.ID] {
			return
		}
		seen[v.ID] = true
		item := Item{Image: v, Index: i}
		item.Domain = d.Domains[d.Examples[i].Domain]
		if e, ok := s.Event(v.N); ok {
			item.Seconds, item.Kind = e.Seconds, e.Kind
		}
		open := v.Status == labels.IsUnqueried && v.Class == "" || v.Status == labels.IsOpen || v.Status == labels.IsSkipped || v.Status == labels.IsDisputed
		switch {
		case v.Status == labels.IsReplaced, which == Open && !open, which == Labelled && item.Class == "":
			return
		}
		list = append(list, item)
	}
	for _, v := range s.Queue(-1) {
		add(v)
	}
	for v := range s.Images() {
		add(v)
	}
	if !rest {
		return list
	}
	for i, e := range d.Examples {
		if seen[e.ID] {
			continue
		}
		v := labels.Image{ID: e.ID, Round: labels.NoRound}
		if truth.Len() > 0 && truth.Knows(i) {
			v.Class = d.Classes[truth.Class(i)]
		} else if e.Split == datasets.Test { // held out
			continue
		}
		add(v)
	}
	return list
}

// Label is a label in a tool's export.
type Label struct {
	// ID is the exported ID, Digest the SHA-256 of the file in hexadecimal, and Path the tool's
	// path of the file. At least one is not empty.
	ID, Digest, Path string
	Kind             labels.Kind
	Class            string
	By               string
	// At is the time of the label, zero if the tool does not export it.
	At      time.Time
	Seconds float64
	// Where is the file and the line or position in it, for errors.
	Where string
}

// Limits of an export: bytes of a file, bytes of a line, and labels.
const maxFile, maxLine, maxLabels = 256 << 20, 1 << 20, 2 << 20

// ReadOptions are the settings of Read and Import.Events.
type ReadOptions struct {
	// Classes are the permitted classes.
	Classes []string
	// Question names the question of Label Studio whose choices are the classes; empty finds the
	// one that has them.
	Question string
	// Strict makes the first label that cannot be imported an error.
	Strict bool
	// By is the annotator of labels that name none.
	By string
	// Columns names the columns of a CSV file to use.
	Columns datasets.ColumnNames
}

// Import is the content of a tool's export.
type Import struct {
	Labels []Label
	// Left lists the omitted labels, with places and reasons.
	Left []error
	// Notes are lines about how the export was read, such as from which columns, and what Events
	// assumes.
	Notes []string

	f Format
	o ReadOptions
}

// add appends a label, up to maxLabels in total.
func (im *Import) add(a Label) error {
	if len(im.Labels) == maxLabels {
		return fmt.Errorf("%s: more than %d labels", a.Where, maxLabels)
	}
	im.Labels = append(im.Labels, a)
	return nil
}

// leave leaves a label out, which is an error if all have to fit.
func (im *Import) leave(where string, err error) error {
	err = fmt.Errorf("%s: %w", where, err)
	if im.o.Strict {
		return err
	}
	im.Left = append(im.Left, err)
	return nil
}

// take appends a label, or leaves it out for a reason.
func (im *Import) take(a Label, reason error) error {
	if reason != nil {
		return im.leave(a.Where, reason)
	}
	return im.add(a)
}

// Events converts the labels to ledger events. It leaves out labels of unknown images, of other
// classes, and of several names that cannot all be one image's, and several classes of an image by
// one annotator at one time.
func (im *Import) Events(m *Matcher) (events []labels.Event, err error) {
	known := make(map[string]string, len(im.o.Classes))
	for _, c := range im.o.Classes {
		known[datasets.SameName(c)] = c
	}
	found := make([]datasets.Found, len(im.Labels))
	for i := range im.Labels {
		a := &im.Labels[i]
		a.Kind, a.Class = NoneOf(a.Kind, a.Class, im.o.Classes)
		if found[i] = m.find(*a); found[i].Err == nil && a.Class != "" && known[datasets.SameName(a.Class)] == "" {
			found[i].Err = fmt.Errorf("class %q is none of %s", a.Class, Few(im.o.Classes))
		}
	}
	im.Notes = append(im.Notes, m.finder.Settle(found)...)
	type saying struct {
		id, by string
		at     int64
	}
	said := make(map[saying][]string)
	for i, a := range im.Labels {
		if found[i].Err != nil {
			continue
		}
		e := labels.Event{Kind: a.Kind, ID: m.d.Examples[found[i].Index].ID, Class: known[datasets.SameName(a.Class)], By: cmp.Or(a.By, im.o.By), At: a.At, Seconds: a.Seconds, Tool: formats[im.f].tool}
		events = append(events, e)
		s := saying{e.ID, e.By, e.At.UnixNano()}
		if class := cmp.Or(e.Class, string(e.Kind)); e.Kind != labels.Skipped && !slices.Contains(said[s], class) {
			said[s] = append(said[s], class)
		}
	}
	all, n := events, 0
	events = events[:0]
	for i, a := range im.Labels {
		err := found[i].Err
		if err == nil {
			e := all[n]
			n++
			if err = one(e.ID, said[saying{e.ID, e.By, e.At.UnixNano()}]); err == nil || e.Kind == labels.Skipped {
				events = append(events, e)
				continue
			}
		}
		if err := im.leave(a.Where, err); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// one returns an error if an image has several classes.
func one(file string, classes []string) error {
	if len(classes) < 2 {
		return nil
	}
	return fmt.Errorf("%s has %d classes, %s, want one", file, len(classes), Few(classes))
}

// NoneOf makes a label with the class "none of these", in any case, one of [labels.None], which has
// no class. Where that is one of the classes, as at a site, it is spelled as there.
func NoneOf(kind labels.Kind, class string, classes []string) (labels.Kind, string) {
	if !strings.EqualFold(strings.TrimSpace(class), string(labels.None)) || slices.Contains(classes, class) {
		return kind, class
	}
	if slices.Contains(classes, string(labels.None)) {
		return kind, string(labels.None)
	}
	return labels.None, ""
}

// Few lists names, not too many, for an error.
func Few(names []string) string {
	const n = 10
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
