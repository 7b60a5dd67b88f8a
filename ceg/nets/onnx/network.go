package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
)

// Input is the format of the network's input images.
type Input string

const (
	// Float32 is [batch, 3, size, size], red, green, blue, in [0, 1].
	Float32 Input = "float32"
	// Uint8 is [batch, size, size, 3], bytes of red, green, blue from 0 to 255, as from Pillow,
	// OpenCV (after BGR to RGB) and a browser's canvas.
	Uint8 Input = "uint8"
)

// Names of the file's input and outputs.
const (
	ImageInput     = "image"
	ProbsOutput    = "probs"
	LogitsOutput   = "logits"
	FeaturesOutput = "features"
)

// Network is a network to export.
type Network struct {
	Backbone nets.Backbone
	// Params describes the parameters of the backbone and of the class head, nets.ClassHead;
	// Values holds their values, row-major.
	Params []nets.Param
	Values [][]float32
	// ImageSize is the side of the images in pixels.
	ImageSize int
	// Input is the input format; empty means Float32.
	Input Input
	// Mean and Std normalise pixels in [0, 1]: (x - Mean) / Std.
	Mean, Std [3]float64
	// Vectors is a network on the features of a frozen backbone; nil if there is none.
	Vectors *Vectors
	// Head computes logits from features; the zero value is nets.ClassHead.
	Head Head
	// Temperature divides the logits before the softmax; 0 means 1.
	Temperature float64
	// Name is the graph's name.
	Name string
	// Metadata are pairs of key and value, in file order.
	Metadata [][2]string
}

// Vectors is a network on feature vectors, whose parameters are among the others, with its
// standardisation: Normal, then (x - Mean) * Scale.
type Vectors struct {
	Backbone nets.Backbone
	Normal   config.Normalisation
	Mean     []float32
	Scale    float32
}

// Head computes class logits from features.
type Head struct {
	// Experts are the parameters' names of linear heads whose probabilities are averaged; the
	// logits are the logarithm of the mean.
	Experts []string
	// Cosine is a parameter [classes, features]: logits are Scale times the cosine similarity of
	// features and each row.
	Cosine string
	Scale  float64
}

// Write writes the network as an ONNX file. Equal networks give equal bytes. A missing,
// misshapen or non-finite parameter is an error, and so is a layer without an ONNX form.
func (n Network) Write(w io.Writer) error {
	m, err := n.build()
	if err != nil {
		return fmt.Errorf("onnx: network %s: %w", n.Backbone.Name, err)
	}
	b, err := m.Encode()
	if err != nil {
		return fmt.Errorf("onnx: network %s: %w", n.Backbone.Name, err)
	}
	_, err = w.Write(b)
	return err
}

func (n Network) build() (_ *onnxpb.Model, err error) {
	n.Input = cmp.Or(n.Input, Float32)
	n.Temperature = cmp.Or(n.Temperature, 1)
	switch {
	case n.Input != Float32 && n.Input != Uint8:
		return nil, fmt.Errorf("input %q, want %q or %q", n.Input, Float32, Uint8)
	case !(n.Temperature > 0) || math.IsInf(n.Temperature, 0):
		return nil, fmt.Errorf("temperature %v, want a number above 0", n.Temperature)
	case len(n.Params) != len(n.Values):
		return nil, fmt.Errorf("%d parameters with values for %d", len(n.Params), len(n.Values))
	}
	b := &builder{params: map[string]int{}, n: &n, opset: opset}
	for i, p := range n.Params {
		if len(n.Values[i]) != p.Size() {
			return nil, fmt.Errorf("parameter %s has %d values, want %v", p.Name, len(n.Values[i]), p.Shape)
		}
		for j, v := range n.Values[i] {
			if v-v != 0 {
				return nil, fmt.Errorf("parameter %s is %v at flat index %d", p.Name, v, j)
			}
		}
		b.params[p.Name] = i
	}
	defer func() {
		if r := recover(); r != nil { // a layer that does not fit panics, as in nets.Params
			e, ok := r.(error)
			if !ok {
				e = fmt.Errorf("%v", r)
			}
			err = e
		}
	}()
	var last value
	if n.Backbone.Graph != nil {
		if last, err = b.whole(n.Backbone.Graph); err != nil {
			return nil, err
		}
	} else {
		last = n.Backbone.Layers(b, value{name: b.input(), c: 3, h: n.ImageSize, w: n.ImageSize}).(value)
	}
	classes, features := b.heads(last)
	return b.model(classes, features), nil
}

// whole adds a network that is no composition of layers.
func (b *builder) whole(g nets.Graph) (value, error) {
	params, features, err := g.Params(b.n.ImageSize)
	if err != nil {
		return value{}, err
	}
	parts, err := g.ONNX(b.input())
	if err != nil {
		return value{}, err
	}
	for _, p := range params {
		b.param(p.Name, p.Shape...)
	}
	b.nodes, b.constants = append(b.nodes, parts.Nodes...), append(b.constants, parts.Constants...)
	b.opset, b.domains = parts.Opset, parts.Domains
	return value{name: parts.Output, c: features, flat: true}, nil
}

// value is a feature map: the name of a node's output, [batch, c, h, w].
type value struct {
	name    string
	c, h, w int
	flat    bool // it is [batch, c]
}

func (v value) Dims() (c, h, w int) { return v.c, v.h, v.w }

// builder implements nets.Ops by writing nodes.
type builder struct {
	n      *Network
	params map[string]int
	nodes  []*onnxpb.Node
	// weights are the parameters in use, in order of use, and constants what else
	// the nodes need.
	weights   []int
	constants []*onnxpb.Tensor
	serial    int
	// opset is the version of the operators, and domains other sets of them.
	opset   int
	domains []string
}

