package visit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Options are the settings of a visit.
type Options struct {
	// Run opens the run; see [predict.OpenWith]. Dir is the folder of the site, created if
	// missing, and Images the folder of its images; empty means the last one.
	Run    run.Options
	Dir    string
	Images string
	// FollowLinks uses images behind symbolic links out of Images.
	FollowLinks bool
	// Boxes make the boxes in the images the items; nil means the last ones, and whole images for
	// a new site.
	Boxes *datasets.Boxes
	// Capture says how times and events of the images are found; nil means as before, and no events for a new
	// site. Events are groups.
	Capture *datasets.Capture
	// ByMonth adds each camera and month to the report; see [site.Month].
	ByMonth bool
	// Group is a rule that maps paths to groups of a new site's images, empty for none; nil uses
	// the run's.
	Group *string
	// Query queries labels of Adapt images for adaptation and of Audit others for evaluation.
	// Negative numbers mean 5 a class and 50.
	Query        bool
	Adapt, Audit int
	// Until extends the audit, 10 images at a time, until the interval has this half width; 0
	// for never.
	Until float64
	// Unadapted, if not nil, says whether the run's own head is in use from now on.
	Unadapted *bool
	// New are additional classes for labelling.
	New []string
	// Seed draws the audit and the query order.
	Seed uint64
	// Say receives messages, Progress the number of finished images; both may be nil.
	Say      func(format string, args ...any)
	Progress func(done, total int)
}

// Default numbers of images.
const (
	adaptPerClass = 5
	auditImages   = 50
)

// Arrived is the result of a visit.
type Arrived struct {
	Report *site.Report
	// Open is the number of open queries.
	Open int
}

// arrival is a visit under way.
type arrival struct {
	Options
	p       *predict.Predictor
	record  *site.Record
	sources *site.Sources
	data    *datasets.Dataset
	digests []string          // of data's examples
	came    map[string]string // digests of the visits' images when they came
	seen    *seen
}

// Arrive visits a site. A site of another run or of other weights is an error, and so are images
// that the run was trained on, and fewer images than are to be queried; nothing is changed then.
func Arrive(ctx context.Context, o Options) (_ *Arrived, err error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	a := &arrival{Options: o, came: map[string]string{}}
	if err := a.openRecord(); err != nil {
		return nil, err
	}
	if a.p, err = predict.OpenWith(a.Run); err != nil {
		return nil, err
	}
	defer a.p.Close()
	defer func() {
		nothing := err != nil && ctx.Err() == nil && !site.Is(a.Dir) // came of it
		switch {
		case a.seen != nil && nothing:
			a.seen.Remove()
		case a.seen != nil:
			a.seen.Close()
		}
		if nothing {
			os.Remove(a.Dir)
		}
	}()
	if err := a.begin(ctx); err != nil {
		return nil, err
	}
	if err := a.newImages(ctx); err != nil {
		return nil, err
	}
	if o.Query {
		if err := a.query(); err != nil {
			return nil, err
		}
	}
	return a.report(ctx)
}

// openRecord reads the record of the site, and the places of its run and images.
func (a *arrival) openRecord() error {
	r, err := site.Read(a.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		if a.Images == "" {
			return fmt.Errorf("%s is no site yet: name the folder of its images", a.Dir)
		}
		list, _ := os.ReadDir(a.Dir)
		begun := func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), site.SeenFile) } // by a first visit that was killed
		if len(slices.DeleteFunc(list, begun)) > 0 {
			return fmt.Errorf("%s is there, and is no site's: name another folder", a.Dir)
		}
		r, err = &site.Record{Seed: a.Seed}, nil
	}
	if err != nil {
		return err
	}
	if a.Run.Dir == "" {
		if a.Run.Dir, err = r.RunDir(a.Dir); err != nil {
			return err
		}
	}
	if r.Run, err = filepath.Abs(a.Run.Dir); err != nil {
		return err
	}
	if a.Images != "" {
		if r.Images, err = filepath.Abs(a.Images); err != nil {
			return err
		}
		r.FollowLinks = a.FollowLinks
	}
	for _, name := range a.New {
		if !slices.Contains(r.Classes, name) && !slices.Contains(r.New, name) && name != site.Other {
			r.New = append(r.New, name)
		}
	}
	r.Name = filepath.Base(r.Images)
	if a.Boxes != nil {
		r.Boxes = a.Boxes
	}
	if c := a.Capture; c != nil {
		was := time.Duration(0)
		if r.Capture != nil {
			was = r.Capture.Gap
		}
		if c.Gap = cmp.Or(c.Gap, was); r.Visits != nil && c.Gap != was {
			return fmt.Errorf("%s was begun with events of %v, and what it measured went by those: name another folder for %v", a.Dir, was, c.Gap)
		}
		r.Capture = c
	}
	if a.Unadapted != nil {
		r.Unadapted = *a.Unadapted
	}
	a.record = r
	return nil
}

