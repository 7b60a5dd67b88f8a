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
	"fmt"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
)

// Maps are feature maps, one set for every pass, between two layers.
type Maps interface {
	// Dims returns the channels, height and width of every map.
	Dims() (channels, height, width int)
}

// Ops are the layers that backbones are made of, with PyTorch's semantics. The
// methods panic on shapes that do not fit, as GoMLX's graph functions do.
type Ops interface {
	// Conv is a cross-correlation with zero padding, which may be [Same]: out
	// channels, a square kernel, and parameters name+".weight" and, with bias,
	// name+".bias".
	Conv(x Maps, name string, out, kernel, stride, padding int, bias bool) Maps
	// Depthwise is a cross-correlation of every channel with a square kernel of its
	// own, with zero padding and without bias. Parameter name+".weight" is
	// [channels, 1, kernel, kernel].
	Depthwise(x Maps, name string, kernel, stride, padding int) Maps
	// BatchNorm normalises every channel with the statistics of its group of passes
	// in training, with the running ones in evaluation, as Backbone.Norm says.
	BatchNorm(x Maps, name string) Maps
	// ReLU is max(x, 0); its gradient at 0 is 0.
	ReLU(x Maps) Maps
	// ReLU6 is min(max(x, 0), 6); its gradient at 0 and at 6 is 0.
	ReLU6(x Maps) Maps
	// MaxPool takes the maximum of square windows; on ties the first one in
	// reading order receives the gradient. Padding counts as minus infinity.
	MaxPool(x Maps, kernel, stride, padding int) Maps
	// Add adds two maps of equal dimensions.
	Add(x, y Maps) Maps
	// Apply puts any graph function between two layers: it maps the images of a
	// pass, float32 [images, h, w, channels], to as many of the given dimensions.
	// GoMLX differentiates it, and it must treat every image by itself. It is for
	// what no other layer does, such as reflection padding; on the Go backend it
	// costs two copies of the maps.
	Apply(x Maps, channels, h, w int, f func(images *graph.Node) *graph.Node) Maps
}

// NoPool leaves the last maps as they are, as in a network that makes images.
const NoPool config.Pooling = "none"

// Pool turns maps [images, h, w, channels] into features [images, dim]; NoPool
// leaves them alone.
func Pool(p config.Pooling, maps *graph.Node) *graph.Node {
	d := maps.Shape().Dimensions
	switch p {
	case NoPool:
		return maps
	case config.FlattenPool:
		return graph.Reshape(graph.TransposeAllAxes(maps, 0, 3, 1, 2), -1, d[3]*d[1]*d[2])
	}
	return graph.ReduceMean(maps, 1, 2)
}

// Backbone is a network that turns images into features.
type Backbone struct {
	// Name identifies the network and its settings, as in "smallcnn-w64".
	Name string
	// Channels is the number of channels of the images; 0 means 3.
	Channels int
	// Layers maps images to the last feature maps.
	Layers func(o Ops, x Maps) Maps
	// Pooling turns the last maps into features.
	Pooling config.Pooling
	// Vector is the length of the feature vectors that the network takes instead of
	// images, as maps of one place; 0 for images. Package vector builds such networks.
	Vector int
	// Norm says how BatchNorm layers normalise; the zero value is PyTorch's default.
	Norm Norm
	// Pixels says how images are normalised; the zero value is torchvision's way.
	Pixels Pixels
	// Fixed are the names of the parameters that do not learn; see [Freeze].
	Fixed map[string]bool
	// Still says that BatchNorm normalises as in evaluation when the network is trained.
	Still bool
	// Graph is the network where it is no composition of layers; nil where it is. Layers
	// is then as [OfGraph] makes it.
	Graph Graph
}

