package feed

import (
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/augment"
	"github.com/ledg-go/ledg/ceg/seed"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// job is a range of units of work of a batch. Units number the slots of the
// labelled, the unlabelled and the reliable part, one after the other.
type job struct {
	batch  *Batch
	lo, hi int
}

// worker makes views. It keeps its memory between epochs.
type worker struct {
	src, dst rgb.Image
	maker    augment.Maker
}

func newWorker(l *Loader) *worker {
	return &worker{src: *rgb.New(l.size, l.size), dst: rgb.Image{Width: l.size, Height: l.size}}
}

// run does jobs until there are no more.
func (w *worker) run(e *Epoch) {
	for j := range e.jobs {
		for unit := j.lo; unit < j.hi && e.ctx.Err() == nil; unit++ {
			if err := w.unit(e, j.batch, unit); err != nil {
				j.batch.fail(unit, err)
			}
		}
		if j.batch.pending.Add(-1) == 0 {
			close(j.batch.ready)
		}
	}
}

// unit makes all views of one slot, from one reading of its image.
func (w *worker) unit(e *Epoch, b *Batch, unit int) error {
	r, slot := 0, unit
	for slot >= e.plan.draws[r].slots {
		slot -= e.plan.draws[r].slots
		r++
	}
	part := b.parts()[r]
	example := part.Example[slot]
	if err := read(e.loader.images, example, &w.src); err != nil {
		return err
	}
	image := len(w.src.Pix)
	into := func(view []uint8) *rgb.Image {
		w.dst.Pix = view[slot*image : (slot+1)*image : (slot+1)*image]
		return &w.dst
	}
	// An example can come up more than once in an epoch, so its views are told
	// apart by where they are used.
	stream := func(purpose string) *rand.Rand {
		return seed.New(e.loader.cfg.Seed, purpose+role(r).String(),
			uint64(e.number), uint64(b.Iteration), uint64(slot), uint64(example))
	}
	for i, v := range part.views {
		v.Make(&w.maker, into(part.pixels[i]), &w.src, stream(v.Name+" view "))
	}
	return nil
}
