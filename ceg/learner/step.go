package learner

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/objective"
)

// Rates are the learning rates of one step.
type Rates struct {
	Backbone, ClassHead, DomainHead float64
}

// Now is the position of a step in training; its changes do not recompile the step.
type Now struct {
	Rates
	// Epoch counts from 0, Steps is the number of earlier steps, and Progress is the finished
	// fraction of training; see the scalars of package objective.
	Epoch, Steps int
	Progress     float64
}

// scalars are the scalars of a step in the order of Now.vector, after the rates.
var scalars = []string{objective.Epoch, objective.Steps, objective.Progress}

// vector is what a step gets to know of now: the rates in the order of
// objective.Rate, and the scalars.
func (n Now) vector() []float32 {
	return []float32{float32(n.Backbone), float32(n.ClassHead), float32(n.DomainHead),
		float32(n.Epoch), float32(n.Steps), float32(n.Progress)}
}

// Stage is a part of training with a compiled step of its own.
type Stage struct {
	// Reliable is true if the reliable set is not empty.
	Reliable bool
	// Phase is the value of Objective.Phase.
	Phase int
	// Heads is true if only heads are trained; see [network.resting].
	Heads bool
}

// Batch holds the inputs and draws of one step by name: []uint8 for images, [n, size, size, 3]
// with n = K*B, ordered by domain; []float32 for vectors, [n, features]; []int32 for labels and
// domains; []float32 or []int32 for draws. Entries that a stage does not read may be missing.
// The slices are read only during the upload.
type Batch map[string]any

// Inputs is a batch on the device.
type Inputs struct {
	arrays  []deviceArray
	stage   Stage
	buffers *bufferCache
}

// Free frees the device memory. The inputs must not be used afterwards.
func (in *Inputs) Free() {
	for _, u := range in.arrays {
		in.buffers.release(u)
	}
	in.arrays = nil
}

// Upload copies the entries of a batch that a stage reads to the device. Another goroutine may
// upload the next batch during a step.
func (l *Learner) Upload(b Batch, stage Stage) (*Inputs, error) {
	in := &Inputs{stage: stage, buffers: &l.buffers}
	for _, f := range l.fields(stage) {
		u, err := l.stage(f, b[f.name])
		if err != nil {
			in.Free()
			return nil, fmt.Errorf("training step: %w", err)
		}
		in.arrays = append(in.arrays, u)
	}
	return in, nil
}

// Step takes one training step on a batch.
func (l *Learner) Step(b Batch, now Now, stage Stage) (Outcome, error) {
	in, err := l.Upload(b, stage)
	if err != nil {
		return Outcome{}, err
	}
	defer in.Free()
	return l.StepOn(in, now)
}

// StepOn is Step on an uploaded batch, which can be reused.
func (l *Learner) StepOn(in *Inputs, now Now) (Outcome, error) {
	s, err := l.step(in.stage)
	if err != nil {
		return Outcome{}, err
	}
	out, err := s.exec.Call(l.args(in, now)...)
	if err != nil {
		return Outcome{}, fmt.Errorf("training step: %w", err)
	}
	return l.keep(s, out), nil
}

// args are what a step's executable takes: weights, velocity, now, inputs.
func (l *Learner) args(in *Inputs, now Now) []any {
	var args []any
	for _, t := range slices.Concat(l.weights, l.velocity) {
		args = append(args, t)
	}
	args = append(args, now.vector())
	for _, u := range in.arrays {
		args = append(args, u.tensor)
	}
	return args
}

// keep takes over the weights and momentum that a step's executable returned.
func (l *Learner) keep(s *step, out []*tensors.Tensor) Outcome {
	for _, i := range s.moved {
		list := l.weights
		if i >= len(list) {
			list, i = l.velocity, i-len(list)
		}
		list[i].MustFinalizeAll()
		list[i], out = out[0], out[1:]
	}
	o := Outcome{step: s, values: out[0]}
	if s.pseudo {
		o.label, o.mask = out[1], out[2]
	}
	return o
}

func (l *Learner) step(stage Stage) (*step, error) {
	if s := l.steps[stage]; s != nil {
		return s, nil
	}
	s := &step{l: l, stage: stage}
	if err := s.compile(); err != nil {
		return nil, fmt.Errorf("compiling the training step: %w", err)
	}
	l.backend.Compiled()
	l.steps[stage] = s
	return s, nil
}

func (s *step) compile() error {
	l := s.l
	s.exec = graph.MustNewExec(l.backend.Compute, s.graph).WithName("step")
	if _, err := s.exec.Compile(s.shapes()...); err != nil {
		s.exec.Finalize()
		return err
	}
	return nil
}

