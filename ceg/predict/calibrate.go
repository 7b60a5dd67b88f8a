package predict

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
)

// Calibrate is [Predictor.Calibration], stored in the run's folder, where Open finds it.
func (p *Predictor) Calibrate(ctx context.Context, others ...*Predictor) (*calibration.Calibration, error) {
	c, err := p.Calibration(ctx, others...)
	if err == nil {
		err = c.Write(p.dir)
	}
	if err != nil {
		return nil, err
	}
	p.Temperature, p.SetsTemperature, p.Calibrated = c.Source.Temperature, c.Source.Temperature, true
	return c, nil
}

// Calibration fits the temperature of an opened run on the validation splits of its source
// domains, and evaluates it there and on the target. Nothing is written. Without target labels the
// target's part is empty.
//
// With fewer than [LeastCalibrated] validation images it uses the cross-validated logits that the
// run's accuracy estimate has saved: the folds' logits for the temperature, and the left-out
// domains' logits for a second one. Too few of these are a [TooFewError]: the temperature would overfit
// and could make wrong predictions more confident.
//
// others are runs that differ only in the held-out domain; with them a second temperature is
// fitted by leave-one-domain-out. Each of them predicts the validation images of its own target,
// a source of this run, which it was not trained on, so the domain shift resembles that to the
// target. They were trained on images of this run's target, but the fit uses none. A run of
// another data set, method or network is an error, and so are two with the same target.
func (p *Predictor) Calibration(ctx context.Context, others ...*Predictor) (*calibration.Calibration, error) {
	if p.Adapted {
		return nil, fmt.Errorf("%s is calibrated by its own head, not by the one of a site: an audit says how right that is", p.dir)
	}
	unseen, extra, err := p.leftOut(ctx, others)
	if err != nil {
		return nil, err
	}
	source, target, crossed, err := p.heldOut(ctx)
	if err != nil {
		return nil, err
	}
	if crossed != nil && len(others) == 0 {
		_, unseen = crossed.Labelled()
	}
	c := &calibration.Calibration{
		CrossValidated: crossed != nil,
		Model:          p.Model.Digest(), Best: calibration.FitTemperature(target),
		Source:  calibration.NewFit(calibration.FitTemperature(source), len(source.Class), source, target),
		Classes: p.Model.Data.Classes, Confusion: calibration.Confuse(target, p.classes()),
	}
	if len(target.Class) == 0 {
		c.Confusion = calibration.Confuse(source, p.classes())
	}
	if len(unseen.Class) >= LeastCalibrated || len(others) > 0 {
		fit := calibration.NewFit(calibration.FitTemperature(unseen), len(unseen.Class), source, target)
		c.LeftOut, c.Extra = &fit, extra
	}
	return c, nil
}

// LeastCalibrated is the smallest number of labelled images for a temperature: with
// as many and two thirds correct, the accuracy is known to about 13 points.
const LeastCalibrated = 50

// TooFewError says that a run has too few labels for a temperature: Validation are its labelled
// validation images, Crossed its cross-validated labels, and Advice says how to get more.
type TooFewError struct {
	Dir                 string
	Validation, Crossed int
	Advice              string
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("%s: its source domains have %d labelled validation images and %d cross-validated labels, and a temperature needs at least %d of either. %s", e.Dir, e.Validation, e.Crossed, LeastCalibrated, e.Advice)
}

// heldOut computes the logits of the source validation splits and of the target, as
// far as their classes are known. With crossed, source has the folds' logits instead.
func (p *Predictor) heldOut(ctx context.Context) (source, target calibration.Labelled, crossed *artifact.Crossed, err error) {
	name := p.Model.Config.Data.Target
	val := p.labelledOf(func(domain string, split datasets.Split) bool { return domain != name && split == datasets.Val })
	if n := len(val); n < LeastCalibrated {
		k, err := p.artifact()
		if err != nil {
			return source, target, nil, err
		}
		if k != nil && k.Crossed != nil {
			crossed = k.Crossed
			source, _ = crossed.Labelled()
		}
		if len(source.Class) < LeastCalibrated {
			return source, target, nil, &TooFewError{p.dir, n, len(source.Class), p.howToLabel(k, len(source.Class))}
		}
	} else {
		source, err = p.logits(ctx, val)
	}
	if err == nil {
		target, err = p.logits(ctx, p.labelledOf(func(domain string, _ datasets.Split) bool { return domain == name }))
	}
	return source, target, crossed, err
}

