package datasets

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Split is the part of its domain to which an example belongs.
type Split uint8

const (
	// Train is the part that a source domain contributes to the pool.
	Train Split = iota
	// Val is the validation part of a source domain (crossval in PACS). For a target domain both
	// parts are the test set. Unlabelled examples are never in it.
	Val
	// Test is held out of a source domain: never queried or trained on, only measured. Only data
	// sets that come with splits have it.
	Test
)

// String returns "train", "val" or "test".
func (s Split) String() string {
	switch s {
	case Train:
		return "train"
	case Val:
		return "val"
	case Test:
		return "test"
	}
	return fmt.Sprintf("Split(%d)", uint8(s))
}

// Example is one image of a Dataset, without its class.
type Example struct {
	// ID is the image's permanent name: for files the slash-separated path relative to the data
	// set's root, such as "photo/dog/056_0001.jpg".
	ID string
	// Domain is an index into Dataset.Domains.
	Domain int
	Split  Split
}

// Skipped is a file that is not used, with the reason.
type Skipped struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Dataset is a set of images from several domains, without true classes, which are in a Truth;
// training code may read all of it. A Dataset is read-only after construction and safe for
// concurrent use.
type Dataset struct {
	Name string
	// Domains and Classes are the names, in index order.
	Domains, Classes []string
	// Examples are sorted by (Domain, ID); IDs are unique.
	Examples []Example
	// Skipped lists the unused files, sorted by ID.
	Skipped []Skipped
	// Differences lists differences from the published data set of this name, one sentence each.
	// It is empty without any, or without a reference.
	Differences []string
	// Overruled lists the images whose label differs from their class folder, sorted by ID; the
	// label counts.
	Overruled []Skipped
	// Notes says in a sentence each what was left out of a list of labels.
	Notes []string
	// Groups holds the group index of each example, or is nil; no split divides a group.
	// GroupNames are the groups' names, empty for the Ungrouped examples, each a group by
	// itself.
	Groups     []int
	GroupNames []string
	Ungrouped  int
	// SplitsBy says where the splits are specified, such as "split folders"; empty for drawn and
	// published ones.
	SplitsBy string

	given      []Split // of the examples as specified, nil without SplitsBy
	fileGroups *grouper
	source     source
	index      map[string]int
}

type digest = [sha256.Size]byte

// source gives the pixels of examples, and names their content.
type source interface {
	// digest is equal for two examples only if their pixels are equal.
	digest(i int) (digest, error)
	// read decodes example i at its own size, or for a view of about view pixels if that is not 0.
	// The digest is right as soon as there was anything to decode, even if that failed.
	read(ctx context.Context, i, view int) (*rgb.Image, digest, error)
}

// Len returns the number of examples.
func (d *Dataset) Len() int { return len(d.Examples) }

// Image decodes example i at its own size. The error of an undecodable file names its ID. Image
// panics if i is out of range. For feature vectors it returns the source image, if their file
// records its location.
func (d *Dataset) Image(i int) (*rgb.Image, error) {
	return d.ImageContext(context.Background(), i)
}

// ImageContext is Image with cancellation.
func (d *Dataset) ImageContext(ctx context.Context, i int) (*rgb.Image, error) {
	return d.ViewContext(ctx, i, 0)
}

// ViewContext decodes example i to be shown with sides of about view pixels, for which large JPEGs
// need not be decoded in full; 0 means as [Dataset.ImageContext]. A negative view of a box is that of its
// whole image, with its outline.
func (d *Dataset) ViewContext(ctx context.Context, i, view int) (*rgb.Image, error) {
	m, _, err := d.source.read(ctx, i, view)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Examples[i].ID, err)
	}
	return m, nil
}

// DecodeFile decodes the example called id, whose file has the content data, by the data set's rule;
// view is as in [Dataset.ViewContext].
func (d *Dataset) DecodeFile(ctx context.Context, id string, data []byte, view int) (*rgb.Image, error) {
	m, _, err := viewed(d.decoding(), view).LookAt(ctx, id, data)
	return m, err
}

// viewed is the rule for a view of about view pixels, or the rule itself for 0. A negative one is
// of the whole image of a box.
func viewed(rule rgb.Decoding, view int) rgb.Decoding {
	switch {
	case view == 0:
		return rule
	case view < 0:
		return rule.Outlined(-view)
	}
	return rule.ForDisplay(view)
}

