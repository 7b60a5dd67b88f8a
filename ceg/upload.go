package ceg

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/learner"
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
	// unlabelled has the numbers of the unlabelled images.
	unlabelled []int
	err        error
}

// newUploader starts an epoch of the loader.
func newUploader(ctx context.Context, loader *feed.Loader, number int, pools feed.Pools, l *learner.Learner) (u *uploader, steps int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	epoch, err := loader.Epoch(ctx, number, pools)
	if err != nil {
		cancel()
		return nil, 0, err
	}
	batches := make(chan uploaded)
	go func() {
		defer close(batches)
		defer epoch.Close()
		for {
			b, err := epoch.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			up := uploaded{err: err}
			if err == nil {
				up.iteration, up.unlabelled = b.Iteration, slices.Clone(b.Unlabelled.Example)
				up.inputs, up.err = l.Upload(toBatch(b), pools.Reliable.Views != 0)
				b.Release()
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
