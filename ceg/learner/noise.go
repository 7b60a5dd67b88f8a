package learner

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
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
			if n := l.o.Backbone.Vector; n > 0 {
				b[in.Name] = nets.Param{Name: in.Name, Shape: []int{d.Batch(), n}, Kind: nets.Normal, SD: 1}.Init(1)
				continue
			}
			v := make([]uint8, d.Batch()*d.ImageSize*d.ImageSize*3)
			for i := range v {
				v[i] = uint8(r.UintN(256))
			}
			b[in.Name] = v
		case objective.Prior:
			b[in.Name] = make([]float32, d.Classes)
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

// Independent returns an error if the features of a random example depend on the others of its batch.
func (l *Learner) Independent() error {
	b := l.RandomBatch()
	i := slices.IndexFunc(l.o.Objective.Inputs, func(in objective.Input) bool { return in.Content == objective.Pixels })
	if i < 0 || l.o.Domains*l.o.PerDomain < 2 {
		return nil // there are no others
	}
	views := b[l.o.Objective.Inputs[i].Name]
	p, err := l.Predict(views)
	if err != nil {
		return err
	}
	switch v := views.(type) { // others follow the first
	case []uint8:
		copy(v[len(v)/2:], v)
	case []float32:
		copy(v[len(v)/2:], v)
	}
	q, err := l.Predict(views)
	if err != nil {
		return err
	}
	for i, x := range p.Features[:l.features] {
		if d := math.Abs(float64(x - q.Features[i])); !(d <= 1e-3*max(1, math.Abs(float64(x)))) {
			return fmt.Errorf("network %s: the features of an example depend on the others of its batch (%v becomes %v), which differ in training and in evaluation: normalise each by itself", l.o.Backbone.Name, x, q.Features[i])
		}
	}
	return nil
}

// Forwards returns the number of images that a step passes through its networks: as compiled,
// and as the method states it. Both are 0 for a stage that is not compiled.
func (l *Learner) Forwards(stage Stage) (done, method int) {
	if s := l.steps[stage]; s != nil {
		return s.done, s.method
	}
	return 0, 0
}