// begin opens the images, and sees whether the site is of this run.
func (a *arrival) begin(ctx context.Context) (err error) {
	r, m := a.record, a.p.Model
	switch digest := m.Digest(); {
	case r.Model == "":
		r.Model, r.Classes, r.Decode = digest, m.Data.Classes, a.p.Decoding()
	case r.Model != digest:
		return fmt.Errorf("%s was visited with the weights %.12s, but %s has the weights %.12s: use another folder for this run", a.Dir, r.Model, a.Run.Dir, digest)
	}
	if err := predict.SameKind(r.Decode, r.Boxes); err != nil {
		return err
	}
	fresh := r.Visits == nil
	var truth datasets.Truth // no class is known
	if a.data, truth, err = r.Dataset(); err != nil {
		return err
	}
	for _, note := range a.data.Notes {
		a.Say("%s", note)
	}
	if err := a.group(fresh, truth); err != nil {
		return err
	}
	if a.digests, err = datasets.Digests(ctx, a.data, a.Run.CacheDir); err != nil {
		return err
	}
	if err := os.MkdirAll(a.Dir, 0o777); err != nil {
		return err
	}
	s, err := openSeen(a.Dir, r.Model, m.Features, len(m.Data.Classes), true)
	if err == nil {
		a.seen = s
	}
	return err
}

// group assigns groups to the images of a new site, and checks that a known site keeps its groups.
func (a *arrival) group(fresh bool, truth datasets.Truth) error {
	r, rule := a.record, a.p.Model.Config.Data.Group
	if a.Group != nil {
		rule = *a.Group
		if !fresh && rule != r.Group {
			return fmt.Errorf("%s was begun with the group rule %q, and what it measured went by that: name another folder for %q", a.Dir, r.Group, rule)
		}
	}
	if !fresh || rule == "" || a.Group == nil && r.Capture != nil { // events are the groups
		return nil
	}
	if err := a.data.GroupBy(rule); err != nil {
		if a.Group != nil {
			return err
		}
		a.Say("the run's rule for groups, %s, matches no image here: each is one of its own, or give a rule for these images", rule)
		return nil
	}
	r.Group = rule
	for _, note := range a.data.GroupNotes(truth) {
		a.Say("%s", note)
	}
	return nil
}

// unlabelled is how many unlabelled images of the sources are compared with.
const unlabelled = 5000

// loadSources computes what the run knows, once.
func (a *arrival) loadSources(ctx context.Context) (err error) {
	if a.sources == nil {
		a.Say("computing features of the training images")
		a.sources, err = a.p.Sources(ctx, unlabelled)
	}
	return err
}

// maxListed is the number of left-out files that are listed individually.
const maxListed = 5

// arrived notes the digests of a visit's images.
func (a *arrival) arrived(v *site.Visit) {
	for k, id := range v.Images {
		a.came[id] = v.Digests[k]
	}
}

