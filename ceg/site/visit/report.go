package visit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/audit"
	"github.com/ledg-go/ledg/ceg/calibration"
	"github.com/ledg-go/ledg/ceg/head"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/site"
)

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
				if (im.Status == labels.IsOpen || im.Status == labels.IsDisputed) && a.isThere(im.ID) {
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
		measured := v.Measure(a.record.Classes, part, adapted, temperature, answer)
		for _, id := range v.Images {
			if !a.isThere(id) {
				measured.Gone++
			}
		}
		r.Visits = append(r.Visits, measured)
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
