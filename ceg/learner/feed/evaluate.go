package feed

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets/ahead"
)

// EvalBatch is a batch of plain views. It is valid until the next iteration.
type EvalBatch struct {
	// Start is the position of the first example in the list.
	Start int
	// Example holds the indices of the examples, at most the batch size.
	Example []int
	// Plain holds the rows of the source: for images 8-bit, [batch, size, size, 3], row-major;
	// see [Values]. It always has batch rows; those after len(Example) are zero.
	Plain []byte
}

// EvalBatches returns plain views of the examples in the given order, in batches of a fixed
// size, the last one padded; it prefetches one batch. An error comes with a nil batch and ends
// the sequence: a batch size below 1, an unknown or unreadable example, or a cancelled ctx. The
// list of examples must not change during the iteration.
func EvalBatches(ctx context.Context, source Source, examples []int, batch int) iter.Seq2[*EvalBatch, error] {
	return func(yield func(*EvalBatch, error) bool) {
		if batch < 1 {
			yield(nil, fmt.Errorf("feed: evaluation batch of %d", batch))
			return
		}
		if i := slices.IndexFunc(examples, func(e int) bool { return e < 0 || e >= source.Len() }); i >= 0 {
			yield(nil, fmt.Errorf("feed: example %d is not in 0..%d", examples[i], source.Len()-1))
			return
		}
		with, row := source.Reader(), RowBytes(source)
		var buffers [2]EvalBatch
		for b, err := range ahead.Of(ctx, func(ctx context.Context, yield func(*EvalBatch) bool) error {
			for start := 0; start < len(examples); start += batch {
				b := &buffers[start/batch%2]
				if err := b.read(ctx, with, row, examples, start, batch); err != nil {
					return err
				}
				if !yield(b) {
					break
				}
			}
			return nil
		}) {
			if !yield(b, err) {
				return
			}
		}
	}
}

// read fills b with the examples from start.
func (b *EvalBatch) read(ctx context.Context, with Reader, row int, examples []int, start, batch int) error {
	b.Start, b.Example = start, examples[start:min(start+batch, len(examples))]
	b.Plain = sized(b.Plain, batch*row)
	for i, e := range b.Example {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := with.Read(e); err != nil {
			return err
		}
		if err := with.View(augment.PlainView, b.Plain[i*row:(i+1)*row:(i+1)*row], nil); err != nil {
			return err
		}
	}
	clear(b.Plain[len(b.Example)*row:])
	return nil
}
