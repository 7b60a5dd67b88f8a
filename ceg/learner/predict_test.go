package learner

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Predictions use the current weights: after a step, after others were set, and for batches of
// another size.
func TestPredictionsFollowTheWeights(t *testing.T) {
	b := fatal.Get(engine.Open("go"))(t)
	defer b.Close()
	o := authorsOptions(nets.SmallCNN(24, config.MeanPool), 16)
	o.PerDomain = 2
	open := func() *Learner {
		l := fatal.Get(New(b, o, 1))(t)
		t.Cleanup(l.Close)
		return l
	}
	l := open()
	const one = 16 * 16 * 3
	views := make([]uint8, 6*one)
	for i := range views {
		views[i] = uint8(i * 31)
	}
	predict := func(l *Learner, n int) []float32 {
		t.Helper()
		p := fatal.Get(l.Predict(views[:n*one]))(t)
		return p.ClassLogits
	}
	// fresh are the predictions of a learner that has only ever had these weights.
	fresh := func(n int) []float32 {
		t.Helper()
		s := fatal.Get(l.State())(t)
		other := open()
		fatal.If(t, other.SetState(s))
		return predict(other, n)
	}
	check := func(when string, n int) []float32 {
		t.Helper()
		got := predict(l, n)
		if !slices.Equal(got, fresh(n)) {
			t.Errorf("%s: predictions of other weights", when)
		}
		return got
	}
	before := fatal.Get(l.State())(t)
	first := check("at first", 4)
	check("another batch size", 6)
	check("the first again", 4)
	fatal.Get(l.Step(l.RandomBatch(), published, mixing))(t)
	if slices.Equal(check("after a step", 4), first) {
		t.Error("a step changes nothing")
	}
	fatal.If(t, l.SetState(before))
	if !slices.Equal(check("set back", 4), first) {
		t.Error("the weights are back, the predictions are not")
	}
}
