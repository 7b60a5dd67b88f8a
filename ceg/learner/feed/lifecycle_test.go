package feed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// TestBreakEndsEverything relies on synctest, which fails a test that leaves a
// goroutine behind.
func TestBreakEndsEverything(t *testing.T) {
	for taken := range 5 {
		synctest.Test(t, func(t *testing.T) {
			images := &fakeImages{size: 4, n: 100, delay: func(int) time.Duration { return time.Millisecond }}
			l := newLoader(t, images, Config{Domains: names(3), Batch: 4, Workers: 3, Batches: 5})
			n := 0
			for range fatal.Get(l.Epoch(0, allSubsets))(t).Batches(t.Context()) {
				if n++; n > taken {
					break
				}
			}
			take(t, l, 1, allSubsets, func(*Batch) {}) // the loader is usable again
		})
	}
}

// After a cancellation workers stop in the middle of a batch, which must not be handed out.
func TestCancelledContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		images := &fakeImages{size: 4, n: 100, delay: func(int) time.Duration { return time.Millisecond }}
		l := newLoader(t, images, Config{Domains: names(3), Batch: 4, Workers: 2})
		cause := errors.New("stopped by the user")
		for epoch := range 50 {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			n := 0
			var last error
			for b, err := range fatal.Get(l.Epoch(epoch, allSubsets))(t).Batches(ctx) {
				if last = err; n == 1 && err == nil {
					t.Errorf("batch %d after the cancellation", b.Iteration)
				}
				if n++; n == 1 {
					time.Sleep(12 * time.Millisecond) // the second batch is half made, or whole
					cancel(cause)
					time.Sleep(time.Second)
				}
			}
			if last != cause {
				t.Fatalf("error %v, want %v", last, cause)
			}
		}
	})
}
