package learner

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
)

// TestStepsStayOnTheDevice counts how often a network is built for compilation,
// and looks where the results of steps are: they must not come to the host before
// somebody asks.
func TestStepsStayOnTheDevice(t *testing.T) {
	o := authorsOptions(nets.SmallCNN(4, nets.MeanPool), 16)
	o.PerDomain = 2
	l, err := New(enginetest.Open(t), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	compiled, build := 0, l.build
	l.build = func(b nets.Backbone, params map[string]*graph.Node, passes []nets.Pass, train bool) nets.Features {
		compiled++
		return build(b, params, passes, train)
	}
	const images = 5
	if d, err := l.Compile(images); err != nil || d <= 0 {
		t.Fatalf("compiled in %v, %v", d, err)
	}
	once := compiled
	batch := randomBatch(o)
	in, err := l.Upload(batch, true)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Free()
	for range 3 {
		if _, err := l.Step(batch, BenchRates, false); err != nil {
			t.Fatal(err)
		}
		out, err := l.StepOn(in, BenchRates)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range [][]*tensors.Tensor{l.weights, l.velocity, in.tensors, {out.values, out.label, out.mask}} {
			for i, x := range list {
				if x.HasLocal() || !x.IsOnAnyDevice() {
					t.Errorf("tensor %d, %s, was brought to the host", i, x.Shape())
				}
			}
		}
		if _, err := l.Predict(make([]uint8, images*16*16*3)); err != nil {
			t.Fatal(err)
		}
	}
	if compiled != once {
		t.Errorf("networks were built %d times for compilation, want the %d of Compile", compiled, once)
	}
}

// TestUploadedBatchesCompute checks that a batch on the device may be used again,
// and gives what the batch itself does.
func TestUploadedBatchesCompute(t *testing.T) {
	o := authorsOptions(nets.SmallCNN(4, nets.MeanPool), 16)
	o.PerDomain = 2
	b := enginetest.Open(t)
	batch := randomBatch(o)
	var losses [2][2]Losses
	for i := range losses {
		l, err := New(b, o, 1)
		if err != nil {
			t.Fatal(err)
		}
		in, err := l.Upload(batch, true)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Free()
		for step := range losses[i] {
			var out Outcome
			if i == 0 {
				out, err = l.Step(batch, BenchRates, true)
			} else {
				out, err = l.StepOn(in, BenchRates)
			}
			if err != nil {
				t.Fatal(err)
			}
			if losses[i][step], err = out.Losses(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for step, want := range losses[0] {
		// A GPU adds up in any order.
		if got := losses[1][step]; math.Abs(got.SS-want.SS) > 1e-5*want.SS {
			t.Errorf("step %d: got losses %+v from an uploaded batch, want %+v", step, got, want)
		}
	}
	batch.UStrong = batch.UStrong[1:]
	l, err := New(b, o, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Upload(batch, true); err == nil || err.Error() != "training step: unlabelled strong views have 4607 values, want [6 16 16 3]" {
		t.Errorf("a short batch: error %v", err)
	}
}

// TestLoweringsAgree takes two steps of the published method, whose passes have
// BatchNorm statistics of their own, with and without gradients, in both forms of
// the network: float32 sums in another order.
func TestLoweringsAgree(t *testing.T) {
	for _, target := range []TargetPass{UpdateStats, FrozenStats} {
		o := authorsOptions(goldenNet, 8)
		o.PerDomain, o.TargetPass = 4, target
		b := enginetest.Open(t)
		batch := randomBatch(o)
		var losses [2]Losses
		var states [2]State
		for i, fast := range []bool{true, false} {
			b.FastConv = fast
			l, err := New(b, o, 1)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				out, err := l.Step(batch, BenchRates, true)
				if err != nil {
					t.Fatal(err)
				}
				if losses[i], err = out.Losses(); err != nil {
					t.Fatal(err)
				}
			}
			if states[i], err = l.State(); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				continue
			}
			if d := math.Abs(losses[1].SS - losses[0].SS); d > 1e-4 {
				t.Errorf("target pass %s: loss %v, want %v", target, losses[1].SS, losses[0].SS)
			}
			for j, p := range l.Params() {
				within(t, fmt.Sprintf("target pass %s: %s", target, p.Name), states[1].Weights[j], states[0].Weights[j], 1e-5, 1e-5)
			}
		}
	}
}
