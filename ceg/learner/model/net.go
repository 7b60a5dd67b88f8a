package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/lowering"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Net is a trained network in evaluation mode, for images or feature vectors: a graph on a
// backend, which must stay open. Its methods are not safe for concurrent use.
type Net struct {
	exec    *graph.Exec
	weights []*tensors.Tensor
	size    int // of images
	vector  int // of feature vectors, or 0
}

// NewNet compiles the model's prediction. Its outputs are features and class logits. A model of
// feature vectors takes standardised vectors.
func NewNet(on engine.Backend, m *Model) *Net {
	return newNet(on, m.Backbone, m.Pixels(), m.Config.Data.ImageSize, m.Params, m.Values, func(params map[string]*graph.Node, features *graph.Node) []*graph.Node {
		h := heads{m, params}
		if m.Objective.Test != nil {
			return []*graph.Node{features, m.Objective.Test.Logits(h, features)}
		}
		return []*graph.Node{features, h.Head(objective.ClassHead, features)}
	})
}

// newNet compiles a backbone, and outputs that are made of its features.
func newNet(on engine.Backend, b nets.Backbone, pixels nets.Pixels, size int, params []nets.Param, values [][]float32,
	outputs func(params map[string]*graph.Node, features *graph.Node) []*graph.Node) *Net {
	n := &Net{size: size, vector: b.Vector}
	for i, p := range params {
		n.weights = append(n.weights, tensors.FromFlatDataAndDimensions(values[i], p.Shape...))
	}
	build := lowering.Of(on, b, config.TF32)
	n.exec = graph.MustNewExec(on.Compute, func(args []*graph.Node) []*graph.Node {
		byName := map[string]*graph.Node{}
		for i, p := range params {
			byName[p.Name] = args[i]
		}
		images := args[len(params)]
		if b.Vector == 0 {
			images = nets.Normalise(images, pixels.Mean, pixels.Std)
		}
		return outputs(byName, build(b, byName, []nets.Pass{{Images: images, NoGrad: true}}, false).Passes[0])
	}).WithName("images")
	return n
}

// Run takes uint8 images [n, size, size, 3] and returns the outputs, row-major. Each n is
// compiled once.
func (n *Net) Run(images []uint8) ([][]float32, error) {
	return n.run(tensors.FromFlatDataAndDimensions(images, len(images)/(3*n.size*n.size), n.size, n.size, 3))
}

// RunVectors is Run on standardised feature vectors [n, D].
func (n *Net) RunVectors(x []float32) ([][]float32, error) {
	return n.run(tensors.FromFlatDataAndDimensions(x, len(x)/n.vector, 1, 1, n.vector))
}

// run takes the input, and frees it.
func (n *Net) run(in *tensors.Tensor) ([][]float32, error) {
	defer in.MustFinalizeAll()
	var args []any
	for _, w := range n.weights {
		args = append(args, w)
	}
	out, err := n.exec.Call(append(args, in)...)
	if err != nil {
		return nil, fmt.Errorf("computing images: %w", err)
	}
	var values [][]float32
	for _, t := range out {
		v, err := tensors.CopyFlatData[float32](t)
		if err != nil {
			return nil, fmt.Errorf("computing images: %w", err)
		}
		values = append(values, v)
		t.MustFinalizeAll()
	}
	return values, nil
}

// Close frees the net's memory on its backend.
func (n *Net) Close() {
	n.exec.Finalize()
	for _, w := range n.weights {
		w.MustFinalizeAll()
	}
}

type heads struct {
	model  *Model
	params map[string]*graph.Node
}

func (h heads) Dims() objective.Dims { return h.model.Dims() }

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
