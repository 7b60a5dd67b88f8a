package learner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
)

// segments is a step whose network of images is computed without a graph (package direct).
//
// Everything else is graphs: the objective's step is built once for every call of the network,
// forwards or backwards, and once for the end. Each time the calls before have been made:
// their results are arguments, and what the next call reads, images or adjoints, is what the
// graph returns. A backend computes what its graph returns and no more, so that little is
// computed twice.
type segments struct {
	step *step
	// base is the number of arguments of a step as a whole; the calls' results follow them.
	base  int
	calls []*call
	execs []*graph.Exec
	// unfit is true if the step needs an operation that package direct lacks.
	unfit bool
}

// call is a call of the network.
type call struct {
	// Of a forward call: passes lacks the images.
	train  bool
	passes []direct.Pass
	images []operand
	params map[string]operand
	// Of a backward call: forward is the call it belongs to, and an adjoint that is not there
	// is no operand.
	backward bool
	forward  int
	adjoints []operand

	results []result
	// outputs are what the graph before the call returns.
	outputs []*graph.Node
}

// operand is an argument of a segment, or with out one of its results.
type operand struct {
	at        int
	out, none bool
}

// result is a result of a call. A forward call has features in the order of the passes and then
// running statistics by name; a backward call has gradients by name.
type result struct {
	name  string
	shape shapes.Shape
}

// nextCall ends the building of a segment's graph: its call has been met.
//
// It is a panic because what it leaves is an objective's Step, any function,
// whose code follows the call with the call's results. There are none yet, so that nothing of it
// can run, and an error that each objective would have to check and return would be part of every
// objective. GoMLX reports errors of graph building by panics, too.
type nextCall struct{}

func (nextCall) Error() string { return "a network's call" }

// errUnfit is the error of a step that needs an operation that package direct lacks.
var errUnfit = errors.New("a step that needs one graph")

// newSegments compiles a step in segments. It returns nil if the step needs one graph.
func (s *step) newSegments() (*segments, error) {
	g := &segments{step: s, base: len(s.shapes())}
	for len(g.execs) <= len(g.calls) {
		list := s.shapes()
		for _, c := range g.calls {
			for _, r := range c.results {
				list = append(list, r.shape)
			}
		}
		e := graph.MustNewExec(s.l.backend.Compute, g.graph).WithName(fmt.Sprintf("step, segment %d", len(g.execs)))
		g.execs = append(g.execs, e)
		if _, err := e.Compile(list...); err != nil {
			g.finalize()
			if g.unfit {
				return nil, nil
			}
			return nil, err
		}
	}
	return g, nil
}

func (g *segments) finalize() {
	for _, e := range g.execs {
		e.Finalize()
	}
}

// graph builds the next segment.
func (g *segments) graph(args []*graph.Node) (out []*graph.Node) {
	b := &segmentGraph{segments: g, args: args, results: args[g.base:]}
	defer func() {
		switch r := recover(); r {
		case nil:
		case nextCall{}:
			out = g.calls[len(g.calls)-1].outputs
			if len(out) == 0 { // the call reads arguments alone, and a graph returns something
				out = []*graph.Node{graph.Scalar(args[0].Graph(), dtypes.Float32, 0)}
			}
		default:
			panic(r)
		}
	}()
	return g.step.carry(args[:g.base], b.build)
}

// segmentGraph is a segment while its graph is built.
type segmentGraph struct {
	*segments
	args    []*graph.Node
	results []*graph.Node // of the calls to come
	next    int
}

// operand returns where a node's value is found after the segment has run.
func (b *segmentGraph) operand(c *call, n *graph.Node) operand {
	if i := slices.Index(b.args, n); i >= 0 {
		return operand{at: i}
	}
	i := slices.Index(c.outputs, n)
	if i < 0 {
		i = len(c.outputs)
		c.outputs = append(c.outputs, n)
	}
	return operand{at: i, out: true}
}

// take returns the results of the next call by name, and of features in order, or ends the
// segment with a call if there is none yet.
func (b *segmentGraph) take(describe func() *call) (in []*graph.Node, byName map[string]*graph.Node) {
	if b.next == len(b.calls) {
		b.calls = append(b.calls, describe())
		panic(nextCall{})
	}
	c := b.calls[b.next]
	b.next++
	byName = map[string]*graph.Node{}
	for i, r := range c.results {
		if r.name == "" {
			in = append(in, b.results[i])
		} else {
			byName[r.name] = b.results[i]
		}
	}
	b.results = b.results[len(c.results):]
	return in, byName
}

