package predict

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/calibration"
	"github.com/ledg-go/ledg/datasets"
)

// Calibrate fits the temperature of an opened run on the validation splits of its
// source domains, measures it there and on the target, and keeps the outcome in the
// run's directory, from where Open takes it. A run without validation images is an
// error.
func (p *Predictor) Calibrate(ctx context.Context) (*calibration.Calibration, error) {
	source, target, err := p.heldOut(ctx)
	if err != nil {
		return nil, err
	}
	c := &calibration.Calibration{
		Model: Digest(p.Model), Best: calibration.FitTemperature(target),
		Source:  calibration.NewFit(calibration.FitTemperature(source), len(source.Class), source, target),
		Classes: p.Model.Data.Classes, Confusion: calibration.Confuse(target, p.classes()),
	}
	if err := c.Write(p.dir); err != nil {
		return nil, err
	}
	p.Temperature, p.Calibrated = c.Source.Temperature, true
	return c, nil
}

// heldOut computes the logits of the source validation splits and of the target.
func (p *Predictor) heldOut(ctx context.Context) (source, target calibration.Labelled, err error) {
	m := p.Model
	test, err := m.Data.Domain(m.Config.Data.Target)
	if err != nil {
		return source, target, err
	}
	var val, all []int
	for i, e := range m.Data.Examples {
		switch {
		case e.Domain == test:
			all = append(all, i)
		case e.Split == datasets.Val:
			val = append(val, i)
		}
	}
	if len(val) == 0 {
		return source, target, fmt.Errorf("%s: its source domains have no validation images to calibrate on", p.dir)
	}
	if source, err = p.logits(ctx, val); err == nil {
		target, err = p.logits(ctx, all)
	}
	return source, target, err
}

// logits computes those of images of the data set.
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
