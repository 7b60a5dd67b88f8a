package learner

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// loss returns the value of the loss that a step minimised first.
func loss(t *testing.T, out Outcome) float64 {
	t.Helper()
	terms := fatal.Get(out.Terms())(t)
	return out.Loss(terms)
}

// TestStepsStayOnTheDevice counts how often a network is built for compilation,
// and looks where the results of steps are: they must not come to the host before
// somebody asks.
func TestStepsStayOnTheDevice(t *testing.T) {
	o := authorsOptions(nets.SmallCNN(4, config.MeanPool), 16)
	o.PerDomain = 2
	l := fatal.Get(New(enginetest.Open(t), o, 1))(t)
	compiled, build := 0, l.build
	l.build = func(b nets.Backbone, params map[string]*graph.Node, passes []nets.Pass, train bool) nets.Features {
		compiled++
		return build(b, params, passes, train)
	}
	const images = 5
	if d, err := l.Compile(images, Stage{}, mixing); err != nil || d <= 0 {
		t.Fatalf("compiled in %v, %v", d, err)
	}
	once := compiled
	batch := l.RandomBatch()
	in := fatal.Get(l.Upload(batch, mixing))(t)
	defer in.Free()
	for range 3 {
		fatal.Get(l.Step(batch, published, Stage{}))(t)
		out := fatal.Get(l.StepOn(in, published))(t)
		var inputs []*tensors.Tensor
		for _, u := range in.arrays {
			inputs = append(inputs, u.tensor)
		}
		for _, list := range [][]*tensors.Tensor{l.weights, l.velocity, inputs, {out.values, out.label, out.mask}} {
			for i, x := range list {
				if x.HasLocal() || !x.IsOnAnyDevice() {
					t.Errorf("tensor %d, %s, was brought to the host", i, x.Shape())
				}
			}
		}
		fatal.Get(l.Predict(make([]uint8, images*16*16*3)))(t)
	}
	if compiled != once {
		t.Errorf("networks were built %d times for compilation, want the %d of Compile", compiled, once)
	}
}

// TestUploadedBatchesCompute checks that a batch on the device may be used again,
// and gives what the batch itself does.
func TestUploadedBatchesCompute(t *testing.T) {
	o := authorsOptions(nets.SmallCNN(4, config.MeanPool), 16)
	o.PerDomain = 2
	b := enginetest.Open(t)
	var batch Batch
	var losses [2][2]float64
	for i := range losses {
		l := fatal.Get(New(b, o, 1))(t)
		batch = l.RandomBatch()
		in := fatal.Get(l.Upload(batch, mixing))(t)
		defer in.Free()
		for step := range losses[i] {
			var out Outcome
			if i == 0 {
				out = fatal.Get(l.Step(batch, published, mixing))(t)
			} else {
				out = fatal.Get(l.StepOn(in, published))(t)
			}
			losses[i][step] = loss(t, out)
		}
	}
	for step, want := range losses[0] {
		// A GPU adds up in any order.
		if got := losses[1][step]; math.Abs(got-want) > 1e-5*want {
			t.Errorf("step %d: got a loss of %v from an uploaded batch, want %v", step, got, want)
		}
	}
	batch["u_strong"] = batch["u_strong"].([]uint8)[1:]
	l := fatal.Get(New(b, o, 1))(t)
	if _, err := l.Upload(batch, mixing); err == nil || err.Error() != "training step: u_strong have 4607 values, want [6 16 16 3]" {
		t.Errorf("a short batch: error %v", err)
	}
}

// TestWrongStepIsAnError builds steps that use missing values: whoever takes one gets an error
// that says what.
func TestWrongStepIsAnError(t *testing.T) {
	backend := enginetest.Open(t)
	for want, step := range map[string]func(s objective.Step){
		`wrong: it reads "z"`:         func(s objective.Step) { s.In("z") },
		`"hour"`:                      func(s objective.Step) { s.Scalar("hour") },
		`no net "G"`:                  func(s objective.Step) { s.Forward("G", objective.View{Images: s.In("x")}) },
		`no parameter "jigsaw.weight`: func(s objective.Step) { s.Head("jigsaw", s.In("x")) },
		"wrong: it minimises nothing": func(objective.Step) {},
	} {
		o := authorsOptions(nets.SmallCNN(4, config.MeanPool), 16)
		o.Objective = objective.Objective{Name: "wrong", Step: step, Inputs: []objective.Input{objective.Images("x", objective.Labelled, augment.WeakView)}}
		l, err := New(backend, o, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]uint8, o.Domains*o.PerDomain*16*16*3)
		_, err = l.Step(Batch{"x": x}, published, Stage{})
		_, traced := l.Trace(map[string]*tensors.Tensor{"x": tensors.FromFlatDataAndDimensions(x, o.Domains*o.PerDomain, 16, 16, 3)}, published, Stage{})
		for _, err := range []error{err, traced} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		l.Close()
	}
}

// TestLoweringsAgree takes two steps of the published method, whose passes have
// BatchNorm statistics of their own, with and without gradients, in both forms of
// the network: float32 sums in another order. XLA has the native form only.
func TestLoweringsAgree(t *testing.T) {
	for _, target := range []config.TargetPass{config.UpdateStats, config.FrozenStats} {
		o := authorsOptions(goldenNet, 8)
		c := authors
		c.TargetPass = target
		o.PerDomain, o.Objective = 4, c.Objective()
		b := enginetest.Open(t)
		var losses [2]float64
		var states [2]State
		for i, kind := range enginetest.Kinds(b) {
			b.Kind = kind
			l := fatal.Get(New(b, o, 1))(t)
			batch := l.RandomBatch()
			for range 2 {
				out := fatal.Get(l.Step(batch, published, mixing))(t)
				losses[i] = loss(t, out)
			}
			states[i] = fatal.Get(l.State())(t)
			if i == 0 {
				continue
			}
			if d := math.Abs(losses[1] - losses[0]); d > 1e-4 {
				t.Errorf("target pass %s: loss %v, want %v", target, losses[1], losses[0])
			}
			for j, p := range l.Params() {
				nettest.Near(t, fmt.Sprintf("target pass %s: %s", target, p.Name), states[1].Weights[j], states[0].Weights[j], 1e-5, 1e-5)
			}
		}
	}
}

// A loss that is not finite is named with its value.
func TestDiverged(t *testing.T) {
	out := Outcome{step: &step{terms: []string{"ce", "dd"}, minimised: []string{"ce"}}, values: tensors.FromValue([]float32{float32(math.NaN()), 0.5})}
	const want = "training diverged: ce NaN, dd 0.5 (a lower learning rate may help)"
	if _, err := out.Terms(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
