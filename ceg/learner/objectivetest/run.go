// Package objectivetest compares a training objective with golden values: two consecutive steps
// on tiny networks, computed by other code with the same weights and random numbers. The test of
// an objective calls [Run] once for each network of its fixture.
//
// A fixture is NAME.json with the networks and loss terms and NAME.npz with the arrays. Inputs
// are "in.X"; draws are "stepS.draw.X" or "NET.stepS.draw.X". Expected values of a step begin
// with "NET.stepS.":
//   - "grad.PARAM" for every updated parameter
//   - "after.PARAM" for all parameters and running statistics
//   - "features.PASS" and "adjoint.features.PASS" for the passes
//   - other values by name
//
// After both steps there is "NET.test.logits" or "NET.test.prob". Images are [n, 3, size, size],
// normalised float32 or bytes. Weights are computed from their names and checked by CRC-32.
//
// Inputs and draws of the objective have the names of the arrays, or Case.Arrays maps them.
// Terms have the names in the JSON without "L_". Features of views that are named as passes are
// compared, and every note of the objective must be in the fixture. Passes that no view computes
// are listed in Case.Unnamed.
package objectivetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Case is an objective with the fixture that it must match.
type Case struct {
	// Fixture is the path of the fixture without its extension. Net is one of its networks: cnn
	// or bn, or a name that starts with one of them.
	Fixture, Net string
	Objective    objective.Objective
	// Arrays maps names of inputs, draws and notes to names of arrays, and Terms maps terms to
	// names in the JSON, where they differ.
	Arrays, Terms map[string]string
	// Unnamed lists passes of the fixture that the objective computes from several views or
	// inside heads, so that no view has their features.
	Unnamed []string
	// Others returns values of parameters that the fixture's network lacks; nil leaves them
	// unchanged.
	Others func(name string, shape []int) []float32
	// Now returns the epoch and the number of earlier steps for steps 1 and 2; nil means zeros.
	Now func(step int) (epoch, steps int)
}

// numberSuffix is what the name of a pass's part ends with.
var numberSuffix = regexp.MustCompile(`_[0-9]+$`)

// cnn and bn are the bodies of all fixtures.
var (
	cnn = nets.SmallCNN(4, config.FlattenPool)
	bn  = nets.Backbone{
		Name: "bn",
		Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
			x = o.ReLU(o.BatchNorm(o.Conv(x, "conv1", 8, 3, 1, 1, false), "bn1"))
			return o.ReLU(o.Conv(x, "conv2", 12, 3, 2, 1, true))
		},
		Pooling: config.MeanPool,
	}
)

// fixture is the JSON.
type fixture struct {
	PerDomain int `json:"per_domain"`
	ImageSize int `json:"image_size"`
	SGD       struct {
		Momentum    float64
		WeightDecay float64 `json:"weight_decay"`
		Nesterov    bool
		Features    float64 `json:"lr_features"`
		Heads       float64 `json:"lr_heads"`
	}
	Blend map[string]struct {
		Own float64 `json:"share_of_own"`
	}
	Nets map[string]struct {
		WeightSeed uint32 `json:"weight_seed"`
		Weights    []weight
		Expected   map[string]map[string]any
	}
}

type weight struct {
	Name   string
	Shape  []int
	Gain   float64
	First4 []float64
	CRC32  uint32
}

// Run compares the fixture's two steps, for each implementation of the networks.
func Run(t *testing.T, c Case) {
	raw := fatal.Get(os.ReadFile(c.Fixture + ".json"))(t)
	var f fixture
	fatal.If(t, json.Unmarshal(raw, &f))
	if _, ok := f.Nets[c.Net]; !ok {
		t.Fatalf("%s has no network %q", c.Fixture, c.Net)
	}
	a := nettest.Open(t, c.Fixture+".npz")
	backend := enginetest.Open(t)
	for _, kind := range enginetest.Kinds(backend) {
		backend.Kind = kind
		t.Run(fmt.Sprintf("%s kind %d", c.Net, kind), func(t *testing.T) {
			body := cnn
			if strings.HasPrefix(c.Net, "bn") {
				body = bn
			}
			l := fatal.Get(learner.New(backend, learner.Options{
				Backbone: body, Objective: c.Objective,
				ImageSize: f.ImageSize, Classes: 7, Domains: 3, PerDomain: f.PerDomain,
				Momentum: f.SGD.Momentum, WeightDecay: f.SGD.WeightDecay, Nesterov: f.SGD.Nesterov,
			}, 1))(t)
			defer l.Close()
			f.start(t, l, c)
			for step := 1; step <= 2; step++ {
				c.step(t, f, a, l, step)
			}
			c.test(t, a, l)
		})
	}
}

