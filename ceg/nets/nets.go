// Package nets defines the networks as graph functions: backbones that map images or vectors to
// features, and heads that map features to class and domain logits. [New] builds a backbone from
// a run's settings, and [Register] adds one of a program's own.
//
// A backbone is written once, in terms of the few layers of [Ops], which has several
// implementations. [Params] lists the parameters, package flat uses only operations that are
// fast on GoMLX's pure-Go backend, and package native uses XLA's convolution. Package direct
// computes backbones without a graph.
//
// Terms. A pass is one batch of images with BatchNorm statistics of its own, unless passes share
// a group. Maps are the feature maps of all passes between two layers. Parameter names, shapes
// and layouts are PyTorch's, so state dicts map one to one: convolutions are [out, in, ky, kx],
// linear layers [out, in].
package nets

import (
	"cmp"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
)

// Maps are feature maps between two layers, one set for every pass.
type Maps interface {
	// Dims returns the channels, height and width of every map.
	Dims() (channels, height, width int)
}

// Ops are the layers of backbones, with PyTorch's semantics. Methods panic on shapes that do not
// match, as GoMLX's graph functions do.
type Ops interface {
	// Conv is a cross-correlation with zero padding, which may be [Same]: out channels and a
	// square kernel. Parameters are name+".weight" and, with bias, name+".bias".
	Conv(x Maps, name string, out, kernel, stride, padding int, bias bool) Maps
	// Depthwise is a depthwise cross-correlation with a square kernel, zero padding and no bias.
	// Parameter name+".weight" is [channels, 1, kernel, kernel].
	Depthwise(x Maps, name string, kernel, stride, padding int) Maps
	// BatchNorm normalises every channel with the batch statistics of its group of passes in
	// training and with running statistics in evaluation; Backbone.Norm has its constants.
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
	// Apply inserts any differentiable graph function between two layers: f maps the images of a
	// pass, float32 [images, h, w, channels], to outputs of the given dimensions. It must treat
	// images independently. It is for operations that no other layer has; on the Go backend it
	// costs two copies of the maps.
	Apply(x Maps, channels, h, w int, f func(images *graph.Node) *graph.Node) Maps
}

// NoPool leaves the last maps unpooled, as in a network that generates images.
const NoPool config.Pooling = "none"

// Pool turns maps [images, h, w, channels] into features [images, dim]; NoPool returns the maps.
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

// Backbone is a network that computes features of images.
type Backbone struct {
	// Name identifies the network and its settings, as in "smallcnn-w64".
	Name string
	// Channels is the number of channels of the images; 0 means 3.
	Channels int
	// Layers maps images to the last feature maps.
	Layers func(o Ops, x Maps) Maps
	// Pooling turns the last maps into features.
	Pooling config.Pooling
	// Vector is the length of feature vectors if these are the input, as maps of size 1x1; 0 for
	// images. Package vector builds such networks.
	Vector int
	// Norm holds the constants of BatchNorm layers; the zero value means PyTorch's defaults.
	Norm Norm
	// Pixels is the normalisation of images; the zero value means torchvision's.
	Pixels Pixels
	// Fixed lists frozen parameters by name; see [Freeze].
	Fixed map[string]bool
	// Still makes BatchNorm use its running statistics in training, too.
	Still bool
	// Adapters describes low-rank adapters in a few words, for networks that have them.
	Adapters string
	// Graph is set for a network that is not composed of layers; Layers is then set by
	// [OfGraph].
	Graph Graph
}

// Graph is a network as one graph function, such as one from a file (package imported). It
// computes features of images [n, size, size, 3].
type Graph interface {
	// Params describes the parameters for images of the given size and returns the length of a
	// feature vector.
	Params(size int) (params []Param, features int, err error)
	// MapSizes returns the sizes of its maps.
	MapSizes() MapSizes
	// Files lists the files that it is read from, the network's file first.
	Files() []string
	// ONNX returns the network in evaluation mode as parts of an ONNX file. input names
	// normalised images [n, 3, size, size]; parameters keep their names.
	ONNX(input string) (ONNX, error)
	// Build adds passes to a graph, in training or in evaluation mode. With Pass.Maps it returns
	// the maps before the spatial mean, or the features as maps of size 1x1.
	Build(params map[string]*graph.Node, passes []Pass, train bool) Features
}

// ONNX holds parts of an ONNX file that compute features of images.
type ONNX struct {
	// Opset is the operator set version; Domains lists other operator sets, of version 1.
	Opset   int
	Domains []string
	// Nodes are in order.
	Nodes     []*onnxpb.Node
	Constants []*onnxpb.Tensor
	// Output is the name of the features [n, d].
	Output string
}

