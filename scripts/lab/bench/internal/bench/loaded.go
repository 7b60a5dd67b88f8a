package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/learner/upload"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets"
)

// Blocks of steps through the loader. The first steps of a block find the batches
// that were made while nothing computed, and are not timed.
const (
	blocks = 3
	ahead  = 5
)

// Through times training steps on images of a data set, whose last domain is the
// target, that the loader augments and uploads while the steps before them compute,
// in turn with steps whose images are already on the device: three blocks of each.
// One in twenty of the training images is labelled, and of the others one in four
// reliable. The options' numbers of classes and domains are set from the data set.
func Through(ctx context.Context, d *datasets.Dataset, cacheDir string, o learner.Options, b engine.Backend, warmup, steps int) (Report, error) {
	if _, ok := d.Features(); ok {
		return Report{}, fmt.Errorf("benchmark: data set %s has feature vectors, want images", d.Name)
	}
	o.Classes, o.Domains = len(d.Classes), len(d.Domains)-1
	m, err := NewMemory(ctx, b, o, warmup)
	if err != nil {
		return Report{}, err
	}
	defer m.Close()
	images, err := datasets.Prepare(ctx, d, o.ImageSize, cacheDir, nil)
	if err != nil {
		return Report{}, err
	}
	defer images.Close()
	pixels := feed.Pixels(images)
	loader, err := feed.New(pixels, feed.Config{Seed: 1, Domains: d.Domains[:o.Domains], Batch: o.PerDomain})
	if err != nil {
		return Report{}, err
	}
	from := upload.Source{Loader: loader, Examples: pixels, Learner: m.l, Objective: o.Objective, Seed: 1}
	subsets := divide(d, o.Objective)
	subsets.Iterations = ahead + steps
	var total, wait time.Duration
	for block := range blocks {
		if err := m.Run(ctx, steps); err != nil {
			return Report{}, err
		}
		s, w, err := timed(ctx, from, block, subsets)
		if err != nil {
			return Report{}, err
		}
		total, wait = total+s, wait+w
	}
	n := float64(blocks * steps)
	views := len(subsets.Labelled.Views) + len(subsets.Unlabelled.Views) + len(subsets.Reliable.Views)
	l := &Loaded{
		Dataset: d.Name, Steps: blocks * steps,
		StepSecondsMean: total.Seconds() / n, MemorySecondsMean: m.mean(), WaitSecondsMean: wait.Seconds() / n,
		Views: views * o.Domains * o.PerDomain,
	}
	l.Ratio = l.StepSecondsMean / l.MemorySecondsMean
	report, err := m.Report()
	report.Data = l
	return report, err
}

// divide makes up what batches are drawn from.
func divide(d *datasets.Dataset, o objective.Objective) (subsets feed.Subsets) {
	add := func(p *feed.Subset, at int, label bool) {
		p.Example, p.Domain = append(p.Example, at), append(p.Domain, d.Examples[at].Domain)
		if label {
			p.Label = append(p.Label, at%len(d.Classes))
		}
	}
	for i, e := range d.Examples {
		switch {
		case e.Split != datasets.Train || e.Domain == len(d.Domains)-1:
		case i%20 == 0:
			add(&subsets.Labelled, i, true)
		default:
			add(&subsets.Unlabelled, i, false)
			if i%4 == 1 && o.Uses(objective.Reliable) {
				add(&subsets.Reliable, i, true)
			}
		}
	}
	subsets.Labelled.Views, subsets.Unlabelled.Views = o.Views(objective.Labelled), o.Views(objective.Unlabelled)
	if o.Uses(objective.Reliable) {
		subsets.Reliable.Views = o.Views(objective.Reliable)
	}
	return subsets
}

// timed runs one epoch of the subsets and times its steps, the first ones left out,
// and the part of it that they waited for their images.
func timed(ctx context.Context, from upload.Source, number int, subsets feed.Subsets) (total, wait time.Duration, err error) {
	batches, err := from.Epoch(ctx, number, subsets)
	if err != nil {
		return 0, 0, err
	}
	defer batches.Close()
	var start time.Time
	var before time.Duration
	for i := range batches.Len() {
		if i == ahead {
			start, before = time.Now(), batches.Waited()
		}
		b, err := batches.Next()
		if err != nil {
			return 0, 0, err
		}
		out, err := from.Learner.StepOn(b.Inputs, rates)
		b.Free()
		if err != nil {
			return 0, 0, err
		}
		if _, err := out.Terms(); err != nil {
			return 0, 0, err
		}
		if _, _, err := out.PseudoLabels(); err != nil {
			return 0, 0, err
		}
	}
	return time.Since(start), batches.Waited() - before, nil
}
