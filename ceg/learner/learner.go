package learner

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/weights"
)

// Learner holds the networks' weights and trains them. Its methods must not be
// called concurrently.
type Learner struct {
	o       Options
	backend engine.Backend
	build   func(nets.Backbone, map[string]*graph.Node, []nets.Pass, bool) nets.Features

	params    []nets.Param
	features  int
	batchNorm bool

	// weights holds every parameter, and velocity the momentum of the trained
	// ones, both in the order of params.
	weights, velocity []*tensors.Tensor

	plain, mixing *step
	predict       *predictor
}

// New returns a learner with freshly initialised weights (see
// [nets.Param.Init]). It returns an error when the options make no sense, the
// images are too small for the backbone, or the backend cannot compute in the
// precision.
func New(b engine.Backend, o Options, seed uint64) (*Learner, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	params, features, err := nets.Params(o.Backbone, o.ImageSize)
	if err != nil {
		return nil, err
	}
	params = append(params, nets.LinearParams(nets.ClassHead, features, o.Classes)...)
	params = append(params, o.DomainHead.Params(features, o.Domains)...)
	if err := o.Precision.check(b); err != nil {
		return nil, err
	}
	l := &Learner{o: o, backend: b, params: params, features: features, build: native.Build}
	switch {
	case b.FastConv:
		l.build = flat.Build
	case o.Precision == BFloat16:
		l.build = native.BuildBFloat16
	}
	state := State{}
	for _, p := range params {
		l.batchNorm = l.batchNorm || p.Kind == nets.RunningMean
		state.Weights = append(state.Weights, p.Init(seed))
		if p.Kind.Trained() {
			state.Velocity = append(state.Velocity, make([]float32, p.Size()))
		}
	}
	if err := l.SetState(state); err != nil {
		return nil, err
	}
	l.plain, l.mixing = l.newStep(false), l.newStep(true)
	l.predict = l.newPredictor()
	return l, nil
}

// Close frees what the learner holds on its backend, which must still be open. The
// learner must not be used after that.
func (l *Learner) Close() {
	for _, e := range []*graph.Exec{l.plain.exec, l.mixing.exec, l.predict.exec} {
		e.Finalize()
	}
	for _, t := range slices.Concat(l.weights, l.velocity) {
		t.MustFinalizeAll()
	}
	l.weights, l.velocity = nil, nil
}

// Params describes the parameters, in the order of State.Weights.
func (l *Learner) Params() []nets.Param { return l.params }

// FeatureDim returns the length of a feature vector.
func (l *Learner) FeatureDim() int { return l.features }

// State is all that training changes: the values of every parameter and the
// optimizer's momentum of every trained one, in the order of Params.
type State struct {
	Weights, Velocity [][]float32
}

// State returns a copy of the weights and the optimizer's state.
func (l *Learner) State() (State, error) {
	var s State
	var err error
	if s.Weights, err = fromTensors(l.weights); err != nil {
		return State{}, err
	}
	if s.Velocity, err = fromTensors(l.velocity); err != nil {
		return State{}, err
	}
	return s, nil
}

// SetState replaces the weights and the optimizer's state. It returns an error
// that names the parameter when the state does not fit or holds a value that is
// not finite; the learner is unchanged then.
func (l *Learner) SetState(s State) error {
	weights, err := toTensors("weight", l.params, s.Weights)
	if err != nil {
		return err
	}
	var trained []nets.Param
	for _, p := range l.params {
		if p.Kind.Trained() {
			trained = append(trained, p)
		}
	}
	velocity, err := toTensors("momentum", trained, s.Velocity)
	if err != nil {
		return err
	}
	l.weights, l.velocity = weights, velocity
	return nil
}

// Load replaces the backbone's weights, and the class head's if it is in the
// state dict with the right shape, by those of a network with torchvision's
// names; the momentum starts from zero. The error lists every tensor that is
// missing, not wanted or misshapen, and leaves the learner as it is.
func (l *Learner) Load(sd weights.StateDict) (weights.Report, error) {
	var want []weights.Spec
	for _, p := range l.params {
		if !isDomain(p.Name) {
			want = append(want, weights.Spec{Name: p.Name, Shape: p.Shape})
		}
	}
	values, report, err := weights.Assign(want, sd, weights.AssignOptions{Head: nets.ClassHead})
	if err != nil {
		return report, err
	}
	s, err := l.State()
	if err != nil {
		return report, err
	}
	for i, p := range l.params {
		if v, ok := values[p.Name]; ok {
			s.Weights[i] = v
		}
	}
	for _, v := range s.Velocity {
		clear(v)
	}
	return report, l.SetState(s)
}

func fromTensors(list []*tensors.Tensor) ([][]float32, error) {
	var values [][]float32
	for _, t := range list {
		v, err := tensors.CopyFlatData[float32](t)
		if err != nil {
			return nil, fmt.Errorf("reading weights: %w", err)
		}
		values = append(values, v)
	}
	return values, nil
}

func toTensors(what string, params []nets.Param, values [][]float32) ([]*tensors.Tensor, error) {
	if len(values) != len(params) {
		return nil, fmt.Errorf("%ss of %d parameters, want %d", what, len(values), len(params))
	}
	out := make([]*tensors.Tensor, len(params))
	for i, p := range params {
		if len(values[i]) != p.Size() {
			return nil, fmt.Errorf("%s of %s has %d values, want %v", what, p.Name, len(values[i]), p.Shape)
		}
		for j, v := range values[i] {
			if v-v != 0 {
				return nil, fmt.Errorf("%s of %s is %v at flat index %d", what, p.Name, v, j)
			}
		}
		out[i] = tensors.FromFlatDataAndDimensions(values[i], p.Shape...)
	}
	return out, nil
}

// Compile builds and compiles the executables that training with these options
// needs, which the first calls would do otherwise: the steps with and without
// MixUp, and predictions in batches of the given size. It returns the time it took.
func (l *Learner) Compile(predictBatch int) (time.Duration, error) {
	start := time.Now()
	steps := []*step{l.plain}
	if l.o.MixesUp() {
		steps = append(steps, l.mixing)
	}
	for _, s := range steps {
		if _, err := s.exec.Compile(s.shapes()...); err != nil {
			return 0, fmt.Errorf("compiling the training step: %w", err)
		}
	}
	var list []shapes.Shape
	for _, t := range l.weights {
		list = append(list, t.Shape())
	}
	list = append(list, shapes.Make(dtypes.Uint8, predictBatch, l.o.ImageSize, l.o.ImageSize, 3))
	if _, err := l.predict.exec.Compile(list...); err != nil {
		return 0, fmt.Errorf("compiling predictions: %w", err)
	}
	return time.Since(start), nil
}

// named gives the parameters' nodes by name.
func named(params []nets.Param, nodes []*graph.Node) map[string]*graph.Node {
	m := make(map[string]*graph.Node, len(params))
	for i, p := range params {
		m[p.Name] = nodes[i]
	}
	return m
}

// Mean and Std normalise pixels in [0, 1]; they are ImageNet's, red, green, blue.
var (
	Mean = [3]float64{0.485, 0.456, 0.406}
	Std  = [3]float64{0.229, 0.224, 0.225}
)

// normalise turns uint8 images [n, size, size, 3] into (x/255 - mean)/std.
func normalise(images *graph.Node) *graph.Node { return nets.Normalise(images, Mean, Std) }

// isBackbone reports whether a parameter belongs to the backbone.
func isBackbone(name string) bool {
	return !isDomain(name) && !strings.HasPrefix(name, nets.ClassHead+".")
}

func isDomain(name string) bool { return strings.HasPrefix(name, "domain.") }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
