package learner

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// heads are the networks behind the features, by the parameters' present nodes.
type heads struct {
	l     *Learner
	param func(name string) *Node
}

func (h heads) Dims() objective.Dims { return h.l.Dims() }

func (h heads) Param(name string) *Node { return h.param(name) }

func (h heads) Head(name string, features *Node) *Node {
	params := map[string]*Node{}
	var linear nets.Layer = nets.Linear
	if h.l.o.computed().Vector > 0 {
		linear = nets.LinearOfVectors
	}
	if name == objective.DomainHead {
		for _, p := range h.l.o.DomainHead.Params(h.l.features, h.l.o.Domains) {
			params[p.Name] = h.param(p.Name)
		}
		return h.l.o.DomainHead.Logits(params, features, linear)
	}
	for _, p := range nets.LinearParams(name, 0, 0) {
		params[p.Name] = h.param(p.Name)
	}
	return linear(params, name, features)
}

// stepGraph is a step while its graph is built: it implements objective.Step.
type stepGraph struct {
	heads
	stage Stage
	// inputs are the batch as it came, seen what the networks see of it.
	inputs, seen map[string]*Node
	now          *Node // rates and scalars; see Now.vector

	// values are the parameters and velocity the momentum, by name. used are the
	// parameters that somebody has seen since they last changed, as nodes at which
	// gradients end.
	values, velocity, used map[string]*Node
	passes                 []*forwardPass
	rates                  [3]*Node

	// moved are the weights and velocity that changed, by their places among all.
	moved               []int
	terms, notes, grads []namedNode
	// minimised are the terms that were.
	minimised    []string
	label, sure  *Node
	done, method int
}

// namedNode is a node that somebody wants to know.
type namedNode struct {
	name string
	node *Node
}

// newStepGraph begins a step from parameters and momentum in the learner's order.
func (l *Learner) newStepGraph(stage Stage, weights, velocity []*Node, now *Node, inputs map[string]*Node) *stepGraph {
	c := &stepGraph{stage: stage, inputs: inputs, seen: map[string]*Node{}, now: now,
		values: map[string]*Node{}, velocity: map[string]*Node{}, used: map[string]*Node{}}
	for i, p := range l.params {
		c.values[p.Name] = weights[i]
		c.used[p.Name] = weights[i] // nothing is behind it yet
		if p.Trained() {
			c.velocity[p.Name], velocity = velocity[0], velocity[1:]
		}
	}
	c.heads = heads{l, c.current}
	return c
}

// current returns a parameter as it is now.
func (c *stepGraph) current(name string) *Node {
	v, ok := c.used[name]
	if !ok {
		if v, ok = c.values[name]; !ok {
			panic(fmt.Sprintf("no parameter %q", name))
		}
		v = constant(v)
		c.used[name] = v
	}
	return v
}

// assign gives a parameter a value.
func (c *stepGraph) assign(name string, v *Node) {
	old, ok := c.values[name]
	if !ok {
		panic(fmt.Sprintf("no parameter %q", name))
	}
	v.AssertDims(old.Shape().Dimensions...)
	c.values[name] = v
	delete(c.used, name)
}

func (c *stepGraph) Has(p objective.Subset) bool { return p != objective.Reliable || c.stage.Reliable }

func (c *stepGraph) Phase() int { return c.stage.Phase }

func (c *stepGraph) input(name string) *Node {
	x, ok := c.inputs[name]
	if !ok {
		panic(fmt.Sprintf("it reads %q, which is not among its inputs and draws or has no images in this epoch", name))
	}
	return x
}

func (c *stepGraph) In(name string) *Node {
	x, ok := c.seen[name]
	if !ok {
		x = c.l.seen(c.input(name))
		c.seen[name] = x
	}
	return x
}

func (c *stepGraph) Bytes(name string) *Node { return ConvertDType(c.input(name), dtypes.Float32) }

func (c *stepGraph) Normalise(bytes *Node) *Node { return c.l.pixels(bytes) }

func (c *stepGraph) Scalar(name string) *Node {
	i := slices.Index(scalars, name)
	if i < 0 {
		panic(fmt.Sprintf("scalar %q, want one of %q", name, scalars))
	}
	return c.at(len(c.rates) + i)
}

// at returns a number of the vector of rates and scalars.
func (c *stepGraph) at(i int) *Node { return Reshape(Slice(c.now, AxisElem(i))) }

func (c *stepGraph) rate(r objective.Rate) *Node {
	if c.rates[r] == nil {
		c.rates[r] = c.at(int(r))
	}
	return c.rates[r]
}

func (c *stepGraph) Forward(name string, views ...objective.View) []*Node {
	net := c.net(name)
	if net.Backbone.Layers == nil {
		panic(fmt.Sprintf("%q is a head, not a network of images", name))
	}
	params := map[string]*Node{}
	for i, p := range net.params {
		params[net.local[i]] = c.current(p.Name)
	}
	var present []objective.View
	for _, v := range views {
		if v.Images != nil {
			present = append(present, v)
			c.method += v.Images.Shape().Dimensions[0]
		}
	}
	t, outputs, running := c.l.forward(net, params, present)
	c.passes = append(c.passes, t)
	c.done += t.images
	for name, v := range running {
		c.assign(net.qualifiedName(name), v)
	}
	all := make([]*Node, len(views))
	for i, v := range views {
		if v.Images != nil {
			all[i], outputs = outputs[0], outputs[1:]
			if v.Name != "" {
				c.Note("features "+v.Name, all[i])
			}
		}
	}
	return all
}