// step takes one step and compares all that it gives.
func (c Case) step(t *testing.T, f fixture, a nettest.Arrays, l *learner.Learner, step int) {
	now := learner.Now{Rates: learner.Rates{Backbone: f.SGD.Features, ClassHead: f.SGD.Heads, DomainHead: f.SGD.Heads}}
	if c.Now != nil {
		now.Epoch, now.Steps = c.Now(step)
	}
	var stage learner.Stage
	if c.Objective.Phase != nil {
		stage.Phase = c.Objective.Phase(now.Epoch)
	}
	at := fmt.Sprintf("%s.step%d.", c.Net, step)
	find := func(name string, prefixes ...string) string {
		if n, ok := c.Arrays[name]; ok {
			name = n
		}
		for _, p := range prefixes {
			if a.Has(p + name) {
				return p + name
			}
		}
		return ""
	}
	common := fmt.Sprintf("step%d.", step)
	inputs := map[string]*tensors.Tensor{}
	var names []string
	for _, in := range c.Objective.Inputs {
		names = append(names, in.Name)
	}
	for _, w := range c.Objective.Draws {
		for _, v := range w.Arrays {
			names = append(names, v.Name)
		}
	}
	for _, name := range names {
		array := find(name, at+"draw.", common+"draw.", at, common, "in.")
		if array == "" {
			t.Fatalf("%s has no array for %q", c.Fixture, name)
		}
		inputs[name] = a.Tensor(array)
	}
	got := fatal.Get(l.Trace(inputs, now, stage))(t)

	expected := f.Nets[c.Net].Expected[fmt.Sprintf("step%d", step)]
	for _, term := range got.Terms {
		key, ok := c.Terms[term.Name]
		if !ok {
			key = "L_" + term.Name
		}
		want, ok := expected[key].(float64)
		if !ok {
			t.Errorf("%sterms: the fixture has no %s", at, key)
		} else if d := math.Abs(term.Value - want); !(d <= 1e-4) {
			t.Errorf("%s%s = %v, want %v", at, key, term.Value, want)
		}
	}
	for _, array := range a.Names() {
		if name, ok := strings.CutPrefix(array, at+"grad."); ok {
			if g := got.Grads[name]; g == nil {
				t.Errorf("%s: no gradient", array)
			} else {
				nettest.Near(t, array, nettest.Floats(g), a.Floats(array), 1e-4, 1e-4)
			}
		}
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(got.Notes)) {
		note := got.Notes[name]
		if pass, ok := strings.CutPrefix(name, "features "); ok {
			passes(t, a, at+"features."+pass, note, 1e-4, seen)
		} else if pass, ok := strings.CutPrefix(name, "adjoint "); ok {
			passes(t, a, at+"adjoint.features."+pass, note, 2e-5, seen)
		} else if array := find(name, at, common); array == "" {
			t.Errorf("%sno array for the note %q", at, name)
		} else {
			nettest.Near(t, array, nettest.Floats(note), a.LikeTensor(array), 1e-4, 0)
		}
	}
	for _, array := range a.Names() {
		for _, prefix := range []string{at + "features.", at + "adjoint.features."} {
			pass, ok := strings.CutPrefix(array, prefix)
			if ok && !seen[array] && !slices.Contains(c.Unnamed, numberSuffix.ReplaceAllString(pass, "")) {
				t.Errorf("%s: no view of the objective gave it", array)
			}
		}
	}
	state := fatal.Get(l.State())(t)
	compared := 0
	for i, p := range l.Params() {
		if array := at + "after." + p.Name; a.Has(array) {
			nettest.Near(t, array, state.Weights[i], a.Floats(array), 1e-5, 0)
			compared++
		}
	}
	if want := len(f.Nets[c.Net].Weights); compared != want {
		t.Errorf("%s%d parameters and running statistics compared, want %d", at, compared, want)
	}
}

// test compares the class logits of test images after both steps, or their
// probabilities.
func (c Case) test(t *testing.T, a nettest.Arrays, l *learner.Learner) {
	array, probs := c.Net+".test.logits", c.Net+".test.prob"
	if !a.Has(array) && !a.Has(probs) {
		return
	}
	logits := fatal.Get(l.TraceTest(a.Tensor("in.test")))(t)
	got := nettest.Floats(logits)
	if !a.Has(array) {
		array = probs
		got = softmaxRows(got, a.Shape(array)[1])
	}
	nettest.Near(t, array, got, a.Floats(array), 1e-4, 0)
}

// softmaxRows returns the softmax of each row of logits.
func softmaxRows(logits []float32, classes int) []float32 {
	var list []float32
	for row := range slices.Chunk(logits, classes) {
		var sum float64
		for _, z := range row {
			sum += math.Exp(float64(z))
		}
		for _, z := range row {
			list = append(list, float32(math.Exp(float64(z))/sum))
		}
	}
	return list
}
