package visit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/audit"
	"github.com/ledg-go/ledg/ceg/calibration"
	"github.com/ledg-go/ledg/ceg/head"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
)

// Options say where a visit goes and what it asks for.
type Options struct {
	// Run opens the run; see [predict.OpenWith]. Dir is the folder of the site, which is made,
	// and Images that of its images; empty takes those of the last time.
	Run    ceg.Options
	Dir    string
	Images string
	// FollowLinks uses images behind links out of Images.
	FollowLinks bool
	// Ask asks people about Adapt images, to adapt with, and about Audit others, to measure
	// with. Negative numbers are 5 a class and 50.
	Ask          bool
	Adapt, Audit int
	// Until goes on asking, 10 images a time, until the half width of the interval is so much;
	// 0 for never.
	Until float64
	// PerDomain adapts on features that are standardised domain by domain, from now on.
	PerDomain bool
	// New are classes that people may answer besides the run's.
	New []string
	// Seed draws the audit and the order of asking.
	Seed uint64
	// Say is told a line, Progress how many images are done; nil for nobody.
	Say      func(format string, args ...any)
	Progress func(done, total int)
}

// The numbers of images where nobody says others.
const (
	adaptPerClass = 5
	auditImages   = 50
)

// Arrived is what a visit has come to.
type Arrived struct {
	Report *site.Report
	// Open is the number of questions without an answer.
	Open int
}

// arrival is a visit under way.
type arrival struct {
	Options
	p       *predict.Predictor
	record  *site.Record
	sources *site.Sources
	data    *datasets.Dataset
	digests []string // of data's examples
	seen    *seen
}

// Arrive visits a site. A site of another run or of other weights is an error, and so are
// images that the run has, and fewer images than are to be asked for; nothing is lost then.
func Arrive(ctx context.Context, o Options) (_ *Arrived, err error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	a := &arrival{Options: o}
	if err := a.openRecord(); err != nil {
		return nil, err
	}
	if a.p, err = predict.OpenWith(a.Run); err != nil {
		return nil, err
	}
	defer a.p.Close()
	if err := a.begin(ctx); err != nil {
		return nil, err
	}
	if err := a.newImages(ctx); err != nil {
		return nil, err
	}
	if o.Ask {
		if err := a.ask(); err != nil {
			return nil, err
		}
	}
	return a.report(ctx)
}