// step is a compiled training step.
type step struct {
	l     *Learner
	stage Stage
	exec  *graph.Exec

	// Fields that are known once the graph has been built: which weights and velocity it changes,
	// by their places in weights and velocity, the names of all terms and of those that were minimised, whether
	// there are pseudo-labels, and how many images go through networks, done and as the method
	// states its passes.
	moved            []int
	terms, minimised []string
	pseudo           bool
	done, method     int
}

// field is one of a batch's tensors.
type field struct {
	name  string
	dtype dtypes.DType // uint8 for images
	shape []int
}

// fields lists the tensors that a step of a stage reads.
func (l *Learner) fields(stage Stage) []field {
	d := l.Dims()
	var list []field
	for _, in := range l.o.Objective.Inputs {
		if in.Subset == objective.Reliable && !stage.Reliable {
			continue
		}
		f := field{name: in.Name, dtype: dtypes.Int32, shape: []int{d.Batch()}}
		if in.Content == objective.Pixels {
			dtype, row := l.row()
			f.dtype, f.shape = dtype, append([]int{d.Batch()}, row...)
		}
		if in.Content == objective.Prior {
			f.dtype, f.shape = dtypes.Float32, []int{d.Classes}
		}
		list = append(list, f)
	}
	for _, w := range l.o.Objective.Draws {
		if w.With == objective.Reliable && !stage.Reliable {
			continue
		}
		for _, a := range w.Arrays {
			f := field{name: a.Name, dtype: dtypes.Float32, shape: a.Shape(d)}
			if a.Int {
				f.dtype = dtypes.Int32
			}
			if !slices.Contains(f.shape, 0) { // no pairs of one domain
				list = append(list, f)
			}
		}
	}
	return list
}

// shapes lists the shapes of the executable's inputs.
func (s *step) shapes() []shapes.Shape {
	var list []shapes.Shape
	for _, t := range slices.Concat(s.l.weights, s.l.velocity) {
		list = append(list, t.Shape())
	}
	list = append(list, shapes.Make(dtypes.Float32, len(Now{}.vector())))
	for _, f := range s.l.fields(s.stage) {
		list = append(list, shapes.Make(f.dtype, f.shape...))
	}
	return list
}

// graph builds the step for compilation, and records the facts about it that are known afterwards.
func (s *step) graph(args []*graph.Node) []*graph.Node {
	var names []string
	for _, f := range s.l.fields(s.stage) {
		names = append(names, f.name)
	}
	c, out := s.l.buildStep(s.stage, args, names)
	s.terms, s.minimised, s.pseudo = nil, c.minimised, c.label != nil
	for _, t := range c.terms {
		s.terms = append(s.terms, t.name)
	}
	s.moved, s.done, s.method = c.moved, c.done, c.method
	return out
}

// buildStep builds the graph of the objective's step on args as a step's executable takes them,
// and returns its outputs: the weights and velocity that it changes, terms, and
// pseudo-labels if any.
func (l *Learner) buildStep(stage Stage, args []*graph.Node, inputs []string) (*stepGraph, []*graph.Node) {
	trained, args := args[:len(l.weights)+len(l.velocity)], args[len(l.weights)+len(l.velocity):]
	now, args := args[0], args[1:]
	byName := map[string]*graph.Node{}
	for i, name := range inputs {
		byName[name] = args[i]
	}
	c := l.newStepGraph(stage, trained[:len(l.weights)], trained[len(l.weights):], now, byName)
	// The engine returns panics that are errors; others it passes on, and then waits
	// for the graph that they left unfinished.
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			panic(r)
		default:
			panic(fmt.Errorf("objective %s: %v", l.o.Objective.Name, r))
		}
	}()
	l.o.Objective.Step(c)
	if len(c.minimised) == 0 {
		panic("it minimises nothing")
	}
	var after, out []*graph.Node
	for _, p := range l.params {
		after = append(after, c.values[p.Name])
	}
	for _, p := range l.params {
		if p.Trained() {
			after = append(after, c.velocity[p.Name])
		}
	}
	for i, v := range after {
		if v != trained[i] { // what a step leaves alone would be copied for nothing
			c.moved, out = append(c.moved, i), append(out, v)
		}
	}
	var values []*graph.Node
	for _, t := range c.terms {
		values = append(values, graph.Reshape(t.node, 1))
	}
	out = append(out, graph.Concatenate(values, 0))
	if c.label != nil {
		out = append(out, c.label, c.sure)
	}
	return c, out
}
