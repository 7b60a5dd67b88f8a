package page

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/plots"
)

// runPage is what the page shows of one run: for users its summary, for researchers the rest.
type runPage struct {
	*result.Run
	*summary
	*gallery
	Last        []result.Accuracy // by domain, after the last epoch
	ByClass     bool              // they are counted by class
	Names       *result.Choice    // class names alone; nil without
	Paying      string            // whether labels pay beside names
	Curves      *figure           // nil of a run that measured nothing
	Queries     []result.Query
	Queried     []queriedDomain
	Chosen      string        // how the labels were chosen
	Shown       int           // number of tiles
	Scored      string        // what the scores of tiles are, empty without
	Matrix      *result.Table // queries by domain and class
	People      *people       // who labelled; nil if no people did
	Stale       string        // error of the calibration
	Calibration *calibration.Calibration
	Reliable    *figure
	Settings    string
}

// queriedDomain has the queries of one domain, ordered by class and round.
type queriedDomain struct {
	Name  string
	Tiles []tile
}

// people is who labelled, and how far they agree.
type people struct {
	*labels.State
	Annotators []annotator
	Agreements []labels.Agreement
	Differ     int // images on which they disagree
	None       int // images of none of the classes
	Note       string
}

// annotator has the numbers of a person's current labels.
type annotator struct {
	Name           string
	Labels, Unsure int
}

func newRun(ctx context.Context, out *result.Run, o Options) (*runPage, error) {
	r := &runPage{Run: out, gallery: &gallery{run: out, o: o.Figures}, Last: out.Records[len(out.Records)-1].Accuracy, Stale: o.Stale[out.Path]}
	r.ByClass = slices.ContainsFunc(r.Last, func(a result.Accuracy) bool { return a.Classes != nil })
	r.Names, r.Paying = report.NamesAlone(out)
	f, err := report.OpenRun(out.Path)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(out.Records, func(rec result.Record) bool { return rec.Target().Total+rec.SourceVal().Total > 0 }) {
		g, err := draw(ctx, f, "epochs", o.Figures)
		if err != nil {
			return nil, err
		}
		r.Curves = &g
	}
	k, err := artifact.Read(out.Path)
	if err != nil {
		return nil, err
	}
	switch r.Queries, err = out.Queries(); {
	case errors.Is(err, fs.ErrNotExist):
		r.missing = "the run was collected without its queries"
	case err != nil:
		return nil, err
	default:
		r.addQueried(o.Pictures)
	}
	r.summary = summarize(r, k)
	var b bytes.Buffer
	if err := result.WriteConfig(&b, out.Config); err != nil {
		return nil, err
	}
	r.Settings = b.String()
	if r.People, err = readPeople(out.Path); err != nil {
		return nil, err
	}
	return r, r.addCalibration(o.Calibrations[out.Path])
}

// NoTarget reports whether the run has no target domain.
func (r *runPage) NoTarget() bool { return r.Result.Target == config.NoTarget }

// addQueried adds the queries: how they were selected, their numbers by domain and class, and
// images of the first n of them.
func (r *runPage) addQueried(n int) {
	x := r.Config.Exploration
	r.Chosen = result.Chosen(r.Queries, r.Result.Unqueried, x.Initial, x.Strategy)
	classes := map[string]bool{}
	for _, q := range r.Queries {
		classes[q.Class] = true
	}
	r.Matrix = report.CrossTable(r.Queries, len(classes) > manyClasses)
	list := report.Balanced(r.Queries, n)
	slices.SortFunc(list, func(a, b result.Query) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Class, b.Class), a.Round-b.Round, cmp.Compare(a.ID, b.ID))
	})
	r.Shown = len(list)
	for _, q := range list {
		t := tile{ID: q.ID, Seen: q.Class, Notes: []string{fmt.Sprint("round ", q.Round)}, Picture: r.picture(q.ID)}
		if s := q.Scores; s != nil {
			r.Scored, t.Notes = "u uncertainty, r representativeness, d diversity", append(t.Notes, fmt.Sprintf("u\u00a0%.2f r\u00a0%.2f d\u00a0%.2f", s.Su, s.Sr, s.Sd))
		}
		if q.Score != nil {
			r.Scored, t.Notes = "those of "+x.Strategy, append(t.Notes, fmt.Sprintf("score\u00a0%.2f", *q.Score))
		}
		if k := len(r.Queried); k == 0 || r.Queried[k-1].Name != q.Domain {
			r.Queried = append(r.Queried, queriedDomain{Name: q.Domain})
		}
		d := &r.Queried[len(r.Queried)-1]
		d.Tiles = append(d.Tiles, t)
	}
}

// readPeople reads who labelled from the ledger in a run's folder; nil if no people did.
func readPeople(dir string) (*people, error) {
	s, note, err := labels.Read(os.DirFS(dir), labels.File, nil, labels.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	p := &people{State: s, Note: note}
	for _, name := range s.Annotators() {
		a := annotator{Name: name}
		for _, l := range s.Labels() {
			if l.By != name {
				continue
			}
			if a.Labels++; l.Unsure {
				a.Unsure++
			}
		}
		p.Annotators = append(p.Annotators, a)
	}
	if p.Annotators == nil {
		return nil, nil
	}
	agreements, differ := s.Agreements()
	all, _, _ := s.Count()
	p.Agreements, p.Differ, p.None = agreements, len(differ), all.None
	return p, nil
}

// addCalibration adds the calibration c and its diagram; nil is the run's own calibration.
func (r *runPage) addCalibration(c *calibration.Calibration) (err error) {
	if c == nil {
		if c, err = calibration.Of(r.Run); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	r.Calibration = c
	g, err := both(func(t plots.Theme) (*plots.Grid, error) { return plots.Reliability(t, Reliability(c)) })
	r.Reliable = &g
	return err
}

// Worst lists the classes of lowest accuracy where there are many, whose matrix is folded away.
func (r *runPage) Worst() ranking {
	c := r.Calibration
	if len(c.Classes) <= manyClasses {
		return nil
	}
	list := rank(byClass(&audit.Counts{Classes: c.Classes, Counts: c.Confusion}), audit.Exact)
	return list[:min(len(list), 15)]
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}
