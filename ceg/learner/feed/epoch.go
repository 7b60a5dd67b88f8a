package feed

import (
	"context"
	"iter"
	"sync"
)

// Epoch is a planned epoch.
type Epoch struct {
	loader  *Loader
	number  int
	subsets [roles]*Subset
	plan    plan

	// Of Batches at work:
	ctx   context.Context
	free  chan *Batch // to be filled
	order chan *Batch // being filled, in order
	jobs  chan job
}

// Len returns the number of batches in the epoch.
func (e *Epoch) Len() int { return e.plan.iterations }

// Batches returns the batches in order. The loader's workers compute them ahead; each is valid
// until the next iteration, and epochs of one loader must not overlap. An unreadable image ends
// the sequence with an error, and so does a cancelled ctx with its cause.
func (e *Epoch) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		l := e.loader
		var workers sync.WaitGroup
		defer workers.Wait()
		var cancel context.CancelFunc
		e.ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		e.free, e.order, e.jobs = make(chan *Batch, len(l.batches)), make(chan *Batch, len(l.batches)), make(chan job)
		for _, b := range l.batches {
			e.free <- b
		}
		workers.Go(e.dispatch)
		for _, r := range l.readers {
			workers.Go(func() { e.work(r) })
		}
		for range e.Len() {
			b, err := e.receive()
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
			e.free <- b // never blocks: there is room for every batch
		}
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
