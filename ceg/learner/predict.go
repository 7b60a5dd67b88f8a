package learner

import (
	"fmt"
	"reflect"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Prediction is what the networks say about a batch of images, row by row, in
// evaluation mode (BatchNorm uses its running statistics).
type Prediction struct {
	// Features is [n, FeatureDim], ClassLogits [n, classes] and DomainLogits
	// [n, domains], all row-major.
	Features, ClassLogits, DomainLogits []float32
}

// predictor is the compiled evaluation pass.
type predictor struct {
	l    *Learner
	exec *graph.Exec
}

func (l *Learner) newPredictor() *predictor {
	p := &predictor{l: l}
	p.exec = graph.MustNewExec(l.backend.Compute, p.graph).WithName("predict")
	return p
}

func (p *predictor) graph(args []*graph.Node) []*graph.Node {
	l := p.l
	params := l.predicting(args)
	images := l.seen(args[len(l.params)])
	f := l.build(l.o.Backbone, params, []nets.Pass{{Images: images, NoGrad: true}}, false)
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

// Predict runs the networks on test views: of images a []uint8 [n, size, size, 3], of
// vectors a []float32 [n, features]. Every n is compiled once: pass full batches and
// cut off the padding of the last one.
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
	images, err := l.upload("images", views, dtype, append([]int{n}, row...))
	if err != nil {
		return Prediction{}, fmt.Errorf("predict: %w", err)
	}
	defer l.fed.back(images)
	out, err := l.predict.exec.Call(append(args, images.tensor)...)
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
