// Package lowering chooses the implementation of a network on a backend. On GoMLX's pure-Go
// backend these are operations that are fast there (package flat) or, for evaluation, no graph at
// all (inference). On XLA it is the
// native convolution (native), and for feature vectors matrix products (vector).
package lowering

import (
	"errors"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/inference"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/nets/vector"
)

// Build adds the passes of a network to a graph, in training or in evaluation mode.
type Build func(b nets.Backbone, params map[string]*graph.Node, passes []nets.Pass, train bool) nets.Features

// Of returns the lowering of a network, and of others in the same graph, in precision p.
func Of(on engine.Backend, b nets.Backbone, p config.Precision) Build {
	l := ofLayers(on, b, p)
	if b.Graph == nil {
		return l
	}
	return func(c nets.Backbone, params map[string]*graph.Node, passes []nets.Pass, train bool) nets.Features {
		if c.Graph != nil {
			return c.Graph.Build(params, passes, train)
		}
		return l(c, params, passes, train)
	}
}

func ofLayers(on engine.Backend, b nets.Backbone, p config.Precision) Build {
	switch {
	case b.Vector > 0:
		return vector.Build
	case on.Kind == engine.Go:
		return flat.Build
	}
	return native.Target{BFloat16: p == config.BFloat16}.Build
}

// Inference compiles a network on images for graph-free evaluation, with the values of its
// parameters by name; nil if backend, processor or a layer needs a graph.
func Inference(on engine.Backend, b nets.Backbone, values map[string][]float32, size int) (*inference.Network, error) {
	if on.Kind != engine.Go || !inference.Vectors || b.Graph != nil {
		return nil, nil
	}
	n, err := inference.New(b, values, size)
	if errors.Is(err, inference.ErrGraph) {
		return nil, nil
	}
	return n, err
}