func (c *stepGraph) Pool(name string, maps *Node) *Node {
	return nets.Pool(c.l.net(name).Backbone.Pooling, maps)
}

func (c *stepGraph) Term(name string, loss *Node) {
	loss.AssertScalar()
	c.terms = append(c.terms, namedNode{name, loss})
}

func (c *stepGraph) Note(name string, v *Node) { c.notes = append(c.notes, namedNode{name, v}) }

func (c *stepGraph) PseudoLabels(label, used *Node) { c.label, c.sure = label, used }

func (c *stepGraph) Set(param string, v *Node) { c.assign(param, StopGradient(v)) }

func (c *stepGraph) Trained(name string) []string {
	net := c.l.net(name)
	var list []string
	for i, p := range net.params {
		if p.Kind.Trained() {
			list = append(list, net.local[i])
		}
	}
	return list
}

func (c *stepGraph) Gradient(loss *Node, of ...*Node) []*Node {
	grads, _ := c.backward(loss, of, nil)
	for i, g := range grads {
		if g == nil {
			g = ZerosLike(of[i])
		}
		grads[i] = constant(g)
	}
	return grads
}

func (c *stepGraph) Minimise(name string, loss *Node, names ...string) {
	c.Term(name, loss)
	c.minimised = append(c.minimised, name)
	var moved []*network
	var params []string
	var leaves []*Node
	for _, n := range names {
		net := c.net(n)
		if net.Fixed {
			panic(fmt.Sprintf("net %q is fixed and cannot minimise %s", n, name))
		}
		if slices.ContainsFunc(net.params, nets.Param.Trained) {
			moved = append(moved, net)
		}
		for _, p := range net.params {
			if p.Trained() {
				params = append(params, p.Name)
				leaves = append(leaves, c.current(p.Name))
			}
		}
	}
	direct, pulled := c.backward(loss, leaves, moved)
	for i, p := range params {
		g := pulled[p]
		switch d := direct[i]; {
		case g == nil:
			g = d
		case d != nil:
			g = Add(g, d)
		}
		if g != nil {
			c.grads = append(c.grads, namedNode{p, g})
			c.descend(p, g)
		}
	}
}

// descend is SGD's step of one parameter.
func (c *stepGraph) descend(name string, g *Node) {
	o := c.l.o
	w := c.values[name]
	g = Add(g, MulScalar(w, o.WeightDecay))
	v := Add(MulScalar(c.velocity[name], o.Momentum), g)
	c.velocity[name] = v
	if o.Nesterov {
		v = Add(g, MulScalar(v, o.Momentum))
	}
	c.assign(name, Sub(w, Mul(v, c.rate(c.l.netOf[name].Rate))))
}

// backward walks from a loss to the leaves, which are parameters of heads, outputs of passes, or
// images: by GoMLX's differentiation where there is nothing but graph functions, by each pass's
// own way back in between. It returns the gradients with respect to the leaves (nil for
// unconnected ones), and with respect to the parameters of the updated networks that were used in
// passes.
func (c *stepGraph) backward(loss *Node, leaves []*Node, moved []*network) (grads []*Node, params map[string]*Node) {
	targets := slices.Clone(leaves)
	for _, t := range c.passes {
		for _, out := range t.out {
			if out != nil && !slices.Contains(targets, out) {
				targets = append(targets, out)
			}
		}
	}
	adjoint := map[*Node]*Node{}
	push := func(scalar *Node) {
		behind := reach(scalar)
		var list []*Node
		for _, t := range targets {
			if behind[t] {
				list = append(list, t)
			}
		}
		if len(list) == 0 {
			return
		}
		for i, d := range Gradient(scalar, list...) {
			if old := adjoint[list[i]]; old != nil {
				d = Add(old, d)
			}
			adjoint[list[i]] = d
		}
	}
	push(loss)
	params = map[string]*Node{}
	for i := len(c.passes) - 1; i >= 0; i-- {
		t := c.passes[i]
		wanted := slices.Contains(moved, t.net)
		arrived := make([]*Node, len(t.out))
		any := false
		for v, out := range t.out {
			if out != nil && adjoint[out] != nil {
				arrived[v], any = adjoint[out], true
				wanted = wanted || t.views[v].ImageGrad
			}
		}
		if !any || !wanted {
			continue
		}
		for v, d := range arrived {
			if name := t.views[v].Name; d != nil && name != "" {
				c.Note("adjoint "+name, d)
			}
		}
		byParam, images := t.pull(arrived)
		if slices.Contains(moved, t.net) {
			for name, g := range byParam {
				name = t.net.qualifiedName(name)
				if old := params[name]; old != nil {
					g = Add(old, g)
				}
				params[name] = g
			}
		}
		for v, d := range images {
			if d != nil && arrived[v] != nil {
				push(ReduceAllSum(Mul(t.views[v].Images, StopGradient(d))))
			}
		}
	}
	for _, leaf := range leaves {
		grads = append(grads, adjoint[leaf])
	}
	return grads, params
}

// reach returns the nodes that a gradient of x can come to.
func reach(x *Node) map[*Node]bool {
	seen := map[*Node]bool{}
	todo := []*Node{x}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if !n.StopGradient() {
			todo = append(todo, n.Inputs()...)
		}
	}
	return seen
}
