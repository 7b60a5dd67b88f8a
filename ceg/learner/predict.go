package learner

import (
	"fmt"
	"reflect"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Prediction holds the network outputs of a batch, row by row, in evaluation mode (BatchNorm
// uses its running statistics).
type Prediction struct {
	// Features is [n, FeatureDim], ClassLogits [n, classes] and DomainLogits
	// [n, domains], all row-major.
	Features, ClassLogits, DomainLogits []float32
}

// predictor is the compiled evaluation pass.
type predictor struct {
	l    *Learner
	exec *graph.Exec
	// On the Go backend transform is the graph of the weights as exec reads them after its
	// other arguments, transformed its values for batches of n, until the weights change.
	transform   *graph.Exec
	transformed []*tensors.Tensor
	n           int
	// shapes are the shapes of transformed, known once transform has been compiled.
	shapes []shapes.Shape
}

func (l *Learner) newPredictor() *predictor {
	p := &predictor{l: l}
	p.exec = graph.MustNewExec(l.backend.Compute, p.graph).WithName("predict")
	if l.lowering.TransformsWeights {
		p.transform = graph.MustNewExec(l.backend.Compute, p.weights).WithName("weights")
	}
	return p
}

// weights is the graph of transform.
func (p *predictor) weights(args []*graph.Node) []*graph.Node {
	params, passes := p.passes(args)
	nodes := flat.TransformedWeights(p.l.o.computed(), params, passes)
	p.shapes = nil
	for _, n := range nodes {
		p.shapes = append(p.shapes, n.Shape())
	}
	return nodes
}

// passes are the parameters and the only pass of an evaluation.
func (p *predictor) passes(args []*graph.Node) (map[string]*graph.Node, []nets.Pass) {
	return p.l.predicting(args), []nets.Pass{{Images: p.l.seen(args[len(p.l.params)]), NoGrad: true}}
}

// transformedArgs appends the transformed weights for a batch of n to the arguments of
// exec.
func (p *predictor) transformedArgs(n int, args []any) ([]any, error) {
	if p.transform == nil {
		return args, nil
	}
	if p.transformed == nil || p.n != n {
		p.freeTransformed()
		var err error
		if p.transformed, err = p.transform.Call(args...); err != nil {
			return nil, err
		}
		p.n = n
	}
	for _, t := range p.transformed {
		args = append(args, t)
	}
	return args, nil
}

// freeTransformed frees the transformed weights: the weights are others.
func (p *predictor) freeTransformed() {
	for _, t := range p.transformed {
		t.MustFinalizeAll()
	}
	p.transformed = nil
}

func (p *predictor) close() {
	p.freeTransformed()
	p.exec.Finalize()
	if p.transform != nil {
		p.transform.Finalize()
	}
}

// compile compiles for arguments of these shapes.
func (p *predictor) compile(list []shapes.Shape) error {
	if p.transform != nil {
		if _, err := p.transform.Compile(list...); err != nil {
			return err
		}
		list = append(list, p.shapes...)
	}
	_, err := p.exec.Compile(list...)
	return err
}

func (p *predictor) graph(args []*graph.Node) []*graph.Node {
	l := p.l
	params, passes := p.passes(args)
	var f nets.Features
	if p.transform != nil {
		f = flat.BuildTransformed(l.o.computed(), params, args[len(l.params)+1:], passes)
	} else {
		f = l.lowering.Build(l.o.computed(), params, passes, false)
	}
	features := f.Passes[0]
	h := heads{l, func(name string) *graph.Node { return params[name] }}
	return []*graph.Node{features, l.classLogits(h, features), h.Head(objective.DomainHead, features)}
}

// predicting returns the parameters that predict, by the names of those whose place
// they take.
func (l *Learner) predicting(args []*graph.Node) map[string]*graph.Node {
	params := map[string]*graph.Node{}
	for i, p := range l.params {
		params[p.Name] = args[i]
	}
	for _, p := range l.params {
		if by, ok := params[l.o.Objective.Predicting(p.Name)]; ok {
			params[p.Name] = by
		}
	}
	return params
}

// classLogits are the objective's class logits of test features.
func (l *Learner) classLogits(h objective.Heads, features *graph.Node) *graph.Node {
	if l.o.Objective.Test != nil {
		return l.o.Objective.Test.Logits(h, features)
	}
	return h.Head(objective.ClassHead, features)
}

// Predict runs the networks on plain views: a []uint8 [n, size, size, 3] of images or a
// []float32 [n, features] of vectors. Each n is compiled once, so pass full batches and drop the
// padding of the last one.
func (l *Learner) Predict(views any) (Prediction, error) {
	dtype, row := l.row()
	one := 1
	for _, d := range row {
		one *= d
	}
	length := reflect.ValueOf(views).Len()
	n := length / one
	if n == 0 || n*one != length {
		return Prediction{}, fmt.Errorf("predict: %d values are not a number of examples %v", length, row)
	}
	var args []any
	for _, t := range l.weights {
		args = append(args, t)
	}
	images, err := l.upload(field{name: "images", dtype: dtype, shape: append([]int{n}, row...)}, views, 0)
	if err != nil {
		return Prediction{}, fmt.Errorf("predict: %w", err)
	}
	defer l.buffers.release(images)
	var out []*tensors.Tensor
	if args, err = l.predict.transformedArgs(n, append(args, images.tensor)); err == nil {
		out, err = l.predict.exec.Call(args...)
	}
	if err != nil {
		return Prediction{}, fmt.Errorf("predict: %w", err)
	}
	var p Prediction
	for i, dst := range []*[]float32{&p.Features, &p.ClassLogits, &p.DomainLogits} {
		if *dst, err = tensors.CopyFlatData[float32](out[i]); err != nil {
			return Prediction{}, fmt.Errorf("predict: %w", err)
		}
		out[i].MustFinalizeAll()
	}
	return p, nil
}
