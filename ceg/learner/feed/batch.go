package feed

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Batch holds the examples of one training step. It is valid until the next one; then the Loader
// overwrites it.
type Batch struct {
	// Iteration counts from 0 within the epoch.
	Iteration int
	// Labelled, Unlabelled and Reliable are the parts of the batch from the three subsets; a
	// subset without Views gives an empty part.
	Labelled, Unlabelled, Reliable SubBatch

	// Work in progress: chunks not yet done, and the error of the lowest unit.
	pending atomic.Int32
	ready   chan struct{}
	mu      sync.Mutex
	err     error
	errUnit int
}

// SubBatch is one subset's part of a batch: N = K*Config.Batch slots.
type SubBatch struct {
	// Example holds the index of the example in each slot, [N].
	Example []int
	// Domain holds the source domain of the example in each slot, [N].
	Domain []int32
	// Label holds the class or pseudo-label of each slot, [N]; nil for the
	// unlabelled subset.
	Label []int32

	views []augment.View
	// rows holds the views of the same examples.
	rows [][]byte
}

// View returns a view of the examples by name, N rows of the source: for images 8-bit, [N, size,
// size, 3], row-major; see [Values]. It is nil if the subset has no such view.
func (p *SubBatch) View(name string) []byte {
	for i, v := range p.views {
		if v.Name == name {
			return p.rows[i]
		}
	}
	return nil
}

// byRole returns the draws in the order of their subsets' roles.
func (b *Batch) byRole() [roles]*SubBatch {
	return [roles]*SubBatch{labelled: &b.Labelled, unlabelled: &b.Unlabelled, reliable: &b.Reliable}
}

// fill sets everything but the views of the batch for an iteration.
func (b *Batch) fill(e *Epoch, iteration int) {
	b.Iteration = iteration
	b.ready = make(chan struct{})
	b.err = nil
	for r, sub := range b.byRole() {
		subset, d := e.subsets[r], &e.plan.draws[r]
		sub.Example, sub.Domain, sub.Label = sub.Example[:0], sub.Domain[:0], sub.Label[:0]
		for _, at := range d.at[iteration*d.slots : (iteration+1)*d.slots] {
			sub.Example = append(sub.Example, subset.Example[at])
			sub.Domain = append(sub.Domain, int32(subset.Domain[at]))
			if role(r) != unlabelled {
				sub.Label = append(sub.Label, int32(subset.Label[at]))
			}
		}
		sub.views = subset.Views
		sub.rows = slices.Grow(sub.rows[:0], len(subset.Views))[:len(subset.Views)]
		for i := range sub.rows {
			sub.rows[i] = sized(sub.rows[i], d.slots*e.loader.row)
		}
	}
}

// sized returns n bytes, reusing s if it is large enough.
func sized(s []byte, n int) []byte {
	if cap(s) < n {
		return make([]byte, n)
	}
	return s[:n]
}

// fail records the error of a unit of work; the lowest unit's counts, so the reported error does
// not depend on timing.
func (b *Batch) fail(unit int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil || unit < b.errUnit {
		b.err, b.errUnit = err, unit
	}
}
