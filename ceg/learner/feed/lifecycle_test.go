package feed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ledg-go/ledg/internal/fatal"
)

// TestCloseEndsEverything relies on synctest, which fails a test that leaves a
// goroutine behind.
func TestCloseEndsEverything(t *testing.T) {
	for taken := range 5 {
		for _, release := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				images := &fakeImages{size: 4, n: 100, delay: func(int) time.Duration { return time.Millisecond }}
				l := newLoader(t, images, Config{Domains: names(3), Batch: 4, Workers: 3, Batches: 5})
				e := fatal.Get(l.Epoch(t.Context(), 0, allSubsets))(t)
				fatal.Says(t, fatal.Err(l.Epoch(t.Context(), 1, allSubsets)), "epoch 0 is still open")
				for range taken {
					b := fatal.Get(e.Next())(t)
					if release {
						b.Release()
					}
				}
				e.Close()
				e.Close()
				if _, err := e.Next(); err == nil {
					t.Error("Next after Close gives a batch")
				}
				take(t, l, 1, allSubsets, func(*Batch) {}) // the loader is usable again
			})
		}
	}
}

func TestCancelledContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		images := &fakeImages{size: 4, n: 100, delay: func(int) time.Duration { return time.Millisecond }}
		l := newLoader(t, images, Config{Domains: names(3), Batch: 4, Workers: 2})
		cause := errors.New("stopped by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		e := fatal.Get(l.Epoch(ctx, 0, allSubsets))(t)
		defer e.Close()
		b := fatal.Get(e.Next())(t)
		b.Release()
		go func() {
			time.Sleep(5 * time.Millisecond)
			cancel(cause)
		}()
		var err error
		for k := 0; k < 3 && err == nil; k++ {
			_, err = e.Next()
		}
		if err != cause {
			t.Errorf("error %v, want %v", err, cause)
		}
	})
}

// After a cancellation workers stop in the middle of a batch, which must not be
// handed out, however Next and the cancellation interleave.
func TestNoHalfBatchAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		images := &fakeImages{size: 4, n: 100, delay: func(int) time.Duration { return time.Millisecond }}
		l := newLoader(t, images, Config{Domains: names(3), Batch: 4, Workers: 2})
		for epoch := range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			e := fatal.Get(l.Epoch(ctx, epoch, allSubsets))(t)
			time.Sleep(12 * time.Millisecond)
			cancel()
			time.Sleep(time.Second)
			if b, err := e.Next(); err != context.Canceled {
				t.Fatalf("batch %v and error %v after the cancellation", b != nil, err)
			}
			e.Close()
		}
	})
}

func TestHoldingEveryBatch(t *testing.T) {
	l := newLoader(t, &fakeImages{size: 4, n: 100}, Config{Domains: names(3), Batch: 4, Batches: 2})
	e := fatal.Get(l.Epoch(t.Context(), 0, allSubsets))(t)
	defer e.Close()
	first, err1 := e.Next()
	second, err2 := e.Next()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if _, err := e.Next(); err != errHeld {
		t.Errorf("third batch: error %v, want %v", err, errHeld)
	}
	one := sum(first)
	second.Release()
	if b, err := e.Next(); err != nil || b.Iteration != 2 {
		t.Errorf("after a release: %v, %v", b, err)
	}
	if sum(first) != one {
		t.Error("a held batch was overwritten")
	}
	defer func() {
		if recover() == nil {
			t.Error("a second Release does not panic")
		}
	}()
	first.Release()
	first.Release()
}
