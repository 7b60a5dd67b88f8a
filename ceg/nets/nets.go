// Package nets holds the networks of ledg as graph functions: backbones that
// turn images into features, and the heads that turn features into class and
// domain logits.
//
// A backbone is written once, as a function over the few layers of [Ops]. Three
// implementations of Ops give it three lives: [Params] lists the parameters it
// needs, package flat builds it from the few operations that are fast on
// GoMLX's pure-Go backend, and package native builds it from XLA's convolution.
//
// Glossary. A pass is one batch of images that goes through the network by
// itself: BatchNorm sees its statistics alone unless passes share a group. Maps
// are the feature maps of all passes at one point of the network. Parameter
// names, shapes and layouts are PyTorch's, so that state dicts map one to one:
// convolutions are [out, in, ky, kx], linear layers [out, in].
package nets

import (
	"github.com/gomlx/gomlx/core/graph"
)

// Maps are feature maps, one set for every pass, between two layers.
type Maps interface {
	// Dims returns the channels, height and width of every map.
	Dims() (channels, height, width int)
}

// Ops are the layers that backbones are made of, with PyTorch's semantics. The
// methods panic on shapes that do not fit, as GoMLX's graph functions do.
type Ops interface {
	// Conv is a cross-correlation with zero padding: out channels, a square
	// kernel, and parameters name+".weight" and, with bias, name+".bias".
	Conv(x Maps, name string, out, kernel, stride, padding int, bias bool) Maps
	// BatchNorm normalises every channel (eps 1e-5) with the statistics of its
	// group of passes in training, with the running ones in evaluation.
	BatchNorm(x Maps, name string) Maps
	// ReLU is max(x, 0); its gradient at 0 is 0.
	ReLU(x Maps) Maps
	// MaxPool takes the maximum of square windows; on ties the first one in
	// reading order receives the gradient. Padding counts as minus infinity.
	MaxPool(x Maps, kernel, stride, padding int) Maps
	// Add adds two maps of equal dimensions.
	Add(x, y Maps) Maps
}

// Pooling says how a backbone turns its last maps into a feature vector.
type Pooling string

const (
	// MeanPool averages every channel over its map.
	MeanPool Pooling = "mean"
	// FlattenPool lays out the maps as one vector, channel by channel as in
	// PyTorch: the feature dimension then depends on the image size.
	FlattenPool Pooling = "flatten"
)

// Backbone is a network that turns images into features.
type Backbone struct {
	// Name identifies the network and its settings, as in "smallcnn-w64".
	Name string
	// Layers maps images [3 channels] to the last feature maps.
	Layers func(o Ops, x Maps) Maps
	// Pooling turns the last maps into features.
	Pooling Pooling
}

// Features is what a built backbone returns: one node for every pass, and the
// way back.
type Features struct {
	// Passes holds a [images, dim] node per pass.
	Passes []*graph.Node
	// Pull back-propagates. It takes the gradient of a loss with respect to
	// every pass's features (nil where there is none) and returns the gradient
	// with respect to each parameter by name. It must be called at most once.
	Pull func(adjoints []*graph.Node) map[string]*graph.Node
	// Running holds the updated running statistics of BatchNorm layers by
	// parameter name, after all passes with UpdateStats, in pass order. It is
	// empty in evaluation mode.
	Running map[string]*graph.Node
}

// Pass is one batch of images that goes through a network by itself.
type Pass struct {
	// Images is [images, height, width, 3], float32.
	Images *graph.Node
	// NoGrad says that no gradient flows back through the pass.
	NoGrad bool
	// Group makes passes with equal numbers share BatchNorm statistics in
	// training. They must agree on NoGrad and UpdateStats.
	Group int
	// UpdateStats says that the pass's batch statistics enter the running ones.
	UpdateStats bool
}

// Groups lists the indices of passes that share BatchNorm statistics, in the order of
// their first pass.
func Groups(passes []Pass) [][]int {
	var groups [][]int
	at := map[int]int{}
	for i, p := range passes {
		j, ok := at[p.Group]
		if !ok {
			j = len(groups)
			at[p.Group] = j
			groups = append(groups, nil)
		}
		groups[j] = append(groups[j], i)
	}
	return groups
}
