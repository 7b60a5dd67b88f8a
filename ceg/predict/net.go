package predict

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/objective"
)

// net is the compiled network: backbone and class head, or what the objective has
// instead, in evaluation mode.
type net struct {
	exec    *graph.Exec
	weights []*tensors.Tensor
}

func newNet(b engine.Backend, m *ceg.Model) *net {
	build := native.Target{CPU: b.CPU}.Build
	if b.FastConv {
		build = flat.Build
	}
	n, pixels := &net{}, pixels(m)
	for i, p := range m.Params {
		n.weights = append(n.weights, tensors.FromFlatDataAndDimensions(m.Values[i], p.Shape...))
	}
	n.exec = graph.MustNewExec(b.Compute, func(args []*graph.Node) []*graph.Node {
		params := map[string]*graph.Node{}
		for i, p := range m.Params {
			params[p.Name] = args[i]
		}
		images := args[len(m.Params)]
		images = nets.Normalise(images, pixels.Mean, pixels.Std)
		features := build(m.Backbone, params, []nets.Pass{{Images: images, NoGrad: true}}, false).Passes[0]
		h := heads{m, params}
		if m.Objective.Test != nil {
			return []*graph.Node{features, m.Objective.Test.Logits(h, features)}
		}
		return []*graph.Node{features, h.Head(objective.ClassHead, features)}
	}).WithName("predict files")
	return n
}

// heads are a model's, for its objective.
type heads struct {
	model  *ceg.Model
	params map[string]*graph.Node
}

// Dims implements objective.Heads.
func (h heads) Dims() objective.Dims { return h.model.Dims() }

// Param implements objective.Heads.
func (h heads) Param(name string) *graph.Node {
	p, ok := h.params[name]
	if !ok {
		panic(fmt.Sprintf("the model has no parameter %q", name))
	}
	return p
}

// Head implements objective.Heads, for linear heads.
func (h heads) Head(name string, features *graph.Node) *graph.Node {
	return nets.Linear(h.params, name, features)
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
