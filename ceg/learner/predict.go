package learner

import (
	"fmt"
	"reflect"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Prediction holds the network outputs of a batch, row by row, in evaluation mode (BatchNorm
// uses its running statistics).
type Prediction struct {
	// Features is [n, FeatureDim], ClassLogits [n, classes] and DomainLogits
	// [n, domains], all row-major.
	Features, ClassLogits, DomainLogits []float32
}

// prediction is the graph of an evaluation pass.
func (l *Learner) prediction(args []*graph.Node) []*graph.Node {
	params := l.predicting(args)
	f := l.build(l.o.computed(), params, []nets.Pass{{Images: l.seen(args[len(l.params)]), NoGrad: true}}, false)
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
	images, err := l.stage(field{name: "images", dtype: dtype, shape: append([]int{n}, row...)}, views)
	if err != nil {
		return Prediction{}, fmt.Errorf("predict: %w", err)
	}
	defer l.buffers.release(images)
	out, err := l.predict.Call(append(args, images.tensor)...)
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
