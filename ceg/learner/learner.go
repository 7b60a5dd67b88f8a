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
	"github.com/ledg-go/ledg/ceg/nets/lowering"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Learner holds the networks' weights and trains them. Its methods are not safe for concurrent
// use, except Upload, which may run during a step.
type Learner struct {
	o       Options
	backend engine.Backend
	build   lowering.Build

	nets []*network
	// params are the parameters of all nets, in order; netOf is the net of each.
	params   []nets.Param
	netOf    map[string]*network
	features int

	// weights holds every parameter, and velocity the momentum of the trained
	// ones, both in the order of params.
	weights, velocity []*tensors.Tensor

	// evaluation makes training steps use the running statistics, in tests.
	evaluation bool

	steps   map[Stage]*step
	predict *graph.Exec
	buffers bufferCache
}

// New returns a learner with freshly initialised weights (see [nets.Param.Init]). Invalid
// options are an error, as are images too small for the backbone and a backend without the
// precision.
func New(b engine.Backend, o Options, seed uint64) (*Learner, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	_, features, err := nets.Params(o.Backbone, o.ImageSize)
	if err != nil {
		return nil, err
	}
	if err := check(o.Precision, b); err != nil {
		return nil, err
	}
	l := &Learner{o: o, backend: b, features: features, netOf: map[string]*network{}, steps: map[Stage]*step{}, build: lowering.Of(b, o.computed(), o.Precision)}
	if err := l.addNets(); err != nil {
		return nil, err
	}
	if err := engine.Room(o.String(), l.least()); err != nil {
		return nil, fmt.Errorf("%w: lower the width of the network, the size of the images, or their number in a batch", err)
	}
	l.predict = graph.MustNewExec(b.Compute, l.prediction).WithName("predict")
	state := State{}
	for _, p := range l.params {
		state.Weights = append(state.Weights, p.Init(seed))
		if p.Trained() {
			state.Velocity = append(state.Velocity, make([]float32, p.Size()))
		}
	}
	l.copies(state.Weights)
	if err := l.SetState(state); err != nil {
		return nil, err
	}
	return l, nil
}

// addNets makes the networks that every method has, and the objective's own.
func (l *Learner) addNets() error {
	o, d := l.o, l.Dims()
	list := []objective.Net{
		{Name: objective.Backbone, Backbone: o.Backbone, Rate: objective.BackboneRate},
		objective.Linear(objective.ClassHead, l.features, o.Classes),
		{Name: objective.DomainHead, Params: o.DomainHead.Params(l.features, o.Domains), Rate: objective.DomainHeadRate},
	}
	if o.Objective.Nets != nil {
		list = append(list, o.Objective.Nets(d)...)
	}
	for _, n := range list {
		net, err := l.network(n)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(l.nets, func(m *network) bool { return m.Name == n.Name }) {
			return fmt.Errorf("learner: objective %s has two nets called %q", o.Objective.Name, n.Name)
		}
		net.rests = net.resting(o.Backbone)
		l.nets = append(l.nets, net)
		for _, p := range net.params {
			if l.netOf[p.Name] != nil {
				return fmt.Errorf("learner: objective %s has two parameters called %q", o.Objective.Name, p.Name)
			}
			l.netOf[p.Name] = net
			l.params = append(l.params, p)
		}
	}
	return nil
}

// copies gives the nets that begin as copies of others their weights.
func (l *Learner) copies(weights [][]float32) {
	at := map[string]int{}
	for i, p := range l.params {
		at[p.Name] = i
	}
	for _, n := range l.nets {
		if !n.Copy {
			continue
		}
		from := l.net(n.Of)
		for i, p := range n.params {
			j := slices.Index(from.local, n.local[i])
			if j < 0 || from.params[j].Size() != p.Size() {
				panic(fmt.Sprintf("net %q cannot begin as a copy of %q: parameter %s", n.Name, n.Of, n.local[i]))
			}
			weights[at[p.Name]] = slices.Clone(weights[at[from.params[j].Name]])
		}
	}
}

func (l *Learner) net(name string) *network {
	for _, n := range l.nets {
		if n.Name == name {
			return n
		}
	}
	panic(fmt.Sprintf("it has no net %q", name))
}

// Dims returns the sizes of the networks and the batch.
func (l *Learner) Dims() objective.Dims {
	o := l.o
	return objective.Dims{Classes: o.Classes, Domains: o.Domains, PerDomain: o.PerDomain, ImageSize: o.ImageSize,
		Backbone: o.Backbone, Features: l.features}
}

// Close frees the learner's memory on its backend, which must still be open.
func (l *Learner) Close() {
	for _, s := range l.steps {
		s.exec.Finalize()
	}
	l.predict.Finalize()
	l.freeTrained()
	l.buffers.close()
}

// Params describes the parameters, in the order of State.Weights.
func (l *Learner) Params() []nets.Param { return l.params }

// FeatureDim returns the length of a feature vector.
func (l *Learner) FeatureDim() int { return l.features }

// State is the training state: the value of every parameter and the momentum of every trained
// one, in the order of Params.
type State struct {
	Weights, Velocity [][]float32
}

// State returns a copy of the weights and the optimizer state.
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

