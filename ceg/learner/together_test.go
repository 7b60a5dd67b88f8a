package learner

import (
	"fmt"
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// TestLearnersSideBySide trains at the same time on backends that are opened and closed meanwhile,
// as the jobs of a study do: each has the same losses, but for rounding on a GPU, where
// repeated steps may differ.
func TestLearnersSideBySide(t *testing.T) {
	tolerance, b := 0., enginetest.Open(t)
	if b.Kind == engine.XLA {
		tolerance = 1e-2
	}
	losses := make([][2]float64, 3)
	t.Run("jobs", func(t *testing.T) {
		for k := range losses {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				t.Parallel()
				for i := range losses[k] {
					b := fatal.Get(engine.Open(enginetest.Spec()))(t)
					l := fatal.Get(New(b, authorsOptions(nets.SmallCNN(8, config.MeanPool), 16), 1))(t)
					batch := l.RandomBatch()
					for range 20 {
						out := fatal.Get(l.Step(batch, published, mixing))(t)
						losses[k][i] = loss(t, out)
					}
					l.Close()
					b.Close()
				}
			})
		}
	})
	for k, of := range losses {
		for i, got := range of {
			if want := losses[0][0]; !(math.Abs(got-want) <= tolerance*want && got > 0) {
				t.Errorf("job %d, run %d: loss %v, want %v", k, i, got, want)
			}
		}
	}
}