// openRecord reads what is known of the site, and where its run and images are.
func (a *arrival) openRecord() error {
	r, err := site.Read(a.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		if a.Images == "" {
			return fmt.Errorf("%s is no site yet: name the folder of its images", a.Dir)
		}
		if list, err := os.ReadDir(a.Dir); err == nil && len(list) > 0 {
			return fmt.Errorf("%s is there, and is no site's: name another folder", a.Dir)
		}
		r, err = &site.Record{Seed: a.Seed}, nil
	}
	if err != nil {
		return err
	}
	if a.Run.Dir == "" {
		a.Run.Dir = r.Run
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
	r.Name, r.PerDomain = filepath.Base(r.Images), r.PerDomain || a.PerDomain
	a.record = r
	return nil
}

// begin opens the images, and sees whether the site is of this run.
func (a *arrival) begin(ctx context.Context) (err error) {
	r, m := a.record, a.p.Model
	switch digest := m.Digest(); {
	case r.Model == "":
		r.Model, r.Classes = digest, m.Data.Classes
	case r.Model != digest:
		return fmt.Errorf("%s was visited with the weights %.12s, and those of %s are %.12s: name another folder for this run", a.Dir, r.Model, a.Run.Dir, digest)
	}
	if a.data, _, err = r.Dataset(); err != nil {
		return err
	}
	if a.digests, err = datasets.Digests(ctx, a.data, a.Run.CacheDir); err != nil {
		return err
	}
	if err := os.MkdirAll(a.Dir, 0o777); err != nil {
		return err
	}
	a.seen, err = openSeen(a.Dir, r.Model, m.Features, len(m.Data.Classes))
	return err
}

// loadSources computes what the run knows, once.
func (a *arrival) loadSources(ctx context.Context) (err error) {
	if a.sources == nil {
		a.Say("looking at what the run was trained on")
		a.sources, err = a.p.Sources(ctx, 5000)
	}
	return err
}

// newImages makes a visit of the images that were not there before.
func (a *arrival) newImages(ctx context.Context) error {
	before, leftOut := map[string]bool{}, map[string]bool{}
	have := map[string]string{} // digests
	for _, v := range a.record.Visits {
		for _, id := range v.Images {
			before[id] = true
			if i, ok := a.data.Index(id); ok {
				have[a.digests[i]] = id
			}
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
		return fmt.Errorf("%s: %d of its %d images are among those of the run: a site is a domain that the run has not seen", a.record.Images, trained, trained+len(list))
	}
	if len(list) == 0 {
		if len(a.record.Visits) == 0 {
			return fmt.Errorf("%s: all %d files are left out, such as %s: %s", a.record.Images, len(v.LeftOut), v.LeftOut[0].ID, v.LeftOut[0].Reason)
		}
		return nil
	}
	failed, err := a.seen.look(ctx, a.p, a.data, a.record.Images, list, a.digests, a.Progress)
	if err != nil {
		return err
	}
	for _, i := range list {
		if wrong := failed[i]; wrong != nil {
			v.LeftOut = append(v.LeftOut, datasets.Skipped{ID: a.data.Examples[i].ID, Reason: wrong.Error()})
		} else {
			v.Images = append(v.Images, a.data.Examples[i].ID)
		}
	}
	if len(v.Images) == 0 {
		return fmt.Errorf("%s: no image can be read, such as %s: %s", a.record.Images, v.LeftOut[0].ID, v.LeftOut[0].Reason)
	}
	if err := a.loadSources(ctx); err != nil {
		return err
	}
	part, err := a.part(v.Images)
	if err != nil {
		return err
	}
	if v.Guess, err = a.sources.Guess(part, a.record.Seed); err != nil {
		return err
	}
	a.record.Visits = append(a.record.Visits, v)
	if n := len(v.LeftOut); n > 0 {
		a.Say("%d files are left out, such as %s: %s", n, v.LeftOut[0].ID, v.LeftOut[0].Reason)
	}
	return a.record.Write(a.Dir)
}

// ofSources are the digests of the images that the run was trained on, with their IDs; none
// where they cannot be had.
func (a *arrival) ofSources(ctx context.Context) map[string]string {
	known, d := map[string]string{}, a.p.Model.Data
	list, err := datasets.Digests(ctx, d, a.Run.CacheDir)
	if err != nil {
		a.Say("whether the run has some of these images cannot be told: %v", err)
	}
	for i, digest := range list {
		if d.Domains[d.Examples[i].Domain] != a.p.Model.Config.Data.Target {
			known[digest] = d.Examples[i].ID
		}
	}
	return known
}

// part is what the network says of images.
func (a *arrival) part(ids []string) (site.Part, error) {
	var digests []string
	for _, id := range ids {
		i, ok := a.data.Index(id)
		if !ok {
			return site.Part{}, fmt.Errorf("%s: %s is not there any more", a.record.Images, id)
		}
		digests = append(digests, a.digests[i])
	}
	return a.seen.part(ids, digests)
}

// ask chooses and draws what is asked of the newest visit, and asks.
func (a *arrival) ask() error {
	v, round := a.record.Last(), len(a.record.Visits)-1
	k, m := a.Adapt, a.Audit
	if k < 0 {
		k = adaptPerClass * len(a.record.Classes)
	}
	if m < 0 {
		m = auditImages
	}
	if v.Drawn && k != len(v.A) && a.Adapt >= 0 {
		a.Say("set A of %d images is chosen already, and stays", len(v.A))
	}
	part, err := a.part(v.Images)
	if err != nil {
		return err
	}
	ledger, err := a.ledger()
	if err != nil {
		return err
	}
	defer ledger.Close()
	if a.Until > 0 {
		if m, err = a.goOn(ledger, v, max(m, audit.FewestLooked)); err != nil {
			return err
		}
	}
	seed := a.record.Seed + uint64(round)
	if err := v.Draw(part, k, m, seed); err != nil {
		return fmt.Errorf("%s: %w", a.record.Images, err)
	}
	if err := a.record.Write(a.Dir); err != nil { // before anything is asked
		return err
	}
	// What was skipped is asked again: an audit without what is hard would say too much.
	_, err = ledger.Update(func(s *labels.State) (events []labels.Event, err error) {
		for _, id := range audit.Queue(v.A, v.Audit, seed) {
			if status := s.Image(id).Status; status == labels.IsUnasked || status == labels.IsSkipped {
				events = append(events, labels.Event{Kind: labels.Asked, ID: id, Round: round, By: "ledg site"})
			}
		}
		return events, nil
	})
	return err
}

// goOn is how long the audit of a visit is to be, at least so long, when it goes on until it is
// narrow enough.
func (a *arrival) goOn(ledger *labels.Ledger, v *site.Visit, least int) (int, error) {
	if len(v.Audit) < least {
		return least, nil
	}
	r, err := a.measure(ledger, v, nil, 1)
	if err != nil {
		return 0, err
	}
	adapted, err := site.ReadHead(a.Dir)
	if err != nil {
		return 0, err
	}
	if adapted != nil {
		if r, err = a.measure(ledger, v, adapted, 1); err != nil {
			return 0, err
		}
	}
	if r.Audited < len(v.Audit)-r.Bad || audit.Wilson(r.Pairs.After()).HalfWidth() <= a.Until {
		return len(v.Audit), nil
	}
	return min(audit.Next(len(v.Audit)), len(v.Images)-len(v.A)), nil
}

// ledger opens the site's, of all classes.
func (a *arrival) ledger() (*labels.Ledger, error) {
	return labels.Open(a.Dir, nil, labels.Options{Domain: func(id string) (string, bool) { return a.data.Domains[0], true }})
}

// answers are what the ledger says.
func answers(ledger *labels.Ledger) func(id string) site.Answer {
	said := map[string]site.Answer{}
	ledger.View(func(s *labels.State) {
		for im := range s.Images() {
			switch {
			case im.Status == labels.IsBad:
				said[im.ID] = site.Answer{Bad: true}
			case im.Class != "" && (im.Status == labels.IsLabelled || im.Status == labels.IsUnsure):
				said[im.ID] = site.Answer{Class: im.Class}
			}
		}
	})
	return func(id string) site.Answer { return said[id] }
}

func (a *arrival) measure(ledger *labels.Ledger, v *site.Visit, adapted *head.Linear, temperature float64) (*site.VisitReport, error) {
	part, err := a.part(v.Images)
	if err != nil {
		return nil, err
	}
	return v.Measure(a.record.Classes, part, adapted, temperature, answers(ledger)), nil
}

// adapt fits the head to all sets A that have answers, nil where none has.
func (a *arrival) adapt(ctx context.Context, answer func(id string) site.Answer) (*head.Linear, error) {
	var ids []string
	var classes []int
	for _, v := range a.record.Visits {
		for _, id := range v.A {
			if k := slices.Index(a.record.Classes, answer(id).Class); k >= 0 {
				ids, classes = append(ids, id), append(classes, k)
			}
		}
	}
	path := filepath.Join(a.Dir, site.AdaptedFile)
	if len(ids) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, nil
	}
	if err := a.loadSources(ctx); err != nil {
		return nil, err
	}
	part, err := a.part(ids)
	if err != nil {
		return nil, err
	}
	part.Classes = classes
	var h *head.Linear
	if a.record.PerDomain {
		var all []string
		for _, v := range a.record.Visits {
			all = append(all, v.Images...)
		}
		whole, err := a.part(all)
		if err != nil {
			return nil, err
		}
		h, err = a.sources.AdaptPerDomain(part, whole.Features)
		if err != nil {
			return nil, err
		}
	} else if h, err = a.sources.Adapt(part); err != nil {
		return nil, err
	}
	if err := a.record.WriteHead(a.Dir, h); err != nil {
		return nil, err
	}
	return site.ReadHead(a.Dir) // as it is from now on, in float32
}

// report adapts as far as there are answers, measures, and writes all of it.
func (a *arrival) report(ctx context.Context) (*Arrived, error) {
	r := &site.Report{Site: a.record.Name, Run: a.record.Run, Classes: a.record.Classes, Warnings: []string{}, Sets: []site.SetsReport{}, Abstain: []audit.Abstention{}}
	done := &Arrived{Report: r}
	answer := func(string) site.Answer { return site.Answer{} }
	if _, err := os.Stat(filepath.Join(a.Dir, labels.File)); err == nil {
		ledger, err := a.ledger()
		if err != nil {
			return nil, err
		}
		defer ledger.Close()
		answer = answers(ledger)
		ledger.View(func(s *labels.State) {
			for im := range s.Images() {
				if im.Status == labels.IsOpen || im.Status == labels.IsDisputed {
					done.Open++
				}
			}
		})
	}
	adapted, err := a.adapt(ctx, answer)
	if err != nil {
		return nil, err
	}
	temperature := a.p.Temperature
	if adapted != nil { // as ledg predict has it
		temperature = 1
	}
	var all []site.Part
	for _, v := range a.record.Visits {
		part, err := a.part(v.Images)
		if err != nil {
			return nil, err
		}
		r.Visits = append(r.Visits, v.Measure(a.record.Classes, part, adapted, temperature, answer))
		all = append(all, part)
	}
	if err := a.setsAndAbstention(r, all[len(all)-1], adapted, temperature, answer); err != nil {
		return nil, err
	}
	r.Finish()
	if err := r.Write(a.Dir); err != nil {
		return nil, err
	}
	if err := writePredictions(filepath.Join(a.Dir, site.PredictionsFile), a.record.Classes, all, adapted, temperature); err != nil {
		return nil, err
	}
	return done, writePage(a.Dir, r, a.data)
}

// setsAndAbstention adds what the audit of the newest visit says of them.
func (a *arrival) setsAndAbstention(r *site.Report, part site.Part, adapted *head.Linear, temperature float64, answer func(id string) site.Answer) error {
	audited := a.record.Last().Audited(a.record.Classes, part, adapted, temperature, answer)
	if len(audited.Scores) == 0 {
		return nil
	}
	for _, coverage := range []float64{0.8, 0.9, 0.95} {
		s := site.SetsReport{Coverage: coverage}
		q, err := audit.Threshold(audited.Scores, coverage)
		var few *audit.TooFewError
		switch {
		case errors.As(err, &few):
			s.Need = few.Need
		case err != nil: // too many images are of classes that the run does not know
		default:
			s.Sets = &audit.Sets{Coverage: coverage, Threshold: q, Images: len(audited.Scores)}
			for i := range part.Len() {
				s.Size += float64(len(s.Sets.Of(calibration.Softmax(site.Row(site.LogitsOf(part, adapted), i), temperature)))) / float64(part.Len())
			}
		}
		r.Sets = append(r.Sets, s)
	}
	for _, share := range []float64{0.1, 0.2, 0.4} {
		one, err := audit.Abstain(audited.Surest, audited.Right, share)
		if err != nil {
			return err
		}
		r.Abstain = append(r.Abstain, one)
	}
	return nil
}