// newImages makes a visit of the images that were not there before.
func (a *arrival) newImages(ctx context.Context) error {
	before, leftOut := map[string]bool{}, map[string]bool{}
	have := map[string]string{} // digests
	for _, v := range a.record.Visits {
		a.arrived(v)
		for k, id := range v.Images {
			before[id], have[v.Digests[k]] = true, id
		}
		for _, s := range v.LeftOut {
			leftOut[s.ID] = true
		}
	}
	known := a.ofSources(ctx)
	v := &site.Visit{At: time.Now().UTC().Truncate(time.Second), A: []string{}, Audit: []string{}}
	v.LeftOut = slices.DeleteFunc(slices.Clone(a.data.Skipped), func(s datasets.Skipped) bool { return leftOut[s.ID] })
	var list []int
	trained := 0
	for i, e := range a.data.Examples {
		if before[e.ID] || leftOut[e.ID] {
			continue
		}
		digest := a.digests[i]
		switch id, ok := have[digest]; {
		case known[digest] != "":
			trained++
			v.LeftOut = append(v.LeftOut, datasets.Skipped{ID: e.ID, Reason: "the run has it as " + known[digest]})
		case ok:
			v.LeftOut = append(v.LeftOut, datasets.Skipped{ID: e.ID, Reason: "a copy of " + id})
		default:
			have[digest] = e.ID
			list = append(list, i)
		}
	}
	if trained > 0 && 2*trained >= trained+len(list) && len(a.record.Visits) == 0 {
		return fmt.Errorf("%s: the run has %d of its %d images: a new site is one that the run has not seen", a.record.Images, trained, trained+len(list))
	}
	if len(list) == 0 {
		if len(a.record.Visits) == 0 {
			return fmt.Errorf("%s: all %d files are left out, such as %s: %s", a.record.Images, len(v.LeftOut), v.LeftOut[0].ID, v.LeftOut[0].Reason)
		}
		return a.record.Write(a.Dir) // where run and images are now
	}
	failed, err := a.seen.look(ctx, a.p, a.data, a.record.Images, list, a.digests, a.Progress)
	if err != nil {
		return err
	}
	for _, i := range list {
		if wrong := failed[i]; wrong != nil {
			v.LeftOut = append(v.LeftOut, datasets.Skipped{ID: a.data.Examples[i].ID, Reason: wrong.Error()})
		} else {
			v.Images, v.Digests = append(v.Images, a.data.Examples[i].ID), append(v.Digests, a.digests[i])
		}
	}
	if len(v.Images) == 0 {
		return fmt.Errorf("%s: no image can be read, such as %s: %s", a.record.Images, v.LeftOut[0].ID, v.LeftOut[0].Reason)
	}
	if a.record.Capture != nil {
		found, err := a.captured(ctx)
		if err != nil {
			return err
		}
		for _, note := range found.Notes {
			a.Say("%s", note)
		}
		if found.Events != nil {
			for _, id := range v.Images {
				v.Events = append(v.Events, found.Events[rgb.FilePath(id)])
			}
		}
	}
	if err := a.loadSources(ctx); err != nil {
		return err
	}
	a.arrived(v)
	part, err := a.part(v.Images)
	if err != nil {
		return err
	}
	if a.sources.Blank, err = a.p.Blank(); err != nil {
		return err
	}
	if v.Estimate, err = a.sources.EstimateAccuracy(part, a.record.Seed); err != nil {
		return err
	}
	a.record.Visits = append(a.record.Visits, v)
	for k, s := range v.LeftOut {
		if k == maxListed && len(v.LeftOut) > maxListed+1 {
			a.Say("... and %d more; %s has them all", len(v.LeftOut)-k, filepath.Join(a.Dir, site.File))
			break
		}
		a.Say("%s is left out: %s", s.ID, s.Reason)
	}
	return a.record.Write(a.Dir)
}

// ofSources are the digests of the images that the run was trained on, with their IDs; none
// where they cannot be had.
func (a *arrival) ofSources(ctx context.Context) map[string]string {
	known, d := map[string]string{}, a.p.Model.Data
	list, err := datasets.Digests(ctx, d, a.Run.CacheDir)
	if err != nil {
		a.Say("cannot check whether the run has some of these images: %v", err)
	}
	for i, digest := range list {
		if d.Domains[d.Examples[i].Domain] != a.p.Model.Config.Data.Target {
			known[digest] = d.Examples[i].ID
		}
	}
	return known
}

// part has the network's outputs for images when they arrived.
func (a *arrival) part(ids []string) (site.Part, error) {
	var digests []string
	for _, id := range ids {
		digests = append(digests, a.came[id])
	}
	return a.seen.part(ids, digests)
}

// isThere says whether an image is as it was when it came.
func (a *arrival) isThere(id string) bool {
	i, ok := a.data.Index(id)
	return ok && a.digests[i] == a.came[id]
}
