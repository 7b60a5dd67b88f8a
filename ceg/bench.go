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
	r := &run{c: c, o: o}
	defer r.close()
	if err := r.openData(); err != nil {
		return learner.BenchReport{}, err
	}
	if err := r.openImages(ctx); err != nil {
		return learner.BenchReport{}, err
	}
	if _, err := r.labelInitial(ctx); err != nil {
		return learner.BenchReport{}, err
	}
	for i, id := range r.pool.Unlabelled() {
		if i%4 == 0 {
			r.reliable.examples = append(r.reliable.examples, r.example(id))
			r.reliable.labels = append(r.reliable.labels, i%len(r.data.Classes))
		}
	}
	options, err := c.LearnerOptions(len(r.data.Classes), len(r.sources))
	if err != nil {
		return learner.BenchReport{}, err
	}
	bench, err := learner.NewBench(backend, options, warmup)
	if err != nil {
		return learner.BenchReport{}, err
	}
	defer bench.Learner().Close()
	pools := r.pools()
	pools.Iterations = benchAhead + steps
	var total, wait time.Duration
	for block := range benchBlocks {
		if err := bench.Run(steps); err != nil {
			return learner.BenchReport{}, err
		}
		t, w, err := timeLoaded(ctx, batcher{r.loader, bench.Learner(), r.objective, c.Seed}, block, pools)
		if err != nil {
			return learner.BenchReport{}, err
		}
		total, wait = total+t, wait+w
	}
	report := bench.Report()
	n := float64(benchBlocks * steps)
	d := &learner.LoadedReport{
		Dataset: r.data.Name, Steps: benchBlocks * steps,
		StepSecondsMean: total.Seconds() / n, MemorySecondsMean: bench.Mean(), WaitSecondsMean: wait.Seconds() / n,
		Views: views(pools) * len(r.sources) * c.Schedule.PerDomain,
	}
	d.Ratio = d.StepSecondsMean / d.MemorySecondsMean
	report.Data = d
	return report, nil
}

// timeLoaded runs one epoch of the pools and times its steps, the first ones
// left out, and the part of it that they waited for their images.
func timeLoaded(ctx context.Context, b batcher, number int, pools feed.Pools) (total, wait time.Duration, err error) {
	batches, steps, err := b.upload(ctx, number, pools)
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
		out, err := b.learner.StepOn(up.inputs, learner.BenchRates)
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