// howToLabel says how a run with artifact k gets validation images, or labels to cross-validate,
// of which it has some.
func (p *Predictor) howToLabel(k *artifact.Artifact, crossed int) string {
	if k != nil && k.Estimate == nil && p.Model.Config.Network.Name == config.Linear {
		return "Train again without --no-estimate: the accuracy estimate cross-validates the labels"
	}
	if info, _ := datasets.Lookup(p.Model.Config.Data.Dataset); !info.Yours {
		return "Validation images come with the data set: a run on more of it has more"
	}
	extend := ""
	if p.Model.Config.Network.Name == config.Linear {
		line := []string{"ledg", "extend", p.dir}
		queries, _ := result.QueriesIn(p.dir)
		labels := len(queries)
		if k == nil { // with a target of known classes, no label is cross-validated
			crossed = labels
		}
		if crossed < LeastCalibrated {
			line = append(line, "--budget", fmt.Sprint(labels+LeastCalibrated-crossed))
		}
		if k == nil {
			line = append(line, "--target", config.NoTarget)
		}
		extend = fmt.Sprintf("%s gives at least %d cross-validated labels. ", shell.Line(line...), LeastCalibrated)
	}
	return extend + fmt.Sprintf("Give a new run labels of more images, with %s: a tenth of them is held out for validation, and at least one of five in a class and domain. Without, %s measures accuracy and sets thresholds on a new site",
		shell.Line("ledg", "train", "--labels", "FILE.csv"), shell.Line("ledg", "site", p.dir, "--images", "FOLDER", "--ask"))
}

// labelledOf lists the examples of known class that satisfy want.
func (p *Predictor) labelledOf(want func(domain string, split datasets.Split) bool) (list []int) {
	d := p.measured
	for i, e := range d.Examples {
		if p.truth.Knows(i) && want(d.Domains[e.Domain], e.Split) {
			list = append(list, i)
		}
	}
	return list
}

// logits computes the logits of images of the data set.
func (p *Predictor) logits(ctx context.Context, examples []int) (l calibration.Labelled, err error) {
	for start := 0; start < len(examples) && err == nil; start += p.batch {
		if err := ctx.Err(); err != nil {
			return l, context.Cause(ctx)
		}
		err = p.examples(examples[start:min(start+p.batch, len(examples))], func(i int, _, logits []float32) {
			l.Logits, l.Class = append(l.Logits, logits), append(l.Class, p.truth.Class(i))
		})
	}
	return l, err
}

// leftOut computes the logits of sources by the networks that were not trained on
// them, and counts the labels that these had and this run had not.
func (p *Predictor) leftOut(ctx context.Context, others []*Predictor) (l calibration.Labelled, extra int, err error) {
	mine, err := p.queried()
	if err != nil {
		return l, 0, err
	}
	c := p.Model.Config
	for _, o := range others {
		oc := o.Model.Config
		if oc.Data.Dataset != c.Data.Dataset || oc.Method != c.Method || o.Model.Backbone.Name != p.Model.Backbone.Name || oc.Data.ImageSize != c.Data.ImageSize {
			return l, 0, fmt.Errorf("%s is %s with %s on %s; want a run like %s, which is %s with %s on %s", o.dir,
				oc.Method, o.Model.Backbone.Name, oc.Data.Dataset, p.dir, c.Method, p.Model.Backbone.Name, c.Data.Dataset)
		}
		if !slices.Contains(p.Model.Sources, oc.Data.Target) {
			return l, 0, fmt.Errorf("%s held out %s, which is no source domain of %s", o.dir, oc.Data.Target, p.dir)
		}
		theirs, err := o.queried()
		if err != nil {
			return l, 0, err
		}
		for id := range theirs {
			if !mine[id] {
				mine[id] = true
				extra++
			}
		}
		val := o.labelledOf(func(domain string, split datasets.Split) bool {
			return domain == oc.Data.Target && split == datasets.Val
		})
		if len(val) == 0 {
			return l, 0, fmt.Errorf("%s: %s, which it held out, has no labelled validation images to calibrate on", o.dir, oc.Data.Target)
		}
		part, err := o.logits(ctx, val)
		if err != nil {
			return l, 0, err
		}
		l.Logits, l.Class = append(l.Logits, part.Logits...), append(l.Class, part.Class...)
	}
	return l, extra, nil
}

// queried returns the images that the run queried.
func (p *Predictor) queried() (map[string]bool, error) {
	queries, err := result.QueriesIn(p.dir)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, q := range queries {
		ids[q.ID] = true
	}
	return ids, nil
}
