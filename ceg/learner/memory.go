package learner

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
)

// String describes network and data in a few words.
func (o Options) String() string {
	if o.Backbone.Vector > 0 {
		return fmt.Sprintf("training %s on %d vectors a domain and batch", o.Backbone.Name, o.PerDomain)
	}
	return fmt.Sprintf("training %s on %d images a domain and batch, of %d pixels a side,", o.Backbone.Name, o.PerDomain, o.ImageSize)
}

// least returns a number of bytes of the main memory below what the learner takes: every parameter
// as it is made and as the backend has it, the momentum, and the images of a batch; and where a
// CPU trains, what the way back through the labelled images needs of the way there. The rest of a
// step's memory depends on the backend; it is several times that.
func (l *Learner) least() float64 {
	bytes := 0.
	for _, p := range l.params {
		bytes += 8 * float64(p.Size())
		if p.Trained() {
			bytes += 4 * float64(p.Size())
		}
	}
	dtype, row := l.row()
	image := float64(dtype.Size())
	for _, n := range row {
		image *= float64(n)
	}
	if l.backend.Kind != engine.XLA && l.o.Objective.Fit == nil {
		number := 4.
		if l.o.Precision == config.BFloat16 {
			number = 2
		}
		sizes := nets.MapSizesOf(l.o.computed(), l.o.side())
		image += number * float64(max(sizes.Inputs, sizes.Largest))
	}
	return bytes + float64(l.o.Domains)*float64(l.o.PerDomain)*image
}
