package learner

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
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Objectives are compared with golden values: two consecutive steps on tiny networks, computed by
// other code with the same weights and random numbers.
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
// Inputs and draws of the objective have the names of the arrays, or golden.Arrays maps them.
// Terms have the names in the JSON without "L_". Features of views that are named as passes are
// compared, and every note of the objective must be in the fixture. Passes that no view computes
// are listed in golden.Unnamed.

// fixtures is the folder of the fixtures.
const fixtures = "../objective/testdata/"

// golden is an objective with the fixture that it must match.
type golden struct {
	// Fixture is the name of the fixture. Net is one of its networks: cnn
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

// run compares the fixture's two steps, for each implementation of the networks.
func (c golden) run(t *testing.T) {
	raw := fatal.Get(os.ReadFile(fixtures + c.Fixture + ".json"))(t)
	var f fixture
	fatal.If(t, json.Unmarshal(raw, &f))
	if _, ok := f.Nets[c.Net]; !ok {
		t.Fatalf("%s has no network %q", c.Fixture, c.Net)
	}
	a := nettest.Open(t, fixtures+c.Fixture+".npz")
	backend := enginetest.Open(t)
	for _, kind := range enginetest.Kinds(backend) {
		backend.Kind = kind
		t.Run(fmt.Sprintf("%s kind %d", c.Net, kind), func(t *testing.T) {
			body := cnn
			if strings.HasPrefix(c.Net, "bn") {
				body = bn
			}
			l := fatal.Get(New(backend, Options{
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
func (c golden) step(t *testing.T, f fixture, a nettest.Arrays, l *Learner, step int) {
	now := Now{Rates: Rates{Backbone: f.SGD.Features, ClassHead: f.SGD.Heads, DomainHead: f.SGD.Heads}}
	if c.Now != nil {
		now.Epoch, now.Steps = c.Now(step)
	}
	var stage Stage
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
func (c golden) test(t *testing.T, a nettest.Arrays, l *Learner) {
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

// passes compares a view's result with the array of that name, or with its parts NAME_0, NAME_1
// and so on in turn. It notes the arrays in seen. Views that the fixture does not know are left
// alone.
func passes(t *testing.T, a nettest.Arrays, name string, got *tensors.Tensor, tolerance float64, seen map[string]bool) {
	t.Helper()
	if a.Has(name) {
		seen[name] = true
		nettest.Near(t, name, nettest.Floats(got), a.LikeTensor(name), tolerance, 0)
		return
	}
	var want []float32
	for k := 0; a.Has(fmt.Sprint(name, "_", k)); k++ {
		seen[fmt.Sprint(name, "_", k)] = true
		want = append(want, a.LikeTensor(fmt.Sprint(name, "_", k))...)
	}
	if len(want) > 0 {
		nettest.Near(t, name, nettest.Floats(got), want, tolerance, 0)
	}
}

// start gives the learner the fixture's weights.
func (f fixture) start(t *testing.T, l *Learner, c golden) {
	t.Helper()
	n := f.Nets[c.Net]
	start := map[string][]float32{}
	for _, w := range n.Weights {
		start[w.Name] = nettest.Weights(w.Name, w.Shape, n.WeightSeed, w.Gain)
	}
	for prefix, b := range f.Blend {
		for _, w := range n.Weights {
			student, ok := strings.CutPrefix(w.Name, prefix)
			if !ok {
				continue
			}
			own, from := start[w.Name], start[student]
			mixed := make([]float32, len(own))
			for i := range own {
				mixed[i] = float32((1-b.Own)*float64(from[i]) + b.Own*float64(own[i]))
			}
			start[w.Name] = mixed
		}
	}
	for _, w := range n.Weights {
		if got := nettest.CRC32(start[w.Name]); got != w.CRC32 {
			t.Fatalf("starting values of %s have the CRC-32 %d, want %d (first %v, want %v)", w.Name, got, w.CRC32, start[w.Name][0], w.First4[0])
		}
	}
	state := fatal.Get(l.State())(t)
	known := 0
	for i, p := range l.Params() {
		if v, ok := start[p.Name]; ok {
			state.Weights[i] = v
			known++
		} else if c.Others != nil {
			state.Weights[i] = c.Others(p.Name, p.Shape)
		}
	}
	if known != len(n.Weights) {
		t.Fatalf("the learner has %d of the fixture's %d parameters", known, len(n.Weights))
	}
	fatal.If(t, l.SetState(state))
}
