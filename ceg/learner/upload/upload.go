// Package upload prefetches training batches to the device: it loads, augments and copies one
// batch while the previous step computes. It connects package feed with package learner.
package upload

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Source describes the batches to upload and the learner that receives them.
type Source struct {
	Loader *feed.Loader
	// Examples are the examples that the loader reads.
	Examples  feed.Source
	Learner   *learner.Learner
	Objective objective.Objective
	// Seed seeds the objective's random draws.
	Seed uint64
	// HeadEpochs is the number of initial epochs that train only the heads.
	HeadEpochs int
}

// Epoch uploads the batches of an epoch, one ahead of the current step. It is for the use of one
// goroutine.
type Epoch struct {
	batches <-chan Batch
	cancel  context.CancelFunc
	ctx     context.Context
	steps   int
	wait    time.Duration
}

// Batch is a batch on the device.
type Batch struct {
	Inputs    *learner.Inputs
	Iteration int
	// Unlabelled holds the indices of the unlabelled examples.
	Unlabelled []int
	err        error
}

// Epoch starts the epoch of the given number with its subsets.
func (s Source) Epoch(ctx context.Context, number int, subsets feed.Subsets) (*Epoch, error) {
	stage := learner.Stage{Reliable: len(subsets.Reliable.Views) > 0, Heads: number < s.HeadEpochs}
	if s.Objective.Phase != nil {
		stage.Phase = s.Objective.Phase(number)
	}
	ctx, cancel := context.WithCancel(ctx)
	from, err := s.Loader.Epoch(ctx, number, subsets)
	if err != nil {
		cancel()
		return nil, err
	}
	batches := make(chan Batch)
	go func() {
		defer close(batches)
		defer from.Close()
		for {
			next, err := from.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			b := Batch{err: err}
			if err == nil {
				b.Iteration, b.Unlabelled = next.Iteration, slices.Clone(next.Unlabelled.Example)
				b.Inputs, b.err = s.Learner.Upload(s.batch(number, next, stage), stage)
				next.Release()
			}
			select {
			case batches <- b:
			case <-ctx.Done():
				b.Free()
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	return &Epoch{batches: batches, cancel: cancel, ctx: ctx, steps: from.Len()}, nil
}

// batch gathers what a step of the objective reads of a batch, and draws its random
// numbers, from streams that belong to the epoch and the iteration.
func (s Source) batch(epoch int, from *feed.Batch, stage learner.Stage) learner.Batch {
	batch := learner.Batch{}
	bySubset := map[objective.Subset]*feed.SubBatch{
		objective.Labelled: &from.Labelled, objective.Unlabelled: &from.Unlabelled, objective.Reliable: &from.Reliable,
	}
	for _, in := range s.Objective.Inputs {
		sub := bySubset[in.Subset]
		switch {
		case len(sub.Example) == 0:
		case in.Content == objective.Pixels:
			batch[in.Name] = feed.Values(s.Examples.DType(), sub.View(in.View.Name))
		case in.Content == objective.Label:
			batch[in.Name] = sub.Label
		default:
			batch[in.Name] = sub.Domain
		}
	}
	for _, w := range s.Objective.Draws {
		if w.With != objective.Reliable || stage.Reliable {
			r := seed.New(s.Seed, w.Stream, uint64(epoch), uint64(from.Iteration))
			maps.Copy(batch, w.Values(r, s.Learner.Dims()))
		}
	}
	return batch
}

// Len returns the number of batches.
func (e *Epoch) Len() int { return e.steps }

// Waited returns the total time that Next has blocked.
func (e *Epoch) Waited() time.Duration { return e.wait }

// Next returns the next batch, which the caller frees, or io.EOF.
func (e *Epoch) Next() (Batch, error) {
	start := time.Now()
	b, ok := <-e.batches
	e.wait += time.Since(start)
	switch {
	case ok:
		return b, b.err
	case e.ctx.Err() != nil:
		return b, context.Cause(e.ctx)
	}
	return b, io.EOF
}

// Close stops the prefetching and waits for its end.
func (e *Epoch) Close() {
	e.cancel()
	for b := range e.batches {
		b.Free()
	}
}

// Free frees the device memory.
func (b Batch) Free() {
	if b.Inputs != nil {
		b.Inputs.Free()
	}
}
