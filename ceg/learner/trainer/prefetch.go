package trainer

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets/ahead"
	"github.com/ledg-go/ledg/datasets/seed"
)

// deviceBatch is a batch on the device.
type deviceBatch struct {
	inputs *learner.Inputs
	// unlabelled holds the indices of the unlabelled examples.
	unlabelled []int
}

// prefetch copies the batches of an epoch to the device, one ahead of the current step. The caller
// frees their inputs.
func (t *Trainer) prefetch(ctx context.Context, epoch *feed.Epoch, number int, stage learner.Stage) iter.Seq2[deviceBatch, error] {
	return ahead.Of(ctx, func(ctx context.Context, yield func(deviceBatch) bool) error {
		for from, err := range epoch.Batches(ctx) {
			if err != nil {
				return err
			}
			inputs, err := t.Learner.Upload(t.batch(number, from, stage), stage)
			if err != nil {
				return err
			}
			if !yield(deviceBatch{inputs, slices.Clone(from.Unlabelled.Example)}) {
				inputs.Free()
				break
			}
		}
		return nil
	})
}

// batch gathers what a step of the objective reads of a batch, and draws its random
// numbers, from streams that belong to the epoch and the iteration.
func (t *Trainer) batch(epoch int, from *feed.Batch, stage learner.Stage) learner.Batch {
	batch := learner.Batch{}
	bySubset := map[objective.Subset]*feed.SubBatch{
		objective.Labelled: &from.Labelled, objective.Unlabelled: &from.Unlabelled, objective.Reliable: &from.Reliable,
	}
	for _, in := range t.Objective.Inputs {
		sub := bySubset[in.Subset]
		switch {
		case len(sub.Example) == 0:
		case in.Content == objective.Pixels:
			batch[in.Name] = feed.Values(t.examples.DType(), sub.View(in.View.Name))
		case in.Content == objective.Prior:
			batch[in.Name] = t.prior
		case in.Content == objective.Label:
			batch[in.Name] = sub.Label
		default:
			batch[in.Name] = sub.Domain
		}
	}
	for _, w := range t.Objective.Draws {
		if w.With != objective.Reliable || stage.Reliable {
			r := seed.New(t.c.Seed, w.Stream, uint64(epoch), uint64(from.Iteration))
			maps.Copy(batch, w.Values(r, t.Learner.Dims()))
		}
	}
	return batch
}
