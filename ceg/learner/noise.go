package learner

import (
	"maps"

	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets/seed"
)

// RandomBatch returns a fixed batch of random pixels, classes and draws with every input of any
// stage, for benchmarks and tests.
func (l *Learner) RandomBatch() Batch {
	d := l.Dims()
	b := Batch{}
	for _, in := range l.o.Objective.Inputs {
		r := seed.New(1, "benchmark "+in.Name)
		switch in.Content {
		case objective.Pixels:
			v := make([]uint8, d.Batch()*d.ImageSize*d.ImageSize*3)
			for i := range v {
				v[i] = uint8(r.UintN(256))
			}
			b[in.Name] = v
		case objective.Label:
			v := make([]int32, d.Batch())
			for i := range v {
				v[i] = int32(r.IntN(d.Classes))
			}
			b[in.Name] = v
		default:
			v := make([]int32, d.Batch())
			for i := range v {
				v[i] = int32(i / d.PerDomain)
			}
			b[in.Name] = v
		}
	}
	for _, w := range l.o.Objective.Draws {
		maps.Copy(b, w.Values(seed.New(1, "benchmark "+w.Stream), d))
	}
	return b
}

// Forwards returns the number of images that a step passes through its networks: as compiled,
// and as the method states it. Both are 0 for a stage that is not compiled.
func (l *Learner) Forwards(stage Stage) (done, method int) {
	if s := l.steps[stage]; s != nil {
		return s.done, s.method
	}
	return 0, 0
}
