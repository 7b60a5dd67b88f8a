package feed

import (
	"context"
	"io"
	"sync"
)

// Epoch is a running epoch, whose batches are computed ahead of Next. It is for the use of one
// goroutine.
type Epoch struct {
	loader  *Loader
	number  int
	subsets [roles]*Subset
	plan    plan

	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	free   chan *Batch // to be filled
	order  chan *Batch // being filled, in order
	jobs   chan job

	next   int // the iteration that Next returns
	held   int // batches that the consumer has not released
	err    error
	closed bool
}

// start launches the planner and the workers.
func (e *Epoch) start(ctx context.Context) {
	l := e.loader
	e.ctx, e.cancel = context.WithCancel(ctx)
	e.free = make(chan *Batch, len(l.batches))
	e.order = make(chan *Batch, len(l.batches))
	e.jobs = make(chan job)
	for _, b := range l.batches {
		b.owner = nil
		e.free <- b
	}
	e.wait.Go(e.dispatch)
	for _, r := range l.readers {
		e.wait.Go(func() { e.work(r) })
	}
}

// chunk is the number of units of work that a worker takes at a time: few enough to spread one
// batch over the workers, enough to make the hand-over cheap.
const chunk = 8

// dispatch fills batches in order and cuts their views into jobs. It alone closes
// the jobs, which ends the workers.
func (e *Epoch) dispatch() {
	defer close(e.jobs)
	units := 0
	for _, d := range e.plan.draws {
		units += d.slots
	}
	for t := range e.plan.iterations {
		var b *Batch
		select {
		case b = <-e.free:
		case <-e.ctx.Done():
			return
		}
		b.fill(e, t)
		b.pending.Store(int32((units + chunk - 1) / chunk))
		if units == 0 {
			close(b.ready)
		}
		e.order <- b // never blocks: there is room for every batch
		for lo := 0; lo < units; lo += chunk {
			select {
			case e.jobs <- job{b, lo, min(lo+chunk, units)}:
			case <-e.ctx.Done():
				return
			}
		}
	}
}

// Len returns the number of batches in the epoch.
func (e *Epoch) Len() int { return e.plan.iterations }

// Next returns the next batch, waiting until it is ready, and io.EOF after the last one. An
// unreadable image is an error, and so is a call while all batches are in use. After a read
// error or a cancelled context, Next keeps returning that error.
func (e *Epoch) Next() (*Batch, error) {
	switch {
	case e.err != nil:
		return nil, e.err
	case e.next == e.plan.iterations:
		return nil, io.EOF
	case e.closed:
		return nil, context.Canceled
	case e.held == len(e.loader.batches):
		return nil, errHeld
	}
	b, err := e.receive()
	if err != nil {
		e.err = err
		e.cancel()
		return nil, err
	}
	e.next++
	e.held++
	b.owner = e
	return b, nil
}

// receive waits for the next batch in order to be complete.
func (e *Epoch) receive() (*Batch, error) {
	var b *Batch
	select {
	case b = <-e.order:
	case <-e.ctx.Done():
		return nil, context.Cause(e.ctx)
	}
	select {
	case <-b.ready:
	case <-e.ctx.Done():
	}
	if e.ctx.Err() != nil { // even if ready: workers that stop early leave views unmade
		return nil, context.Cause(e.ctx)
	}
	return b, b.err
}

// Close stops the workers, waits for them, and allows the loader to start another epoch. It may
// be called at any time and repeatedly. Unreleased batches must not be used or released once the
// next epoch has started.
func (e *Epoch) Close() {
	if e.closed {
		return
	}
	e.closed = true
	e.cancel()
	e.wait.Wait()
	e.loader.open = nil
}
