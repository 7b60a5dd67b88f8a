package feed

import (
	"math/rand/v2"

	"github.com/ledg-go/ledg/datasets/seed"
)

// job is a range of units of work of a batch. Units number the slots of the
// labelled, the unlabelled and the reliable part, one after the other.
type job struct {
	batch  *Batch
	lo, hi int
}

// work does jobs until there are no more.
func (e *Epoch) work(with Reader) {
	for j := range e.jobs {
		for unit := j.lo; unit < j.hi && e.ctx.Err() == nil; unit++ {
			if err := e.unit(with, j.batch, unit); err != nil {
				j.batch.fail(unit, err)
			}
		}
		if j.batch.pending.Add(-1) == 0 {
			close(j.batch.ready)
		}
	}
}

// unit makes all views of one slot, from one reading of its example.
func (e *Epoch) unit(with Reader, b *Batch, unit int) error {
	r, slot := 0, unit
	for slot >= e.plan.draws[r].slots {
		slot -= e.plan.draws[r].slots
		r++
	}
	sub := b.byRole()[r]
	example := sub.Example[slot]
	if err := with.Read(example); err != nil {
		return err
	}
	row := e.loader.row
	// An example can occur more than once in an epoch, so its views are identified by their
	// slots.
	stream := func(purpose string) *rand.Rand {
		return seed.New(e.loader.cfg.Seed, purpose+role(r).String(),
			uint64(e.number), uint64(b.Iteration), uint64(slot), uint64(example))
	}
	for i, v := range sub.views {
		if err := with.View(v, sub.rows[i][slot*row:(slot+1)*row:(slot+1)*row], stream(v.Name+" view ")); err != nil {
			return err
		}
	}
	return nil
}
