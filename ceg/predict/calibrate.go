package predict

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
)

// Calibrate is [Predictor.Calibration], stored in the run's folder, where Open finds it.
func (p *Predictor) Calibrate(ctx context.Context) (*calibration.Calibration, error) {
	c, err := p.Calibration(ctx)
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
func (p *Predictor) Calibration(ctx context.Context) (*calibration.Calibration, error) {
	if p.Adapted {
		return nil, fmt.Errorf("%s is calibrated by its own head, not by the one of a site: an audit says how right that is", p.dir)
	}
	source, target, crossed, err := p.heldOut(ctx)
	if err != nil {
		return nil, err
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
	if crossed != nil {
		if _, unseen := crossed.Labelled(); len(unseen.Class) >= LeastCalibrated {
			fit := calibration.NewFit(calibration.FitTemperature(unseen), len(unseen.Class), source, target)
			c.LeftOut = &fit
		}
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
	err = p.examples(ctx, examples, func(i int, _, logits []float32) {
		l.Logits, l.Class = append(l.Logits, logits), append(l.Class, p.truth.Class(i))
	})
	return l, err
}