// build takes the place of a lowering's.
func (b *segmentGraph) build(net nets.Backbone, params map[string]*graph.Node, passes []nets.Pass, train bool) nets.Features {
	for _, p := range passes {
		if p.ImageGrad || p.Maps {
			b.unfit = true
			panic(errUnfit)
		}
	}
	l := b.step.l
	forward := b.next
	features, running := b.take(func() *call {
		c := &call{train: train, params: map[string]operand{}}
		for _, p := range passes {
			c.passes = append(c.passes, direct.Pass{Group: p.Group, NoGrad: p.NoGrad, UpdateStats: p.UpdateStats})
			c.images = append(c.images, b.operand(c, p.Images))
			c.results = append(c.results, result{"", shapes.Make(dtypes.Float32, p.Images.Shape().Dimensions[0], l.features)})
		}
		for i, p := range l.nets[0].params {
			name := l.nets[0].local[i]
			c.params[name] = b.operand(c, params[name])
			if train && !p.Kind.Trained() {
				c.results = append(c.results, result{name, params[name].Shape()})
			}
		}
		return c
	})
	return nets.Features{Passes: features, Running: running, Pull: func(adjoints []*graph.Node) (map[string]*graph.Node, []*graph.Node) {
		_, grads := b.take(func() *call {
			c := &call{backward: true, forward: forward}
			for _, d := range adjoints {
				o := operand{none: true}
				if d != nil {
					o = b.operand(c, d)
				}
				c.adjoints = append(c.adjoints, o)
			}
			for i, p := range l.nets[0].params {
				if p.Trained() {
					name := l.nets[0].local[i]
					c.results = append(c.results, result{name, params[name].Shape()})
				}
			}
			return c
		})
		return grads, make([]*graph.Node, len(passes))
	}}
}

// run takes a step on arguments as step.exec does.
func (g *segments) run(args []any) (out []*tensors.Tensor, err error) {
	var made []*tensors.Tensor // that are unused after the step
	runs := make([]*direct.Run, len(g.calls))
	defer func() {
		for _, r := range runs {
			if r != nil {
				r.Free()
			}
		}
		for _, t := range made {
			t.MustFinalizeAll()
		}
	}()
	for i, e := range g.execs {
		if out, err = e.Call(args...); err != nil || i == len(g.calls) {
			return out, err
		}
		made = append(made, out...)
		c := g.calls[i]
		values := g.make(c, runs, i, func(o operand) (v []float32) {
			if o.none {
				return nil
			}
			t := any(nil)
			if o.out {
				t = out[o.at]
			} else {
				t = args[o.at]
			}
			// It stays as it is until the end of the step.
			tensors.MustConstFlatData(t.(*tensors.Tensor), func(flat []float32) { v = flat })
			return v
		})
		for j, r := range c.results {
			t := tensors.FromFlatDataAndDimensions(values[j], r.shape.Dimensions...)
			made, args = append(made, t), append(args, t)
		}
	}
	return out, nil
}

// make makes call i and returns the values of its results. Its inputs come from fetch.
func (g *segments) make(c *call, runs []*direct.Run, i int, fetch func(operand) []float32) [][]float32 {
	var named map[string][]float32
	var list [][]float32
	if c.backward {
		var adjoints [][]float32
		for _, o := range c.adjoints {
			adjoints = append(adjoints, fetch(o))
		}
		named = runs[c.forward].Backward(adjoints)
		if !slices.ContainsFunc(g.calls[i+1:], func(d *call) bool { return d.backward && d.forward == c.forward }) {
			runs[c.forward].Free()
			runs[c.forward] = nil
		}
	} else {
		values := map[string][]float32{}
		for name, o := range c.params {
			values[name] = fetch(o)
		}
		passes := slices.Clone(c.passes)
		for j, o := range c.images {
			passes[j].Images = fetch(o)
		}
		runs[i] = g.step.l.trainer.Forward(values, passes, c.train)
		named, list = runs[i].Running, runs[i].Features
	}
	for _, r := range c.results[len(list):] {
		list = append(list, named[r.name])
	}
	return list
}
