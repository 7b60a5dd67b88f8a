package ceg

import (
	"context"
	"fmt"
	"time"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/learner"
)

// Blocks of steps of a benchmark through the loader. The first steps of a block
// find the batches that were made while nothing computed, and are not timed.
const (
	benchBlocks = 3
	benchAhead  = 5
)

// Benchmark times training steps of c with MixUp, on images of its data set that
// the loader augments and uploads while the steps before them compute, in turn
// with steps whose images are already on the device: three blocks of each. The
// reliable set is made up: every fourth unlabelled image.
func Benchmark(ctx context.Context, c Config, o Options, backend engine.Backend, warmup, steps int) (learner.BenchReport, error) {
	if steps < 1 {
		return learner.BenchReport{}, fmt.Errorf("benchmark: %d steps, want at least 1", steps)
	}
	v := newVoice(o.Observe, c.Schedule.Epochs)
	p, _, err := openPool(c, o, v)
	if err != nil {
		return learner.BenchReport{}, err
	}
	x, err := openExamples(ctx, c, o, p, v.progress("preparing images"))
	if err != nil {
		return learner.BenchReport{}, err
	}
	defer x.close()
	if _, err := p.labelInitial(ctx, c.Seed); err != nil {
		return learner.BenchReport{}, err
	}
	var reliable reliableSet
	for i, id := range p.Unlabelled() {
		if i%4 == 0 {
			reliable.examples = append(reliable.examples, p.example(id))
			reliable.labels = append(reliable.labels, i%len(p.data.Classes))
		}
	}
	options, err := c.LearnerOptions(len(p.data.Classes), len(p.sources), vectorOf(p.data))
	if err != nil {
		return learner.BenchReport{}, err
	}
	bench, err := learner.NewBench(backend, options, warmup)
	if err != nil {
		return learner.BenchReport{}, err
	}
	defer bench.Learner().Close()
	t := &trainer{learner: bench.Learner(), objective: c.Objective(), examples: x, seed: c.Seed}
	pools := p.batches(t.objective, reliable)
	pools.Iterations = benchAhead + steps
	var total, wait time.Duration
	for block := range benchBlocks {
		if err := bench.Run(steps); err != nil {
			return learner.BenchReport{}, err
		}
		s, w, err := timeLoaded(ctx, t, block, pools)
		if err != nil {
			return learner.BenchReport{}, err
		}
		total, wait = total+s, wait+w
	}
	report := bench.Report()
	n := float64(benchBlocks * steps)
	d := &learner.LoadedReport{
		Dataset: p.data.Name, Steps: benchBlocks * steps,
		StepSecondsMean: total.Seconds() / n, MemorySecondsMean: bench.Mean(), WaitSecondsMean: wait.Seconds() / n,
		Views: views(pools) * len(p.sources) * c.Schedule.PerDomain,
	}
	d.Ratio = d.StepSecondsMean / d.MemorySecondsMean
	report.Data = d
	return report, nil
}

// timeLoaded runs one epoch of the pools and times its steps, the first ones
// left out, and the part of it that they waited for their images.
func timeLoaded(ctx context.Context, t *trainer, number int, pools feed.Pools) (total, wait time.Duration, err error) {
	batches, steps, err := t.upload(ctx, number, pools)
	if err != nil {
		return 0, 0, err
	}
	defer batches.close()
	var start time.Time
	for i := range steps {
		if i == benchAhead {
			start, batches.wait = time.Now(), 0
		}
		up, err := batches.next()
		if err != nil {
			return 0, 0, err
		}
		out, err := t.learner.StepOn(up.inputs, learner.BenchRates)
		up.free()
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
	return time.Since(start), batches.wait, nil
}

// views counts the kinds of views in a batch.
func views(p feed.Pools) int {
	n := 0
	for _, pool := range []feed.Pool{p.Labelled, p.Unlabelled, p.Reliable} {
		n += len(pool.Views)
	}
	return n
}
