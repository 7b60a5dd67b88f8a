package site

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// File is the record of a site in its folder, by which the folder is known.
const File = "site.json"

// The other files of the folder.
const (
	// AdaptedFile is the class head that was adapted, ReportFile and PageFile the report.
	AdaptedFile = "adapted.safetensors"
	ReportFile  = "report.json"
	PageFile    = "report.html"
	// PredictionsFile is the table of what is in the images, SeenFile what the network says of
	// them.
	PredictionsFile = "predictions.csv"
	SeenFile        = "seen.safetensors"
)

// Other is the answer that is offered beside the classes: an image of none of them.
const Other = "none of these"

const format = 1

// Record is what is known of a site but for the answers, which are in the ledger.
type Record struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	// Run is the run's folder, Model the digest of its weights, Images the site's folder:
	// absolute paths.
	Run         string `json:"run"`
	Model       string `json:"model"`
	Images      string `json:"images"`
	FollowLinks bool   `json:"follow_links,omitempty"`
	Seed        uint64 `json:"seed"`
	// Decode says which pixels the files stand for: that of the run when the site was new.
	Decode rgb.Decoding `json:"decode,omitempty"`
	// Group is the rule over paths that says which images belong together, empty for none: what
	// was given when the site was new, or the run's if that names a group here.
	Group string `json:"group,omitempty"`
	// PerDomain says that the head is adapted by [Sources.AdaptPerDomain].
	PerDomain bool `json:"per_domain,omitempty"`
	// Classes are the run's, New those that people may answer besides.
	Classes []string `json:"classes"`
	New     []string `json:"new_classes,omitempty"`
	// Visits are the times that new images came, the first one first.
	Visits []*Visit `json:"visits"`
}

// Visit is images that came together.
type Visit struct {
	At time.Time `json:"at"`
	// Images are their IDs, Digests those of their contents when they came, so that what was
	// seen in them stays when a file goes or changes; LeftOut are files that are not among
	// them, with reasons.
	Images  []string           `json:"images"`
	Digests []string           `json:"digests"`
	LeftOut []datasets.Skipped `json:"left_out,omitempty"`
	Guess   *Guess             `json:"guess"`
	// A are the images that are labelled to adapt, in the order of choice, Audit those that are
	// labelled to measure, in the order in which they were drawn. Drawn says that both are
	// chosen: from then on A is fixed, and Audit can only go on.
	Drawn bool     `json:"drawn"`
	A     []string `json:"a"`
	Audit []string `json:"audit"`
}

// Outside are the images that an audit is drawn from: those of no group that A has an image of.
func (v *Visit) Outside(group func(id string) string) []string {
	in := make(map[string]bool, len(v.A))
	for _, id := range v.A {
		in[group(id)] = true
	}
	return slices.DeleteFunc(slices.Clone(v.Images), func(id string) bool { return in[group(id)] })
}

// Is reports whether a folder is that of a site.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, File))
	return err == nil
}

// maxRecord is the longest record that is read, in bytes: a million images have 100 MB.
const maxRecord = 1 << 30

// Read reads the record in a folder. The error is fs.ErrNotExist if there is none.
func Read(dir string) (*Record, error) {
	path := filepath.Join(dir, File)
	data, err := regular.Read(path, maxRecord)
	if err != nil {
		return nil, err
	}
	r := new(Record)
	if err := result.Decode(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Format != format {
		return nil, fmt.Errorf("%s: format %d, want %d", path, r.Format, format)
	}
	for k, v := range r.Visits {
		if len(v.Digests) != len(v.Images) {
			return nil, fmt.Errorf("%s: visit %d has %d images and the digests of %d", path, k+1, len(v.Images), len(v.Digests))
		}
	}
	return r, nil
}

// Write writes the record, and the place where other commands look for the images.
func (r *Record) Write(dir string) error {
	r.Format = format
	if err := writeJSON(filepath.Join(dir, File), r); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, result.PlaceFile), result.Place{Root: r.Images, FollowLinks: r.FollowLinks})
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return regular.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

// Answers are the classes that people choose from: the run's, new ones, and [Other].
func (r *Record) Answers() []string { return slices.Concat(r.Classes, r.New, []string{Other}) }

// Dataset is the images of the site as a data set, for pages and files of labels.
func (r *Record) Dataset() (*datasets.Dataset, datasets.Truth, error) {
	return datasets.Site(r.Images, r.Answers(), r.FollowLinks, r.Decode)
}

// Known is [Record.Dataset] with the images of all visits whose files are gone, which answers
// may be about.
func (r *Record) Known() (*datasets.Dataset, datasets.Truth, error) {
	var ids []string
	for _, v := range r.Visits {
		ids = append(ids, v.Images...)
	}
	d, t, err := datasets.Site(r.Images, r.Answers(), r.FollowLinks, r.Decode, ids...)
	if err == nil {
		err = d.GroupBy(r.Group)
	}
	return d, t, err
}

// Groups returns the name of the group of each image, its ID for one of none.
func (r *Record) Groups() func(id string) string {
	if r.Group == "" {
		return func(id string) string { return id }
	}
	rule := regexp.MustCompile(r.Group) // checked when the site was new
	return func(id string) string {
		if name := datasets.GroupName(rule, id); name != "" {
			return "group " + name
		}
		return id
	}
}

// Audited is the newest visit of which an audit was drawn, nil if there is none.
func (r *Record) Audited() *Visit {
	for _, v := range slices.Backward(r.Visits) {
		if len(v.Audit) > 0 {
			return v
		}
	}
	return nil
}

// Last is the newest visit, nil if there is none.
func (r *Record) Last() *Visit {
	if len(r.Visits) == 0 {
		return nil
	}
	return r.Visits[len(r.Visits)-1]
}

// Draw chooses set A, k images, once and for all, and draws an audit of m images, or makes it
// longer. features are the visit's images'. group names what an image belongs to: A has one of
// a group before a second, and no image of a group of A is in the audit, which would be seen
// by what others of it have taught.
func (v *Visit) Draw(features Part, k, m int, seed uint64, group func(id string) string) error {
	if !v.Drawn {
		if n := len(v.Images); k+m > n {
			return fmt.Errorf("%d images are too few for %d to adapt and an audit of %d: say with --adapt and --audit how many it is to be, such as --adapt 0 --audit %d", n, k, m, n)
		}
		var err error
		if v.A, err = Choose(features.IDs, features.Features, k, group); err != nil {
			return err
		}
		v.Drawn = true
	}
	if m <= len(v.Audit) {
		return nil
	}
	outside := v.Outside(group)
	if m > len(outside) {
		return fmt.Errorf("there are %d images outside A and its groups, too few for an audit of %d", len(outside), m)
	}
	list, err := audit.Draw(outside, nil, m, seed)
	if err != nil {
		return err
	}
	v.Audit = list
	return nil
}