var _ nets.Ops = (*builder)(nil)

// node adds a node with one output, whose name is the node's name, too, and returns it.
func (b *builder) node(op, output string, inputs []string, list ...*onnxpb.Attribute) string {
	if output == "" {
		b.serial++
		output = op + "_" + strconv.Itoa(b.serial)
	}
	b.nodes = append(b.nodes, &onnxpb.Node{Op: op, Name: output, In: inputs, Out: []string{output}, Attributes: list})
	return output
}

// param returns the name of a parameter, and notes that it is used.
func (b *builder) param(name string, shape ...int) string {
	i, ok := b.params[name]
	if !ok {
		panic(fmt.Errorf("no parameter %q", name))
	}
	if got := b.n.Params[i].Shape; !slices.Equal(got, shape) {
		panic(fmt.Errorf("parameter %q is %v, want %v", name, got, shape))
	}
	if !slices.Contains(b.weights, i) {
		b.weights = append(b.weights, i)
	}
	return name
}

func (b *builder) constant(name string, shape []int, v ...float32) string {
	b.constants = append(b.constants, onnxpb.Floats(name, shape, v...))
	return name
}

// input normalises the images: x*scale + shift, a value for every channel.
func (b *builder) input() string {
	x, unit := ImageInput, 1.0
	if b.n.Input == Uint8 {
		unit = 255
		x = b.node("Transpose", "", []string{x}, onnxpb.Ints("perm", 0, 3, 1, 2))
		x = b.node("Cast", "", []string{x}, onnxpb.Int("to", onnxpb.Float32))
	}
	scale, shift := make([]float32, 3), make([]float32, 3)
	for c := range 3 {
		scale[c] = float32(1 / (unit * b.n.Std[c]))
		shift[c] = float32(-b.n.Mean[c] / b.n.Std[c])
	}
	channel := []int{1, 3, 1, 1}
	x = b.node("Mul", "", []string{x, b.constant("normalise.scale", channel, scale...)})
	return b.node("Add", "normalised", []string{x, b.constant("normalise.shift", channel, shift...)})
}

func (b *builder) Conv(in nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	x := in.(value)
	inputs := []string{x.name, b.param(name+".weight", out, x.c, kernel, kernel)}
	if bias {
		inputs = append(inputs, b.param(name+".bias", out))
	}
	y := b.node("Conv", name, inputs, window(x, kernel, stride, padding)...)
	return value{name: y, c: out, h: nets.OutSize(x.h, kernel, stride, padding), w: nets.OutSize(x.w, kernel, stride, padding)}
}

func (b *builder) Depthwise(in nets.Maps, name string, kernel, stride, padding int) nets.Maps {
	x := in.(value)
	inputs := []string{x.name, b.param(name+".weight", x.c, 1, kernel, kernel)}
	y := b.node("Conv", name, inputs, append(window(x, kernel, stride, padding), onnxpb.Int("group", x.c))...)
	return value{name: y, c: x.c, h: nets.OutSize(x.h, kernel, stride, padding), w: nets.OutSize(x.w, kernel, stride, padding)}
}

// BatchNorm implements nets.Ops, in evaluation mode.
func (b *builder) BatchNorm(in nets.Maps, name string) nets.Maps {
	x := in.(value)
	inputs := []string{x.name}
	for _, part := range []string{".weight", ".bias", ".running_mean", ".running_var"} {
		inputs = append(inputs, b.param(name+part, x.c))
	}
	x.name = b.node("BatchNormalization", name, inputs, onnxpb.Float("epsilon", float32(b.n.Backbone.Norm.OrDefault().Eps)))
	return x
}

func (b *builder) ReLU(in nets.Maps) nets.Maps {
	x := in.(value)
	x.name = b.node("Relu", "", []string{x.name})
	return x
}

func (b *builder) ReLU6(in nets.Maps) nets.Maps {
	x := in.(value)
	if !slices.ContainsFunc(b.constants, func(t *onnxpb.Tensor) bool { return t.Name == "six" }) {
		b.constant("zero", nil, 0)
		b.constant("six", nil, 6)
	}
	x.name = b.node("Clip", "", []string{x.name, "zero", "six"})
	return x
}

func (b *builder) MaxPool(in nets.Maps, kernel, stride, padding int) nets.Maps {
	x := in.(value)
	y := b.node("MaxPool", "", []string{x.name}, window(x, kernel, stride, padding)...)
	return value{name: y, c: x.c, h: nets.OutSize(x.h, kernel, stride, padding), w: nets.OutSize(x.w, kernel, stride, padding)}
}

func (b *builder) Add(in, other nets.Maps) nets.Maps {
	x, y := in.(value), other.(value)
	if x.c != y.c || x.h != y.h || x.w != y.w {
		panic(fmt.Errorf("cannot add maps [%d, %d, %d] and [%d, %d, %d]", x.c, x.h, x.w, y.c, y.h, y.w))
	}
	x.name = b.node("Add", "", []string{x.name, y.name})
	return x
}

// Apply implements nets.Ops: it has no ONNX form.
func (b *builder) Apply(nets.Maps, int, int, int, func(*graph.Node) *graph.Node) nets.Maps {
	panic(errors.New("a layer of it is a graph function, which has no ONNX form"))
}

// window is what convolutions and poolings of x share.
func window(x value, kernel, stride, padding int) []*onnxpb.Attribute {
	top, bottom := nets.Padding(x.h, kernel, stride, padding)
	left, right := nets.Padding(x.w, kernel, stride, padding)
	return []*onnxpb.Attribute{
		onnxpb.Ints("kernel_shape", kernel, kernel),
		onnxpb.Ints("strides", stride, stride),
		onnxpb.Ints("pads", top, left, bottom, right),
	}
}
