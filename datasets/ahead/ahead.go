// Package ahead reads or computes one value while the one before it is in use.
package ahead

import (
	"context"
	"iter"
)

// Of returns the values that produce yields. It runs on a goroutine of its own, at most one value
// ahead, so that two buffers in turn are enough, and returns once yield returns false. Its error,
// or the cause of a cancelled ctx, comes last, with a zero value. When the iteration ends, produce
// has returned.
func Of[T any](ctx context.Context, produce func(ctx context.Context, yield func(T) bool) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		values, ended := make(chan T), make(chan struct{})
		var err error
		go func() {
			defer close(ended)
			defer close(values)
			err = produce(ctx, func(v T) bool {
				select {
				case values <- v:
					return true
				case <-ctx.Done():
					return false
				}
			})
		}()
		defer func() { cancel(); <-ended }()
		for v := range values {
			if !yield(v, nil) {
				return
			}
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			yield(*new(T), err)
		}
	}
}
