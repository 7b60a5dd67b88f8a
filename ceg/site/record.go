package site

import (
	"cmp"
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
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// File is the record of a site, which identifies its folder.
const File = "site.json"

// Other files of the folder.
const (
	// AdaptedFile is the adapted class head; ReportFile and PageFile are the report.
	AdaptedFile = "adapted.safetensors"
	ReportFile  = "report.json"
	PageFile    = "report.html"
	// PredictionsFile is the table of predictions; SeenFile holds the network's outputs.
	PredictionsFile = "predictions.csv"
	SeenFile        = "seen.journal"
)

// Other is the additional choice on the labelling page for images of none of the classes.
const Other = "none of these"

const format = 1

// Record is the state of a site, except the labels, which are in the ledger.
type Record struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	// Run is the run's folder, Model the digest of its weights, Images the site's folder; paths
	// are absolute.
	Run string `json:"run"`
	// Beside is the path of the run's folder from the site's, which counts if Run is gone.
	Beside      string `json:"run_beside,omitempty"`
	Model       string `json:"model"`
	Images      string `json:"images"`
	FollowLinks bool   `json:"follow_links,omitempty"`
	Seed        uint64 `json:"seed"`
	// Decode is the rule that decodes image files, the run's when the site was created.
	Decode rgb.Decoding `json:"decode,omitempty"`
	// Boxes make the boxes in the images the items; nil for whole images.
	Boxes *datasets.Boxes `json:"boxes,omitempty"`
	// Capture says how the events of the images are found; nil for none.
	Capture *datasets.Capture `json:"capture,omitempty"`
	// Group is a rule that maps paths to groups, empty for none: the one specified when the site
	// was created, or the run's if it matches here.
	Group string `json:"group,omitempty"`
	// Unadapted keeps the run's own head in use. The adapted head is measured all the same.
	Unadapted bool `json:"unadapted,omitempty"`
	// Temperature divides the logits of the head in use. It is fitted on the audit, and 0 without
	// one; see [Visit.Calibrate].
	Temperature float64 `json:"temperature,omitempty"`
	// Classes are the run's, New additional ones for labelling.
	Classes []string `json:"classes"`
	New     []string `json:"new_classes,omitempty"`
	// Visits are the arrivals of new images, oldest first.
	Visits []*Visit `json:"visits"`
}

// Visit is a set of images that arrived together.
type Visit struct {
	At time.Time `json:"at"`
	// Images are their IDs and Digests the digests of their contents on arrival, so that results
	// stay valid if a file is removed or changed. LeftOut lists skipped files with reasons.
	Images  []string `json:"images"`
	Digests []string `json:"digests"`
	// Events are the images' events on arrival, empty where unknown; nil without Record.Capture.
	Events  []string           `json:"events,omitempty"`
	LeftOut []datasets.Skipped `json:"left_out,omitempty"`
	// Estimate is the label-free accuracy estimate.
	Estimate *AccuracyEstimate `json:"estimate"`
	// A is the adaptation set in selection order, Audit the audit set in random order. Once
	// Drawn is true, A is fixed and Audit can only grow.
	Drawn bool     `json:"drawn"`
	A     []string `json:"a"`
	Audit []string `json:"audit"`
}

// Outside lists the images from which an audit is drawn: those in no group with an image in A.
func (v *Visit) Outside(group func(id string) string) []string {
	in := make(map[string]bool, len(v.A))
	for _, id := range v.A {
		in[group(id)] = true
	}
	return slices.DeleteFunc(slices.Clone(v.Images), func(id string) bool { return in[group(id)] })
}

// Is reports whether a folder belongs to a site.
func Is(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, File))
	return err == nil
}

// maxRecord is the longest record that is read, in bytes: a million images have 100 MB.
const maxRecord = 1 << 30

