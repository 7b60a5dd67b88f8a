package ceg

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/seed"
)

// uploader brings the batches of an epoch to the device, one ahead of the step
// that computes, so that neither loading nor copying keeps the device idle. It is
// used by one goroutine and owns the epoch.
type uploader struct {
	batches <-chan uploaded
	cancel  context.CancelFunc
	ctx     context.Context
	// wait is the time that next blocked.
	wait time.Duration
}

// uploaded is a batch on the device.
type uploaded struct {
	inputs    *learner.Inputs
	iteration int
	// unlabelled has the numbers of the unlabelled examples.
	unlabelled []int
	err        error
}

// batch gathers what a step of the objective reads of a batch, and draws its random
// numbers, from streams that belong to the epoch and the iteration.
func (t *trainer) batch(epoch int, from *feed.Batch, stage learner.Stage) learner.Batch {
	batch := learner.Batch{}
	parts := map[objective.Pool]*feed.Part{
		objective.Labelled: &from.Labelled, objective.Unlabelled: &from.Unlabelled, objective.Reliable: &from.Reliable,
	}
	for _, in := range t.objective.Inputs {
		part := parts[in.Pool]
		switch {
		case len(part.Example) == 0:
		case in.Content == objective.Pixels:
			batch[in.Name] = feed.Values(t.examples.DType(), part.View(in.View.Name))
		case in.Content == objective.Label:
			batch[in.Name] = part.Label
		default:
			batch[in.Name] = part.Domain
		}
	}
	for _, w := range t.objective.Draws {
		if w.With != objective.Reliable || stage.Reliable {
			r := seed.New(t.seed, w.Stream, uint64(epoch), uint64(from.Iteration))
			maps.Copy(batch, w.Values(r, t.learner.Dims()))
		}
	}
	return batch
}

// upload starts an epoch of the loader: its number, and what it draws from.
func (t *trainer) upload(ctx context.Context, number int, pools feed.Pools) (u *uploader, steps int, err error) {
	stage := learner.Stage{Reliable: len(pools.Reliable.Views) > 0, Phase: t.phase(number)}
	ctx, cancel := context.WithCancel(ctx)
	epoch, err := t.examples.loader.Epoch(ctx, number, pools)
	if err != nil {
		cancel()
		return nil, 0, err
	}
	batches := make(chan uploaded)
	go func() {
		defer close(batches)
		defer epoch.Close()
		for {
			from, err := epoch.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			up := uploaded{err: err}
			if err == nil {
				up.iteration, up.unlabelled = from.Iteration, slices.Clone(from.Unlabelled.Example)
				up.inputs, up.err = t.learner.Upload(t.batch(number, from, stage), stage)
				from.Release()
			}
			select {
			case batches <- up:
			case <-ctx.Done():
				up.free()
				return
			}
			if up.err != nil {
				return
			}
		}
	}()
	return &uploader{batches: batches, cancel: cancel, ctx: ctx}, epoch.Len(), nil
}

// next returns the next batch, which the caller must free, or io.EOF.
func (u *uploader) next() (uploaded, error) {
	start := time.Now()
	up, ok := <-u.batches
	u.wait += time.Since(start)
	switch {
	case ok:
		return up, up.err
	case u.ctx.Err() != nil:
		return up, context.Cause(u.ctx)
	}
	return up, io.EOF
}

// close stops the work and waits for its end.
func (u *uploader) close() {
	u.cancel()
	for up := range u.batches {
		up.free()
	}
}

func (up uploaded) free() {
	if up.inputs != nil {
		up.inputs.Free()
	}
}