// decoding says which pixels files stand for.
func (d *Dataset) decoding() rgb.Decoding {
	switch s := d.source.(type) {
	case *fileSource:
		return s.decoding
	case *Features:
		o, _ := s.Origin()
		return o.Decoding
	}
	return rgb.Stored
}

// Index returns the index of the example with an ID.
func (d *Dataset) Index(id string) (i int, ok bool) {
	if i, ok = d.index[id]; !ok {
		i, ok = d.index[SameName(id)]
	}
	return i, ok
}

// DomainWord returns what users call a domain: a "site" in photos from folders, also by their
// features, else a "domain".
func (d *Dataset) DomainWord() string {
	if f, ok := d.Features(); ok {
		o, _ := f.Origin()
		return wordOf(o.Dataset)
	}
	return wordOf(d.Name)
}

// wordOf returns what users of a data set call a domain.
func wordOf(dataset string) string {
	if dataset == FolderName {
		return "site"
	}
	return "domain"
}

// Domain returns the index of the named domain; the error lists the domains.
func (d *Dataset) Domain(name string) (int, error) {
	for _, spelling := range []string{name, SameName(name)} {
		if k := slices.Index(d.Domains, spelling); k >= 0 {
			return k, nil
		}
	}
	return 0, fmt.Errorf("data set %s has no %s %q; it has %s", d.Name, d.DomainWord(), name, strings.Join(d.Domains, ", "))
}

// Truth holds the true classes of one Dataset, of every example or of some. Only an oracle and
// an evaluator should hold one.
type Truth struct {
	classes []int
}

// Unknown is the class of an example without a known class.
const Unknown = -1

// Class returns the class index of example i, or Unknown. It panics if i is out of range.
func (t Truth) Class(i int) int { return t.classes[i] }

// Knows reports whether the class of example i is known.
func (t Truth) Knows(i int) bool { return t.classes[i] != Unknown }

// Known returns the number of examples of known class.
func (t Truth) Known() int {
	n := 0
	for _, c := range t.classes {
		if c != Unknown {
			n++
		}
	}
	return n
}

// Len returns the number of examples.
func (t Truth) Len() int { return len(t.classes) }

// finish checks what every data set promises and builds the ID index.
func (d *Dataset) finish(t Truth) error {
	if len(d.Domains) == 0 || len(d.Examples) == 0 || len(d.Classes) == 0 && t.Known() > 0 {
		return fmt.Errorf("data set %s is empty: %d domains, %d classes, %d examples",
			d.Name, len(d.Domains), len(d.Classes), len(d.Examples))
	}
	if len(t.classes) != len(d.Examples) {
		return fmt.Errorf("data set %s: %d classes for %d examples", d.Name, len(t.classes), len(d.Examples))
	}
	d.index = make(map[string]int, len(d.Examples))
	for i, e := range d.Examples {
		switch {
		case e.Domain < 0 || e.Domain >= len(d.Domains):
			return fmt.Errorf("data set %s: %s: domain %d is not in 0..%d", d.Name, e.ID, e.Domain, len(d.Domains)-1)
		case t.classes[i] != Unknown && (t.classes[i] < 0 || t.classes[i] >= len(d.Classes)):
			return fmt.Errorf("data set %s: %s: class %d is not in 0..%d", d.Name, e.ID, t.classes[i], len(d.Classes)-1)
		case e.Split > Test:
			return fmt.Errorf("data set %s: %s: unknown split %d", d.Name, e.ID, e.Split)
		case i > 0 && compareExamples(d.Examples[i-1], e) > 0:
			return fmt.Errorf("data set %s: example %s comes after %s, but examples are sorted by domain and ID",
				d.Name, e.ID, d.Examples[i-1].ID)
		}
		if _, dup := d.index[e.ID]; dup {
			return fmt.Errorf("data set %s: two examples are called %s", d.Name, e.ID)
		}
		d.index[e.ID] = i
	}
	for i, e := range d.Examples { // its other spelling finds it, too
		if same := SameName(e.ID); same != e.ID {
			if _, ok := d.index[same]; !ok {
				d.index[same] = i
			}
		}
	}
	return nil
}

// compareExamples orders by (Domain, ID).
func compareExamples(a, b Example) int {
	return cmp.Or(cmp.Compare(a.Domain, b.Domain), strings.Compare(a.ID, b.ID))
}

func sortSkipped(files []Skipped) {
	slices.SortFunc(files, func(a, b Skipped) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Reason, b.Reason))
	})
}