// OfGraph returns the backbone of a graph.
func OfGraph(name string, g Graph, pixels Pixels) Backbone {
	return Backbone{Name: name, Pooling: config.MeanPool, Pixels: pixels, Graph: g, Layers: func(Ops, Maps) Maps {
		panic(fmt.Sprintf("network %s is one graph, and not made of layers", name))
	}}
}

// Norm are the constants of BatchNorm layers.
type Norm struct {
	// Eps is added to the variance; Momentum is the weight of a batch's statistics in the update
	// of the running ones. Zero means PyTorch's 1e-5 and 0.1.
	Eps, Momentum float64
}

// OrDefault returns n with zeros replaced by PyTorch's constants.
func (n Norm) OrDefault() Norm {
	n.Eps = cmp.Or(n.Eps, 1e-5)
	n.Momentum = cmp.Or(n.Momentum, 0.1)
	return n
}

// Pixels are the means and standard deviations of red, green and blue, for values in [0, 1], by
// which images are normalised.
type Pixels struct{ Mean, Std [3]float64 }

// OrDefault returns p or, if it is zero, the statistics of ImageNet's training images, which
// torchvision's networks expect.
func (p Pixels) OrDefault() Pixels {
	if p == (Pixels{}) {
		return Pixels{Mean: [3]float64{0.485, 0.456, 0.406}, Std: [3]float64{0.229, 0.224, 0.225}}
	}
	return p
}

// In returns the number of channels of input images.
func (b Backbone) In() int {
	switch {
	case b.Vector > 0:
		return b.Vector
	case b.Channels == 0:
		return 3
	}
	return b.Channels
}

// Features is the result of building a backbone: one node for every pass, and its backward pass.
type Features struct {
	// Passes holds a node per pass: its features, float32 [images, dim], or with
	// Pass.Maps or NoPool its last maps, float32 [images, h, w, channels].
	Passes []*graph.Node
	// Pull back-propagates. adjoints holds the gradient of a loss with respect to every node of
	// Passes, nil for none, with at least one not nil. It returns the gradients with respect to
	// each parameter by name, and to the images of each pass with ImageGrad (nil for the
	// others). It may be called once for each of several losses. Returned gradients are
	// constants.
	Pull func(adjoints []*graph.Node) (params map[string]*graph.Node, images []*graph.Node)
	// Running holds the updated running statistics of BatchNorm layers by parameter name, after
	// all passes with UpdateStats in pass order. It is empty in evaluation mode.
	Running map[string]*graph.Node
}

// Pull returns [Features.Pull] of features that GoMLX differentiates: the gradient of their inner
// product with the adjoints. trained names the parameters with gradients; inputs are the images
// with gradients, nil for other passes.
func Pull(passes []Pass, features []*graph.Node, params map[string]*graph.Node, trained []string, inputs []*graph.Node) func([]*graph.Node) (map[string]*graph.Node, []*graph.Node) {
	return func(adjoints []*graph.Node) (map[string]*graph.Node, []*graph.Node) {
		var inner *graph.Node
		for i, d := range adjoints {
			if d == nil || passes[i].NoGrad {
				continue
			}
			v := graph.ReduceAllSum(graph.Mul(features[i], graph.StopGradient(d)))
			if inner != nil {
				v = graph.Add(inner, v)
			}
			inner = v
		}
		byName, images := map[string]*graph.Node{}, make([]*graph.Node, len(inputs))
		var leaves []*graph.Node
		for _, name := range trained {
			leaves = append(leaves, params[name])
		}
		for _, x := range inputs {
			if x != nil {
				leaves = append(leaves, x)
			}
		}
		if len(leaves) == 0 { // a linear classifier: nothing is behind its features
			return byName, images
		}
		grads := graph.Gradient(inner, leaves...)
		for i, name := range trained {
			byName[name] = grads[i]
		}
		grads = grads[len(trained):]
		for i, x := range inputs {
			if x != nil {
				images[i], grads = grads[0], grads[1:]
			}
		}
		return byName, images
	}
}

// Pass is one batch of images with BatchNorm statistics of its own.
type Pass struct {
	// Images is float32 [images, height, width, channels], or for vectors [n, 1, 1, features].
	Images *graph.Node
	// NoGrad stops gradients through the pass.
	NoGrad bool
	// ImageGrad makes Pull return the gradient with respect to the images.
	ImageGrad bool
	// Maps returns the last feature maps instead of features; [Pool] computes features from
	// them.
	Maps bool
	// Group identifies passes that share BatchNorm statistics in training. They must agree on
	// NoGrad and UpdateStats.
	Group int
	// UpdateStats updates the running statistics with the pass's batch statistics.
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
