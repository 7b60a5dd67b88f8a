package feed

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// EvalBatch is a batch of unaugmented images. It is valid until the next one is
// asked for.
type EvalBatch struct {
	// Start is the position of the first example in the list.
	Start int
	// Example holds the numbers of the images, at most the size of the batch.
	Example []int
	// Plain holds the images, 8-bit, [batch, size, size, 3] in row-major order,
	// whatever len(Example) is: the rest of the last batch is black.
	Plain []uint8
}

// EvalBatches returns the images of the examples in the given order, in batches of
// a fixed size, the last one padded; one batch is read ahead. An error ends the
// sequence, and comes with a nil batch: a batch below 1, an example that is not in
// the images, an image that cannot be read, the cancellation of ctx. The list of
// examples must not change meanwhile.
func EvalBatches(ctx context.Context, images Images, examples []int, batch int) iter.Seq2[*EvalBatch, error] {
	return func(yield func(*EvalBatch, error) bool) {
		if batch < 1 {
			yield(nil, fmt.Errorf("feed: evaluation batch of %d", batch))
			return
		}
		if i := slices.IndexFunc(examples, func(e int) bool { return e < 0 || e >= images.Len() }); i >= 0 {
			yield(nil, fmt.Errorf("feed: example %d is not in 0..%d", examples[i], images.Len()-1))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		type result struct {
			batch *EvalBatch
			err   error
		}
		free, ready := make(chan *EvalBatch, 2), make(chan result, 2)
		done := make(chan struct{})
		defer func() { cancel(); <-done }()
		for range cap(free) {
			free <- new(EvalBatch)
		}
		go func() {
			defer close(done)
			defer close(ready)
			for start := 0; start < len(examples); start += batch {
				select {
				case b := <-free:
					err := b.read(ctx, images, examples, start, batch)
					ready <- result{b, err} // never blocks: there is room for both batches
					if err != nil {
						return
					}
				case <-ctx.Done():
					return
				}
			}
		}()
		given := 0
		for r := range ready {
			if r.err != nil {
				yield(nil, r.err)
				return
			}
			given += len(r.batch.Example)
			if !yield(r.batch, nil) {
				return
			}
			free <- r.batch
		}
		if given < len(examples) {
			yield(nil, context.Cause(ctx))
		}
	}
}

// read fills b with the examples from start.
func (b *EvalBatch) read(ctx context.Context, images Images, examples []int, start, batch int) error {
	size := images.Size()
	image := 3 * size * size
	b.Start, b.Example = start, examples[start:min(start+batch, len(examples))]
	b.Plain = sized(b.Plain, batch*image)
	for i, e := range b.Example {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		dst := rgb.Image{Width: size, Height: size, Pix: b.Plain[i*image : (i+1)*image : (i+1)*image]}
		if err := read(images, e, &dst); err != nil {
			return err
		}
		if &dst.Pix[0] != &b.Plain[i*image] { // a Read may bring its own memory
			copy(b.Plain[i*image:], dst.Pix)
		}
	}
	clear(b.Plain[len(b.Example)*image:])
	return nil
}