// Graph is a network that comes as a whole, such as one from a file (package imported). It makes
// features of images [n, size, size, 3].
type Graph interface {
	// Params describes the parameters for images of a size, and returns the length of a
	// feature vector.
	Params(size int) (params []Param, features int, err error)
	// MapSizes says how large its maps are.
	MapSizes() MapSizes
	// Files lists the files that it is read from, the network's own first.
	Files() []string
	// ONNX says how the network is written to another ONNX file, in evaluation. The input is
	// the name of normalised images [n, 3, size, size]; parameters have their names.
	ONNX(input string) (ONNX, error)
	// Build adds passes to a graph, in training or in evaluation mode. Pass.Maps are the
	// maps that the features are means of, or the features as maps of one place.
	Build(params map[string]*graph.Node, passes []Pass, train bool) Features
}

// ONNX are the parts of an ONNX file that make features of images.
type ONNX struct {
	// Opset is the version of the operators, and Domains other sets of them, of version 1.
	Opset   int
	Domains []string
	// Nodes are encoded NodeProtos, in order, and Constants TensorProtos.
	Nodes, Constants [][]byte
	// Output is the name of the features [n, d].
	Output string
}

// OfGraph is the backbone that a graph is.
func OfGraph(name string, g Graph, pixels Pixels) Backbone {
	return Backbone{Name: name, Pooling: config.MeanPool, Pixels: pixels, Graph: g, Layers: func(Ops, Maps) Maps {
		panic(fmt.Sprintf("network %s is a graph from a file, and not made of layers", name))
	}}
}

// Norm are the constants of BatchNorm layers.
type Norm struct {
	// Eps is added to the variance, and Momentum is the share of a batch's statistics
	// in the running ones. Zero means PyTorch's 1e-5 and 0.1.
	Eps, Momentum float64
}

// OrDefault returns n with PyTorch's constants in the place of zeros.
func (n Norm) OrDefault() Norm {
	if n.Eps == 0 {
		n.Eps = 1e-5
	}
	if n.Momentum == 0 {
		n.Momentum = 0.1
	}
	return n
}

// Pixels are the mean and the standard deviation, of values in [0, 1], that images are
// normalised with for a network: red, green and blue.
type Pixels struct{ Mean, Std [3]float64 }

// OrDefault returns p, or where it is zero those of ImageNet's training images, which
// torchvision's networks expect.
func (p Pixels) OrDefault() Pixels {
	if p == (Pixels{}) {
		return Pixels{Mean: [3]float64{0.485, 0.456, 0.406}, Std: [3]float64{0.229, 0.224, 0.225}}
	}
	return p
}

// In returns the number of channels of the images that the network takes.
func (b Backbone) In() int {
	switch {
	case b.Vector > 0:
		return b.Vector
	case b.Channels == 0:
		return 3
	}
	return b.Channels
}

// Features is what a built backbone returns: one node for every pass, and the
// way back.
type Features struct {
	// Passes holds a node per pass: its features, float32 [images, dim], or with
	// Pass.Maps or NoPool its last maps, float32 [images, h, w, channels].
	Passes []*graph.Node
	// Pull back-propagates. It takes the gradient of a loss with respect to
	// every node of Passes (nil where there is none; one must be there) and returns
	// the gradients with respect to each parameter by name, and with respect to the
	// images of each pass with ImageGrad (nil for the others). It may be called more
	// than once, each time for another loss. The gradients are constants: they have
	// no gradients themselves.
	Pull func(adjoints []*graph.Node) (params map[string]*graph.Node, images []*graph.Node)
	// Running holds the updated running statistics of BatchNorm layers by
	// parameter name, after all passes with UpdateStats, in pass order. It is
	// empty in evaluation mode.
	Running map[string]*graph.Node
}

// Pass is one batch of images that goes through a network by itself.
type Pass struct {
	// Images is [images, height, width, channels], float32, or of vectors
	// [n, 1, 1, features].
	Images *graph.Node
	// NoGrad says that no gradient flows back through the pass.
	NoGrad bool
	// ImageGrad says that Pull returns the gradient with respect to the images.
	ImageGrad bool
	// Maps makes the pass return its last feature maps instead of features, for
	// losses that look at places: [Pool] makes features of them.
	Maps bool
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
