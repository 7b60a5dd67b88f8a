package visit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/site"
)

// adapt fits the head to all labelled adaptation images and returns their number; nil without
// any.
func (a *arrival) adapt(ctx context.Context, label func(id string) site.Label) (_ *head.Linear, with int, err error) {
	var ids []string
	var classes []int
	for _, v := range a.record.Visits {
		for _, id := range v.A {
			if k := slices.Index(a.record.Classes, label(id).Class); k >= 0 {
				ids, classes = append(ids, id), append(classes, k)
			}
		}
	}
	path := filepath.Join(a.Dir, site.AdaptedFile)
	if len(ids) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, 0, err
		}
		return nil, 0, nil
	}
	if err := a.loadSources(ctx); err != nil {
		return nil, 0, err
	}
	part, err := a.part(ids)
	if err != nil {
		return nil, 0, err
	}
	part.Classes = classes
	h, err := a.sources.Adapt(part)
	if err != nil {
		return nil, 0, err
	}
	if err := a.record.WriteHead(a.Dir, h); err != nil {
		return nil, 0, err
	}
	h, err = site.ReadHead(a.Dir) // as it is from now on, in float32
	return h, len(ids), err
}

// report adapts with the labels so far, evaluates, and writes the results.
func (a *arrival) report(ctx context.Context) (*Arrived, error) {
	r := &site.Report{Site: a.record.Name, Run: a.record.Run, Classes: a.record.Classes, Warnings: []string{}, Sets: []site.SetsReport{}, Abstain: []audit.Abstention{}}
	done := &Arrived{Report: r}
	label := func(string) site.Label { return site.Label{} }
	var unsure []string
	if _, err := os.Stat(filepath.Join(a.Dir, labels.File)); err == nil {
		ledger, err := a.ledger()
		if err != nil {
			return nil, err
		}
		defer ledger.Close()
		if err := a.closeGone(ledger); err != nil {
			return nil, err
		}
		label = labelsOf(ledger)
		ledger.View(func(s *labels.State) {
			for im := range s.Images() {
				if im.Status == labels.IsUnsure && im.Class == "" {
					unsure = append(unsure, im.ID)
				}
				if (im.Status == labels.IsOpen || im.Status == labels.IsDisputed) && a.isThere(im.ID) {
					done.Open++
				}
			}
		})
	}
	adapted, with, err := a.adapt(ctx, label)
	if err != nil {
		return nil, err
	}
	base, temperature, err := a.calibrate(r, adapted, label)
	if err != nil {
		return nil, err
	}
	var all []site.Part
	looksNew := map[string]string{}
	for _, v := range a.record.Visits {
		part, err := a.part(v.Images)
		if err != nil {
			return nil, err
		}
		all = append(all, part)
		measured := v.Measure(a.record.Classes, part, adapted, temperature, label)
		measured.AdaptedWith = with
		switch names, why, err := a.p.NamesLogits(part.Features); {
		case err != nil:
			return nil, err
		case why != "":
			if why = "names alone are left out: " + why; !slices.Contains(r.Warnings, why) {
				r.Warnings = append(r.Warnings, why)
			}
		case names.Rows > 0:
			used := adapted
			if a.record.Unadapted {
				used = nil
			}
			measured.Names = v.MeasureNames(a.record.Classes, part, names, used, label)
		}
		for _, id := range v.Images {
			if !a.isThere(id) {
				measured.Gone++
			}
		}
		if v.Estimate != nil {
			for _, id := range v.Images {
				if looksNew[id] = "false"; v.Estimate.Unflagged {
					looksNew[id] = ""
				}
			}
			for _, id := range v.Estimate.LooksNew {
				looksNew[id] = "true"
			}
		}
		r.Visits = append(r.Visits, measured)
	}
	if adapted != nil && a.record.Unadapted {
		if err := os.Remove(filepath.Join(a.Dir, site.AdaptedFile)); err != nil {
			return nil, err
		}
		adapted = nil
		if base, temperature, err = a.calibrate(r, nil, label); err != nil {
			return nil, err
		}
		for k, v := range a.record.Visits {
			r.Visits[k].Unadapt(v.Measure(a.record.Classes, all[k], nil, temperature, label))
		}
	}
	for k, v := range a.record.Visits {
		if v == a.record.Audited() {
			if err := a.setsAndAbstention(r, v, all[k], adapted, base, temperature, label); err != nil {
				return nil, err
			}
		}
	}
	if n := len(unsure); n > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d images are marked unsure, such as %s: the audit waits for them; open Labels on the page, and choose a class or mark them as bad", n, unsure[0]))
	}
	if a.ByMonth {
		if err := a.months(ctx, r, all, adapted, with, label); err != nil {
			return nil, err
		}
	}
	r.Finish()
	if err := a.record.Write(a.Dir); err != nil { // with its temperature
		return nil, err
	}
	if err := r.Write(a.Dir); err != nil {
		return nil, err
	}
	if err := writePredictions(filepath.Join(a.Dir, site.PredictionsFile), a.record.Classes, all, looksNew, adapted, temperature, r.Calibrated); err != nil {
		return nil, err
	}
	return done, writePage(a.Dir, r, a.data)
}

// calibrate fits the temperature of a head, the run's if it is nil, on the audit, for the record and r.
// base is the temperature without the audit.
func (a *arrival) calibrate(r *site.Report, adapted *head.Linear, label func(id string) site.Label) (base, temperature float64, err error) {
	base, r.Calibrated = a.p.Temperature, a.p.Calibrated
	if adapted != nil { // whose logits are others
		base, r.Calibrated = 1, false
	}
	temperature, a.record.Temperature, r.Calibration = base, 0, nil
	if v := a.record.Audited(); v != nil {
		part, err := a.part(v.Images)
		if err != nil {
			return 0, 0, err
		}
		if r.Calibration = v.Calibrate(a.record.Classes, part, adapted, base, label); r.Calibration != nil {
			temperature, r.Calibrated = r.Calibration.Temperature, true
			a.record.Temperature = temperature
		}
	}
	return base, temperature, nil
}

// goneBy says in the ledger who calls an image bad whose file is gone.
const goneBy = "ledg site"

// closeGone closes queries of images whose files are gone, until they are back and queried
// again.
func (a *arrival) closeGone(ledger *labels.Ledger) error {
	_, err := ledger.Update(func(s *labels.State) (events []labels.Event, err error) {
		for im := range s.Images() {
			if im.Status == labels.IsOpen && !a.isThere(im.ID) {
				events = append(events, labels.Event{Kind: labels.Bad, ID: im.ID, By: goneBy})
			}
		}
		return events, nil
	})
	return err
}

// setsAndAbstention adds the results of a visit's audit for both.
func (a *arrival) setsAndAbstention(r *site.Report, v *site.Visit, part site.Part, adapted *head.Linear, base, temperature float64, label func(id string) site.Label) error {
	audited := v.Audited(a.record.Classes, part, adapted, base, temperature, label)
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
				s.Size += float64(len(s.Sets.Of(calibration.Softmax(site.Row(site.LogitsOf(part, adapted), i), base)))) / float64(part.Len())
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
