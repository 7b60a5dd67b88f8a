package predict

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/native"
)

// net is the compiled network: backbone and class head, in evaluation mode.
type net struct {
	exec    *graph.Exec
	weights []*tensors.Tensor
}

func newNet(b engine.Backend, m *ceg.Model) *net {
	build := native.Target{CPU: b.CPU}.Build
	if b.FastConv {
		build = flat.Build
	}
	n := &net{}
	for i, p := range m.Params {
		n.weights = append(n.weights, tensors.FromFlatDataAndDimensions(m.Values[i], p.Shape...))
	}
	n.exec = graph.MustNewExec(b.Compute, func(args []*graph.Node) []*graph.Node {
		params := map[string]*graph.Node{}
		for i, p := range m.Params {
			params[p.Name] = args[i]
		}
		images := nets.Normalise(args[len(m.Params)], learner.Mean, learner.Std)
		features := build(m.Backbone, params, []nets.Pass{{Images: images, NoGrad: true}}, false).Passes[0]
		return []*graph.Node{features, nets.Linear(params, nets.ClassHead, features)}
	}).WithName("predict files")
	return n
}

// run takes uint8 images [batch, size, size, 3] and returns features and logits.
func (n *net) run(views []uint8, batch, size int) (features, logits []float32, err error) {
	images := tensors.FromFlatDataAndDimensions(views, batch, size, size, 3)
	defer images.MustFinalizeAll()
	var args []any
	for _, w := range n.weights {
		args = append(args, w)
	}
	out, err := n.exec.Call(append(args, images)...)
	if err != nil {
		return nil, nil, fmt.Errorf("predict: %w", err)
	}
	for i, dst := range []*[]float32{&features, &logits} {
		if *dst, err = tensors.CopyFlatData[float32](out[i]); err != nil {
			return nil, nil, fmt.Errorf("predict: %w", err)
		}
		out[i].MustFinalizeAll()
	}
	return features, logits, nil
}

func (n *net) close() {
	n.exec.Finalize()
	for _, w := range n.weights {
		w.MustFinalizeAll()
	}
}
