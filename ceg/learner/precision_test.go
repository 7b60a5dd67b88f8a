package learner

import (
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// TestBFloat16TrainsFloat32Weights trains two small networks for three steps in
// float32 and in bfloat16. bfloat16 keeps 8 bits, so that a value is off by up to
// 1/512 of itself; over four layers of sums the losses stay within 1e-3 of each
// other. The weights' steps are about 1e-4 of the weights: were the weights
// rounded to bfloat16 most steps would vanish or be several times too large, and
// so the way that each kernel has gone must agree within a fifth.
func TestBFloat16TrainsFloat32Weights(t *testing.T) {
	b := enginetest.Open(t)
	b.Kind = engine.XLA
	o := authorsOptions(nets.SmallCNN(8, config.MeanPool), 32)
	o.PerDomain = 4
	const steps = 3
	var losses [2][steps]float64
	var moved [2][][]float64 // for every parameter
	for i, p := range []config.Precision{config.Float32, config.BFloat16} {
		o.Precision = p
		l := fatal.Get(New(b, o, 1))(t)
		batch := l.RandomBatch()
		start := fatal.Get(l.State())(t)
		for step := range steps {
			out := fatal.Get(l.Step(batch, published, mixing))(t)
			losses[i][step] = loss(t, out)
		}
		end := fatal.Get(l.State())(t)
		for j, w := range end.Weights {
			d := make([]float64, len(w))
			for k := range w {
				d[k] = float64(w[k]) - float64(start.Weights[j][k])
			}
			moved[i] = append(moved[i], d)
		}
	}
	for step := range steps {
		want, got := losses[0][step], losses[1][step]
		if d := math.Abs(got - want); !(d <= 1e-3*want) || d == 0 {
			t.Errorf("step %d: loss %v in bfloat16, want %v but for rounding", step, got, want)
		}
	}
	params, _ := fatal.Get2(nets.Params(o.Backbone, o.ImageSize))(t)
	for j, p := range params {
		var difference, length float64
		for k, want := range moved[0][j] {
			difference += (moved[1][j][k] - want) * (moved[1][j][k] - want)
			length += want * want
		}
		if d := math.Sqrt(difference / length); !(d <= 0.2) {
			t.Errorf("%s went another way in bfloat16: off by %.0f%%", p.Name, 100*d)
		}
	}
}

func TestBFloat16IsRefusedByTheGoBackend(t *testing.T) {
	o := authorsOptions(nets.SmallCNN(8, config.MeanPool), 32)
	o.Precision = config.BFloat16
	b := fatal.Get(engine.Open("go"))(t)
	defer b.Close()
	const want = "precision bfloat16 needs XLA, and this is backend go"
	fatal.Says(t, fatal.Err(New(b, o, 1)), want)
	fatal.Says(t, fatal.Err(Open(config.BFloat16, "go", engine.Work{})), want)
}
