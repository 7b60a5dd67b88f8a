package imported

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
)

// layerEps is a number that BatchNorm adds to variances which have the file's own added already.
const layerEps = 1e-12

// layerOperations are those of which some uses are layers, or on the way to a Reshape.
var layerOperations = []string{"Constant", "Identity", "Shape", "Gather", "Unsqueeze", "Concat", "Conv", "BatchNormalization", "Relu", "Clip", "Add",
	"MaxPool", "GlobalAveragePool", "ReduceMean", "Flatten", "Reshape", "Squeeze"}

// Layers returns the network as layers of ours, of square images of a size that are normalised as r
// says, with the values of their parameters, for what computes such layers faster than a graph; ok
// is false where it has others than convolutions, depthwise ones, BatchNormalization, Relu, Relu6,
// sums and MaxPool, with a mean over the last maps.
func (n *Network) Layers(size int, r datasets.Reading) (b nets.Backbone, values map[string][]float32, ok bool) {
	if n.mend() != nil || n.problem != nil || n.last || r.BGR || r.Pool != "" || n.room(size) != nil {
		return b, nil, false
	}
	for _, m := range n.graph.nodes { // before weights are read that may be large
		if !slices.Contains(layerOperations, m.op) {
			return b, nil, false
		}
	}
	w := &numbers{of: n}
	var err error
	if w.root, err = os.OpenRoot(filepath.Dir(n.Path)); err != nil {
		return b, nil, false
	}
	defer w.root.Close()
	l := &layered{Network: n, floats: map[string][]float32{}, dims: map[string][]int{}, values: map[string][]float32{}}
	for _, t := range n.graph.weights {
		if t.kind != float32Type {
			continue
		}
		raw, err := w.bytes(t)
		if err != nil {
			return b, nil, false
		}
		l.keep(t.name, t, raw)
	}
	for _, m := range n.graph.nodes {
		if t := m.constant(); t != nil && t.kind == float32Type {
			l.keep(m.out[0], t, t.raw)
		}
	}
	b = nets.Backbone{Name: "file", Layers: l.layers, Pooling: config.MeanPool, Norm: nets.Norm{Eps: layerEps, Momentum: 0.1}, Pixels: nets.Pixels{Mean: r.Mean, Std: r.Std}}
	defer func() { // what does not fit together is for the graph to say
		if recover() != nil {
			ok = false
		}
	}()
	if _, _, err := nets.Params(b, size); err != nil {
		return b, nil, false
	}
	return b, l.values, true
}

// in0 is the name of the first input, if there is one.
func (n *node) in0() string {
	if len(n.in) == 0 {
		return ""
	}
	return n.in[0]
}

// constant is the tensor of a Constant, nil for other nodes.
func (n *node) constant() *tensor {
	if a := n.get("value"); n.op == "Constant" && a != nil {
		return a.t
	}
	return nil
}

// layered is a network that becomes layers.
type layered struct {
	*Network
	// floats are the numbers of weights and constants, of dims, and values those of the layers'
	// parameters.
	floats map[string][]float32
	dims   map[string][]int
	values map[string][]float32
}

func (l *layered) keep(name string, t *tensor, raw []byte) {
	v, err := t.float32s(raw)
	if err != nil {
		return
	}
	d := []int{}
	for _, n := range t.dims {
		d = append(d, int(n))
	}
	l.floats[name], l.dims[name] = v, d
}

// strange ends layers: the network has something else.
type strange struct{}

// fits ends layers unless what a node says is a layer of ours.
func fits(ok bool) {
	if !ok {
		panic(strange{})
	}
}

// layers implements nets.Backbone.Layers. It panics if the network has something else.
func (l *layered) layers(o nets.Ops, x nets.Maps) nets.Maps {
	shapes := &mender{content: l.graph}
	maps, means := map[string]nets.Maps{l.input.name: x}, map[string]nets.Maps{}
	for i, n := range l.graph.nodes {
		if v, ok := l.floats[n.in0()]; ok && n.op == "Identity" { // of a weight that two nodes share
			l.floats[n.out[0]], l.dims[n.out[0]] = v, l.dims[n.in[0]]
			continue
		} else if n.op == "Constant" {
			continue
		}
		fits(len(n.in) > 0 && len(n.out) > 0 && !slices.Contains(n.out[1:], l.Output))
		in, out, name := maps[n.in[0]], n.out[0], strconv.Itoa(i)
		if mean, ok := means[n.in[0]]; ok {
			c, _, _ := mean.Dims()
			fits(n.flat(shapes, c))
			means[out] = mean
			continue
		}
		if n.op == "Shape" || n.op == "Gather" || n.op == "Unsqueeze" || n.op == "Concat" { // of a Reshape
			continue
		}
		fits(in != nil)
		switch n.op {
		case "Conv":
			maps[out] = l.conv(o, in, n, name)
		case "BatchNormalization":
			fits(len(n.in) == 5 && n.int("training_mode", 0) == 0)
			var v [4][]float32
			for j := range v {
				c, _, _ := in.Dims()
				v[j] = slices.Clone(l.vector(n.in[1+j], c))
			}
			for j := range v[3] {
				v[3][j] += n.float("epsilon", 1e-5)
			}
			maps[out] = l.norm(o, in, name, v[0], v[1], v[2], v[3])
		case "Relu":
			maps[out] = o.ReLU(in)
		case "Clip":
			switch lo, hi := l.number(n, 1, -math.MaxFloat32), l.number(n, 2, math.MaxFloat32); {
			case lo == 0 && hi == 6:
				maps[out] = o.ReLU6(in)
			case lo == 0 && hi >= math.MaxFloat32:
				maps[out] = o.ReLU(in)
			default:
				fits(false)
			}
		case "Add":
			fits(len(n.in) == 2 && maps[n.in[1]] != nil)
			maps[out] = o.Add(in, maps[n.in[1]])
		case "MaxPool":
			a := n.get("kernel_shape")
			fits(a != nil && len(a.ints) == 2 && a.ints[0] == a.ints[1] && a.ints[0] > 0 && a.ints[0] < math.MaxInt16)
			stride, padding := n.steps(in, int(a.ints[0]))
			fits(n.int("ceil_mode", 0) == 0 && padding >= 0)
			maps[out] = o.MaxPool(in, int(a.ints[0]), stride, padding)
		case "GlobalAveragePool":
			means[out] = in
		case "ReduceMean":
			fits(n.spatial(shapes))
			means[out] = in
		case "Identity":
			maps[out] = in
		default:
			fits(false)
		}
	}
	y := maps[l.Output]
	if y == nil {
		y = means[l.Output]
	}
	fits(y != nil)
	return y
}

