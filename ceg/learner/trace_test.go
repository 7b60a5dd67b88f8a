package learner

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Trace holds the intermediate results of a step, for tests.
type Trace struct {
	// Terms are the loss terms.
	Terms []Term
	// Grads are the gradients of each updated parameter, without weight decay.
	Grads map[string]*tensors.Tensor
	// Notes are the objective's notes and, for every named view, its features as "features NAME"
	// and the gradient of the loss with respect to them as "adjoint NAME". The last note of a
	// name is kept.
	Notes map[string]*tensors.Tensor
	// PseudoLabel and Sure are the results of Outcome.PseudoLabels, or nil.
	PseudoLabel, Sure *tensors.Tensor
}

// Trace takes a step and returns its intermediate results. Inputs and draws are tensors of the
// objective's shapes; float32 images are taken as already normalised. It compiles on every call
// and is for tests only.
func (l *Learner) Trace(inputs map[string]*tensors.Tensor, now Now, stage Stage) (Trace, error) {
	var names []string
	in := &Inputs{stage: stage}
	for name, t := range inputs {
		names = append(names, name)
		in.arrays = append(in.arrays, deviceArray{tensor: t})
	}
	var c *stepGraph
	exec, err := graph.NewExec(l.backend.Compute, func(args []*graph.Node) []*graph.Node {
		var out []*graph.Node
		c, out = l.buildStep(stage, args, names)
		for _, list := range [][]namedNode{c.grads, c.notes} {
			for _, n := range list {
				out = append(out, n.node)
			}
		}
		return out
	})
	if err != nil {
		return Trace{}, err
	}
	defer exec.Finalize()
	out, err := exec.Call(l.args(in, now)...)
	if err != nil {
		return Trace{}, fmt.Errorf("training step: %w", err)
	}
	s := &step{l: l, stage: stage, moved: c.moved, minimised: c.minimised, pseudo: c.label != nil}
	for _, t := range c.terms {
		s.terms = append(s.terms, t.name)
	}
	o := l.keep(s, out)
	tr := Trace{Grads: map[string]*tensors.Tensor{}, Notes: map[string]*tensors.Tensor{}, PseudoLabel: o.label, Sure: o.mask}
	if tr.Terms, err = o.Terms(); err != nil {
		return tr, err
	}
	out = out[len(out)-len(c.grads)-len(c.notes):]
	for i, g := range c.grads {
		tr.Grads[g.name] = out[i]
	}
	for i, n := range c.notes {
		tr.Notes[n.name] = out[len(c.grads)+i]
	}
	return tr, nil
}

// TraceTest returns the class logits [n, classes] of test images [n, size, size, 3], uint8 or
// already normalised float32. It is for tests only.
func (l *Learner) TraceTest(images *tensors.Tensor) (*tensors.Tensor, error) {
	var args []any
	for _, w := range l.weights {
		args = append(args, w)
	}
	out, err := graph.CallOnceN(l.backend.Compute, l.prediction, append(args, images)...)
	if err != nil {
		return nil, err
	}
	return out[1], nil
}