// Read reads the record in a folder; the error is fs.ErrNotExist if there is none.
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
		if len(v.Digests) != len(v.Images) || v.Events != nil && len(v.Events) != len(v.Images) {
			return nil, fmt.Errorf("%s: visit %d has %d images, the digests of %d and the events of %d", path, k+1, len(v.Images), len(v.Digests), len(v.Events))
		}
	}
	return r, nil
}

// RunDir returns the folder of the run of the site in dir: where it was, or, if both have moved
// together, where it is from there.
func (r *Record) RunDir(dir string) (string, error) {
	list := []string{r.Run}
	if r.Beside != "" {
		list = append(list, filepath.Join(dir, filepath.FromSlash(r.Beside)))
	}
	for _, run := range list {
		if _, err := os.Stat(filepath.Join(run, result.ConfigFile)); err == nil {
			return run, nil
		}
	}
	return "", fmt.Errorf("the run of the site %s is no longer in %s: where is it now? %s", dir, r.Run, shell.Line("ledg", "site", "RUN", "--out", dir))
}

// Write writes the record, and the location of the images for other commands.
func (r *Record) Write(dir string) error {
	r.Format = format
	if abs, err := filepath.Abs(dir); err == nil {
		if beside, err := filepath.Rel(abs, r.Run); err == nil {
			r.Beside = filepath.ToSlash(beside)
		}
	}
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

// LabelNames lists the classes on the labelling page: the run's, new ones, and [Other].
func (r *Record) LabelNames() []string { return slices.Concat(r.Classes, r.New, []string{Other}) }

// Dataset returns the images of the site as a data set, for pages and label files.
func (r *Record) Dataset() (*datasets.Dataset, datasets.Truth, error) {
	return datasets.Site(r.Images, r.LabelNames(), r.FollowLinks, r.Decode, r.Boxes)
}

// Known is [Record.Dataset] including images whose files are gone, which may have labels.
func (r *Record) Known() (*datasets.Dataset, datasets.Truth, error) {
	var ids []string
	for _, v := range r.Visits {
		ids = append(ids, v.Images...)
	}
	d, t, err := datasets.Site(r.Images, r.LabelNames(), r.FollowLinks, r.Decode, r.Boxes, ids...)
	if err == nil {
		err = d.GroupBy(r.Group, r.eventLabels()...)
	}
	return d, t, err
}

// eventLabels returns the events of the images that have one as groups.
func (r *Record) eventLabels() (list []datasets.Label) {
	for _, v := range r.Visits {
		for k, event := range v.Events {
			if event != "" {
				list = append(list, datasets.Label{ID: rgb.FilePath(v.Images[k]), Group: event})
			}
		}
	}
	return list
}

// Groups returns a function from images to group names, which is the ID for an image without a
// group.
func (r *Record) Groups() func(id string) string {
	if r.Group == "" { // of a box the image
		events := make(map[string]string)
		for _, l := range r.eventLabels() {
			events[l.ID] = "event " + l.Group
		}
		return func(id string) string {
			id = rgb.FilePath(id)
			return cmp.Or(events[id], id)
		}
	}
	rule := regexp.MustCompile(r.Group) // checked when the site was new
	return func(id string) string {
		if name := datasets.GroupName(rule, id); name != "" {
			return "group " + name
		}
		return id
	}
}

// Audited returns the newest visit with an audit, or nil.
func (r *Record) Audited() *Visit {
	for _, v := range slices.Backward(r.Visits) {
		if len(v.Audit) > 0 {
			return v
		}
	}
	return nil
}

// Last returns the newest visit, or nil.
func (r *Record) Last() *Visit {
	if len(r.Visits) == 0 {
		return nil
	}
	return r.Visits[len(r.Visits)-1]
}

// Draw selects the adaptation set of k images, once, and draws or extends an audit set of m
// images. features belong to the visit's images. group names the group of an image: A has one of a
// group before a second, and no group of A is in the audit, so the adapted head is not evaluated
// on groups it was trained on.
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
	list, err := audit.Draw(outside, m, seed)
	if err == nil {
		v.Audit = list
	}
	return err
}