// number is the only number of an input of a node, or another where it has none.
func (l *layered) number(n *node, input int, or float32) float32 {
	if input >= len(n.in) || n.in[input] == "" {
		return or
	}
	v := l.floats[n.in[input]]
	fits(len(v) == 1)
	return v[0]
}

// vector is an input of a node that has so many numbers.
func (l *layered) vector(name string, length int) []float32 {
	v := l.floats[name]
	fits(len(v) == length && len(l.dims[name]) == 1)
	return v
}

// conv is a convolution, with a group for all channels or for each.
func (l *layered) conv(o nets.Ops, x nets.Maps, n *node, name string) nets.Maps {
	fits(len(n.in) == 2 || len(n.in) == 3)
	c, _, _ := x.Dims()
	d, groups, bias := l.dims[n.in[1]], n.int("group", 1), len(n.in) == 3
	fits(len(d) == 4 && d[2] == d[3])
	stride, padding := n.steps(x, d[2])
	l.values[name+".weight"] = l.floats[n.in[1]]
	if groups == 1 {
		fits(d[1] == c)
		if bias {
			l.values[name+".bias"] = l.vector(n.in[2], d[0])
		}
		return o.Conv(x, name, d[0], d[2], stride, padding, bias)
	}
	fits(groups == int64(c) && d[0] == c && d[1] == 1)
	y := o.Depthwise(x, name, d[2], stride, padding)
	if bias { // which depthwise layers of ours have in a norm alone
		none, one := make([]float32, c), slices.Repeat([]float32{1}, c)
		y = l.norm(o, y, name+".after", one, l.vector(n.in[2], c), none, one)
	}
	return y
}

// norm is BatchNormalization with values whose variances have the number added.
func (l *layered) norm(o nets.Ops, x nets.Maps, name string, scale, shift, mean, variance []float32) nets.Maps {
	for part, v := range map[string][]float32{".weight": scale, ".bias": shift, ".running_mean": mean, ".running_var": variance} {
		l.values[name+part] = v
	}
	return o.BatchNorm(x, name)
}

// steps are the stride and the padding of windows over maps, as [nets.Padding] has it.
func (n *node) steps(x nets.Maps, kernel int) (stride, padding int) {
	all := func(name string, or int64) []int64 {
		v := []int64{or, or}
		if a := n.get(name); a != nil {
			v = a.ints
		}
		fits(len(v) == 2 && v[0] == v[1] && v[0] > 0 && v[0] < math.MaxInt16)
		return v
	}
	stride = int(all("strides", 1)[0])
	fits(all("dilations", 1)[0] == 1 && kernel > 0)
	pads := []int64{0, 0, 0, 0}
	if a := n.get("pads"); a != nil {
		pads = a.ints
	}
	fits(len(pads) == 4 && slices.Min(pads) >= 0 && slices.Max(pads) < int64(kernel))
	if p := pads[0]; slices.Equal(pads, []int64{p, p, p, p}) {
		return stride, int(p)
	}
	_, h, w := x.Dims()
	top, bottom := nets.Padding(h, kernel, stride, nets.Same)
	left, right := nets.Padding(w, kernel, stride, nets.Same)
	fits(slices.Equal(pads, []int64{int64(top), int64(left), int64(bottom), int64(right)}))
	return stride, nets.Same
}

// spatial reports whether a mean is over the axes of maps.
func (n *node) spatial(m *mender) bool {
	var axes []int64
	if a := n.get("axes"); a != nil {
		axes = slices.Clone(a.ints)
	} else if len(n.in) == 2 {
		axes = m.constants(n.in[1])
	}
	slices.Sort(axes)
	return slices.Equal(axes, []int64{2, 3}) || slices.Equal(axes, []int64{-2, -1})
}

// flat reports whether a node leaves the means of so many channels as they are, a row for each image.
func (n *node) flat(m *mender, channels int) bool {
	switch n.op {
	case "Identity", "Squeeze":
		return true
	case "Flatten":
		return n.int("axis", 1) == 1
	case "Reshape":
		if len(n.in) != 2 {
			return false
		}
		d := m.constants(n.in[1])
		return d == nil || len(d) == 2 && (d[1] == -1 || d[1] == int64(channels))
	}
	return false
}
