package exchange

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
)

// Format is what a tool reads and writes.
type Format string

const (
	CSV         Format = "csv"
	LabelStudio Format = "labelstudio"
	CVAT        Format = "cvat"
	FiftyOne    Format = "fiftyone"
	Folder      Format = "folder"
)

// Formats lists all.
func Formats() []Format { return []Format{CSV, LabelStudio, CVAT, FiftyOne, Folder} }

// ParseFormat returns the format of a name.
func ParseFormat(name string) (Format, error) {
	if slices.Contains(Formats(), Format(name)) {
		return Format(name), nil
	}
	var list []string
	for _, f := range Formats() {
		list = append(list, string(f))
	}
	return "", fmt.Errorf("there is no format %q; choose one of %s", name, strings.Join(list, ", "))
}

// tool is the name that answers of a format have in the ledger.
func (f Format) tool() string {
	switch f {
	case LabelStudio:
		return "label-studio"
	case Folder:
		return "folders"
	}
	return string(f)
}

// Item is an image to be written, with what is known of it.
type Item struct {
	labels.Image
	// Index is that of the data set.
	Index int
	// Seconds is how long its annotator looked at it.
	Seconds float64
	// Kind is that of the event that says how it stands; empty if none does.
	Kind labels.Kind
}

// Which says which images are exported.
type Which string

const (
	// Open are those without an answer: asked for and open, skipped or disputed, and of
	// a data set that no run has asked about all the others, too.
	Open Which = "open"
	// Labelled are those that have a class.
	Labelled Which = "labelled"
	// All are both, and the bad and the unsure ones.
	All Which = "all"
)

// Items returns images of a data set as a ledger's state has them: those that the ledger
// has something about, questions in the order of their asking and then the others, and
// with rest all images of the data set after them, in its order. truth has classes that
// are known without the ledger; its zero value has none.
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
		open := v.Status == labels.IsUnasked && v.Class == "" || v.Status == labels.IsOpen || v.Status == labels.IsSkipped || v.Status == labels.IsDisputed
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
		}
		add(v)
	}
	return list
}

// Answer is what a tool has exported about an image.
type Answer struct {
	// ID is the one that was written, Digest the SHA-256 of the file in hexadecimal, and
	// Path where the file lies for the tool. Any may be empty, but not all.
	ID, Digest, Path string
	Kind             labels.Kind
	Class            string
	By               string
	// At is when it was given, zero if the tool does not say.
	At      time.Time
	Seconds float64
	// Where is the file and the line or place in it, for errors.
	Where string
}

// What is read of an export: bytes of a file, and of one line of it, and answers.
const maxFile, maxLine, maxAnswers = 256 << 20, 1 << 20, 2 << 20

// add appends answers to a list, up to maxAnswers.
func add(list []Answer, more ...Answer) ([]Answer, error) {
	if len(list)+len(more) > maxAnswers {
		return list, fmt.Errorf("more than %d answers", maxAnswers)
	}
	return append(list, more...), nil
}

// Events makes answers events of a ledger. By is the annotator of answers that name
// none. The classes are those that an answer may have.
func Events(answers []Answer, f Format, m *Matcher, classes []string, by string) ([]labels.Event, error) {
	var events []labels.Event
	known := make(map[string]bool, len(classes))
	for _, c := range classes {
		known[c] = true
	}
	for _, a := range answers {
		id, err := m.Match(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Where, err)
		}
		if a.Class != "" && !known[a.Class] {
			return nil, fmt.Errorf("%s: class %q is none of %s", a.Where, a.Class, few(classes))
		}
		if a.By == "" {
			a.By = by
		}
		events = append(events, labels.Event{Kind: a.Kind, ID: id, Class: a.Class, By: a.By, At: a.At, Seconds: a.Seconds, Tool: f.tool()})
	}
	return events, nil
}

func few(names []string) string {
	const n = 10
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