// SetState replaces the weights and the optimizer state. A state with another shape or a
// non-finite value is an error that names the parameter; the learner is then unchanged.
func (l *Learner) SetState(s State) error {
	weights, err := toTensors("weight", l.params, s.Weights)
	if err != nil {
		return err
	}
	var trained []nets.Param
	for _, p := range l.params {
		if p.Trained() {
			trained = append(trained, p)
		}
	}
	velocity, err := toTensors("momentum", trained, s.Velocity)
	if err != nil {
		return err
	}
	l.freeTrained()
	l.weights, l.velocity = weights, velocity
	return nil
}

// freeTrained frees the weights and the velocity.
func (l *Learner) freeTrained() {
	for _, t := range slices.Concat(l.weights, l.velocity) {
		t.MustFinalizeAll()
	}
	l.weights, l.velocity = nil, nil
}

// Load replaces the backbone's weights by a state dict with torchvision's names. The class head's
// are replaced if the shape matches. Other trained nets with the backbone's architecture are
// loaded, too, and copies are made again. Momentum is reset to zero. The error lists every
// missing, unexpected and misshapen tensor and leaves the learner unchanged.
func (l *Learner) Load(sd weights.StateDict) (weights.Report, error) {
	var want []weights.Spec
	backbone := l.net(objective.Backbone)
	for _, p := range slices.Concat(backbone.params, l.net(objective.ClassHead).params) {
		if !p.Added {
			want = append(want, weights.Spec{Name: p.Name, Shape: p.Shape})
		}
	}
	values, report, err := weights.Assign(want, sd)
	if err != nil {
		return report, err
	}
	s, err := l.State()
	if err != nil {
		return report, err
	}
	for i, p := range l.params {
		name := p.Name
		if n := l.netOf[name]; n.Backbone.Layers != nil && n.Backbone.Name == backbone.Backbone.Name {
			name = strings.TrimPrefix(name, n.qualifiedName(""))
		}
		if v, ok := values[name]; ok {
			s.Weights[i] = slices.Clone(v)
		}
	}
	l.copies(s.Weights)
	for _, v := range s.Velocity {
		clear(v)
	}
	return report, l.SetState(s)
}

// SetFileWeights sets the parameters of nets whose weights are read from files (Net.FromFile). A missing
// parameter or a wrong length is an error and changes nothing.
func (l *Learner) SetFileWeights(values map[string][]float32) error {
	s, err := l.State()
	if err != nil {
		return err
	}
	for i, p := range l.params {
		if l.netOf[p.Name].FromFile {
			s.Weights[i] = values[p.Name]
		}
	}
	return l.SetState(s) // copies them
}

// SetClassHead replaces the class head and resets its momentum. weight is [classes, FeatureDim],
// row-major, bias [classes].
func (l *Learner) SetClassHead(weight, bias []float32) error {
	s, err := l.State()
	if err != nil {
		return err
	}
	trained := 0
	for i, p := range l.params {
		switch p.Name {
		case nets.ClassHead + ".weight":
			s.Weights[i] = weight
		case nets.ClassHead + ".bias":
			s.Weights[i] = bias
		}
		if p.Trained() {
			if l.netOf[p.Name].Name == objective.ClassHead {
				clear(s.Velocity[trained])
			}
			trained++
		}
	}
	return l.SetState(s)
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

// Compile builds the executables of training, which the first calls would build otherwise: steps
// of the given stages, and predictions with the given batch size. It returns the time taken.
func (l *Learner) Compile(predictBatch int, stages ...Stage) (time.Duration, error) {
	start := time.Now()
	for _, stage := range stages {
		if _, err := l.step(stage); err != nil {
			return 0, err
		}
	}
	var list []shapes.Shape
	for _, t := range l.weights {
		list = append(list, t.Shape())
	}
	dtype, row := l.row()
	list = append(list, shapes.Make(dtype, append([]int{predictBatch}, row...)...))
	if _, err := l.predict.Compile(list...); err != nil {
		return 0, fmt.Errorf("compiling predictions: %w", err)
	}
	l.backend.Compiled()
	return time.Since(start), nil
}

// row returns the type and the shape of one example as it comes: 8-bit pixels, maps, or
// features.
func (l *Learner) row() (dtypes.DType, []int) {
	if n := l.o.computed().Vector; n > 0 {
		return dtypes.Float32, []int{1, 1, n}
	}
	if l.o.Back.Layers != nil {
		return dtypes.Float32, l.o.Maps[:]
	}
	return dtypes.Uint8, []int{l.o.ImageSize, l.o.ImageSize, 3}
}

// seen turns examples as they come into what the networks see.
func (l *Learner) seen(x *graph.Node) *graph.Node {
	if x.DType() == dtypes.Uint8 {
		return l.pixels(x)
	}
	return x
}

// pixels turns images in 0..255, [n, size, size, 3], into what the networks see:
// (x/255 - mean)/std as the backbone says, or x/255.
func (l *Learner) pixels(images *graph.Node) *graph.Node {
	if l.o.Objective.UnitPixels {
		return graph.DivScalar(graph.ConvertDType(images, dtypes.Float32), 255)
	}
	p := l.o.Backbone.Pixels.OrDefault()
	return nets.Normalise(images, p.Mean, p.Std)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
