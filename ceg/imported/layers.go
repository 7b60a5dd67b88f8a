package imported

import (
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
	"github.com/ledg-go/ledg/datasets"
)

// layerOperations are those of which some uses are layers, or on the way to a Reshape.
var layerOperations = []string{"Add", "AveragePool", "BatchNormalization", "Clip", "Concat", "Constant", "Conv", "Div", "Erf", "Flatten", "Gather", "Gelu",
	"Gemm", "GlobalAveragePool", "HardSwish", "Identity", "LayerNormalization", "MatMul", "MaxPool", "Mul", "ReduceMean", "Relu", "Reshape", "Shape",
	"Sigmoid", "Squeeze", "Sub", "Transpose", "Unsqueeze"}

// Layers returns the network as one that is computed without a graph, of square images of a size
// that are normalised as r says: where it is made of convolutions, linear layers of channels,
// BatchNormalization, LayerNormalization of channels, the usual activations, sums, gates of
// channels, pooling, and a mean over the last maps. It is nil for others.
func (n *Network) Layers(size int, r datasets.Reading) (d *direct.Network) {
	if n.mend() != nil || n.problem != nil || n.last || r.BGR || r.Pool != "" || n.room(size) != nil {
		return nil
	}
	for _, m := range n.graph.nodes { // before weights are read that may be large
		if !slices.Contains(layerOperations, m.op) || m.domain != "" && m.domain != "ai.onnx" && m.op != "Gelu" {
			return nil
		}
	}
	w := &numbers{of: n}
	var err error
	if w.root, err = os.OpenRoot(filepath.Dir(n.Path)); err != nil {
		return nil
	}
	defer w.root.Close()
	l := &layered{Network: n, to: direct.NewBuilder(size), shapes: &mender{content: n.graph}, constants: map[string]constant{}, terms: map[string]*term{}}
	for _, t := range n.graph.weights {
		if t.kind != float32Type {
			continue
		}
		raw, err := w.bytes(t)
		if err != nil {
			return nil
		}
		l.keep(t.name, t, raw)
	}
	for _, m := range n.graph.nodes {
		if t := m.constant(); t != nil && t.kind == float32Type {
			l.keep(m.out[0], t, t.raw)
		}
	}
	if l.infinite {
		return nil
	}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case strange:
			d = nil
		default:
			panic(x)
		}
	}()
	return l.to.Network(l.layers(), config.MeanPool, nets.Pixels{Mean: r.Mean, Std: r.Std})
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

// constant are numbers that do not depend on images.
type constant struct {
	v    []float32
	dims []int
}

// layered is a network that becomes layers.
type layered struct {
	*Network
	to        *direct.Builder
	shapes    *mender
	constants map[string]constant
	terms     map[string]*term
	// infinite says that a weight is no finite number, which limits could hide.
	infinite bool
}

func (l *layered) keep(name string, t *tensor, raw []byte) {
	v, err := t.float32s(raw)
	if err != nil {
		return
	}
	for _, x := range v {
		l.infinite = l.infinite || len(v) > 1 && (math.IsNaN(float64(x)) || math.IsInf(float64(x), 0))
	}
	d := []int{}
	for _, n := range t.dims {
		d = append(d, int(n))
	}
	l.constants[name] = constant{v, d}
}

// form says which axes the channels and places of maps are.
type form uint8

const (
	nchw form = iota // [n, c, h, w]
	nhwc             // [n, h, w, c]
	nc               // [n, c], of maps of one place
)

// term is a value of the file: maps, or a curve of them that may become one with what follows.
type term struct {
	of    nets.Maps
	form  form
	curve direct.Curve
	// straight says that the curve is Scale*x + Shift.
	straight bool
}

// termOf is a term of maps as they are.
func termOf(m nets.Maps, f form) *term {
	return &term{of: m, form: f, straight: true, curve: direct.Curve{Scale: 1}}
}

// bare reports whether a term is the maps themselves.
func (t *term) bare() bool { return t.straight && t.curve.Scale == 1 && t.curve.Shift == 0 }

// maps computes a term.
func (l *layered) maps(t *term) nets.Maps {
	if t.bare() {
		return t.of
	}
	c := t.curve
	switch limit := (direct.Curve{F: direct.Clamp, Lo: c.Lo, Hi: c.Hi, Inner: 1, Scale: 1}); {
	case t.straight:
		n, _, _ := t.of.Dims()
		t.of = l.to.Affine(t.of, slices.Repeat([]float32{c.Scale}, n), slices.Repeat([]float32{c.Shift}, n))
	case c == limit:
		t.of = l.to.Limit(t.of, c.Lo, c.Hi)
	default:
		t.of = l.to.Bend(t.of, c)
	}
	t.straight, t.curve = true, direct.Curve{Scale: 1}
	return t.of
}

// strange ends layers: the network has something else.
type strange struct{}

// fits ends layers unless what a node says is a layer of ours.
func fits(ok bool) {
	if !ok {
		panic(strange{})
	}
}

// layers adds all layers, and returns what features are means of.
func (l *layered) layers() nets.Maps {
	l.terms[l.input.name] = termOf(l.to.Images(), nchw)
	for _, n := range l.graph.nodes {
		fits(len(n.out) > 0 && !slices.Contains(n.out[1:], l.Output))
		ofMaps := slices.ContainsFunc(n.in, func(s string) bool { return l.terms[s] != nil })
		switch c, ok := l.constants[n.in0()]; {
		case ok && n.op == "Identity": // of a weight that two nodes share
			l.constants[n.out[0]] = c
		case ofMaps && n.op != "Shape": // what is left is on the way to a shape
			l.terms[n.out[0]] = l.node(n)
		}
	}
	y := l.terms[l.Output]
	fits(y != nil && y.form != nhwc)
	return l.maps(y)
}

// node adds what a node does.
func (l *layered) node(n *node) *term {
	if x, c, ok := l.arithmetic(n); ok {
		return l.withConstant(n.op, x, c)
	}
	x := l.terms[n.in[0]]
	fits(x != nil)
	switch n.op {
	case "Identity":
		return x
	case "Concat":
		list := []nets.Maps{}
		for _, name := range n.in {
			y := l.terms[name]
			fits(y != nil && y.form == x.form)
			list = append(list, l.maps(y))
			_, h, w := list[0].Dims()
			_, i, j := l.maps(y).Dims()
			fits(h == i && w == j)
		}
		axis := n.int("axis", 0)
		fits(x.form != nhwc && axis == 1 || x.form == nhwc && (axis == 3 || axis == -1))
		return termOf(l.to.Concat(list...), x.form)
	case "Add", "Mul":
		fits(len(n.in) == 2 && l.terms[n.in[1]] != nil)
		return l.both(n.op, x, l.terms[n.in[1]])
	case "Relu":
		return l.bent(x, direct.Curve{F: direct.Clamp, Hi: float32(math.Inf(1))})
	case "Clip":
		lo, hi := l.number(n, 1, float32(math.Inf(-1))), l.number(n, 2, float32(math.Inf(1)))
		fits(lo < hi)
		if hi == math.MaxFloat32 {
			hi = float32(math.Inf(1))
		}
		return l.bent(x, direct.Curve{F: direct.Clamp, Lo: lo, Hi: hi})
	case "Sigmoid":
		return l.bent(x, direct.Curve{F: direct.Sigmoid})
	case "Erf":
		return l.bent(x, direct.Curve{F: direct.Erf})
	case "Gelu":
		return &term{of: l.maps(x), form: x.form, curve: direct.Curve{F: direct.Erf, Inner: math.Sqrt2 / 2, Scale: 0.5, Shift: 0.5, Times: true}}
	case "HardSwish":
		return &term{of: l.maps(x), form: x.form, curve: direct.Curve{Hi: 1, Inner: 1. / 6, Offset: 0.5, Scale: 1, Times: true}}
	}
	m := l.maps(x)
	channels, h, w := m.Dims()
	switch n.op {
	case "Conv":
		fits(x.form == nchw)
		return termOf(l.conv(m, n), nchw)
	case "BatchNormalization":
		fits(len(n.in) == 5 && n.int("training_mode", 0) == 0 && x.form != nhwc)
		var v [4][]float32
		for j := range v {
			v[j] = l.vector(n.in[1+j], channels)
		}
		return termOf(l.to.BatchNorm(m, v[0], v[1], v[2], v[3], float64(n.float("epsilon", 1e-5))), x.form)
	case "LayerNormalization":
		axis := n.int("axis", -1)
		fits(len(n.in) == 2 || len(n.in) == 3)
		fits(x.form == nhwc && (axis == -1 || axis == 3) || x.form == nc && (axis == -1 || axis == 1))
		bias := make([]float32, channels)
		if len(n.in) == 3 {
			bias = l.vector(n.in[2], channels)
		}
		return termOf(l.to.LayerNorm(m, l.vector(n.in[1], channels), bias, n.float("epsilon", 1e-5)), x.form)
	case "MatMul", "Gemm":
		return l.linear(m, n, x.form)
	case "Transpose":
		a := n.get("perm")
		fits(a != nil)
		switch {
		case x.form == nchw && slices.Equal(a.ints, []int64{0, 2, 3, 1}):
			return termOf(m, nhwc)
		case x.form == nhwc && slices.Equal(a.ints, []int64{0, 3, 1, 2}):
			return termOf(m, nchw)
		}
	case "MaxPool", "AveragePool":
		fits(x.form == nchw)
		return termOf(l.pool(m, n), nchw)
	case "GlobalAveragePool":
		fits(x.form == nchw)
		return termOf(l.to.Mean(m), nchw)
	case "ReduceMean":
		fits(n.spatial(l.shapes, x.form))
		if n.int("keepdims", 1) == 0 {
			return termOf(l.to.Mean(m), nc)
		}
		return termOf(l.to.Mean(m), x.form)
	case "Flatten", "Reshape", "Squeeze":
		fits(h*w == 1 && n.flat(l.shapes, channels))
		return termOf(m, nc)
	}
	panic(strange{})
}

// arithmetic returns the term and the constant of a node that combines them.
func (l *layered) arithmetic(n *node) (x *term, c constant, ok bool) {
	if len(n.in) != 2 || !slices.Contains([]string{"Add", "Sub", "Mul", "Div"}, n.op) {
		return nil, c, false
	}
	if c, ok = l.constants[n.in[1]]; ok && l.terms[n.in[0]] != nil {
		return l.terms[n.in[0]], c, true
	}
	c, ok = l.constants[n.in[0]]
	fits(!ok || n.op == "Add" || n.op == "Mul")
	x = l.terms[n.in[1]]
	return x, c, ok && x != nil
}

// withConstant is a term plus, minus, times or divided by numbers: one, or one for each channel.
func (l *layered) withConstant(op string, x *term, c constant) *term {
	scale, shift := func(v float32) float32 { return v }, func(float32) float32 { return 0 }
	switch op {
	case "Add":
		scale, shift = func(float32) float32 { return 1 }, func(v float32) float32 { return v }
	case "Sub":
		scale, shift = func(float32) float32 { return 1 }, func(v float32) float32 { return -v }
	case "Div":
		scale = func(v float32) float32 { return 1 / v }
	}
	if len(c.v) == 1 {
		y := *x
		if y.curve.Times && shift(c.v[0]) != 0 {
			y = *termOf(l.maps(x), x.form)
		}
		y.curve.Scale *= scale(c.v[0])
		y.curve.Shift = y.curve.Shift*scale(c.v[0]) + shift(c.v[0])
		return &y
	}
	m := l.maps(x)
	channels, _, _ := m.Dims()
	fits(c.channels(x.form, channels))
	a, b := make([]float32, channels), make([]float32, channels)
	for i, v := range c.v {
		a[i], b[i] = scale(v), shift(v)
	}
	return termOf(l.to.Affine(m, a, b), x.form)
}

// channels reports whether numbers are one for each channel.
func (c constant) channels(f form, n int) bool {
	d := c.dims
	for len(d) > 1 && d[0] == 1 {
		d = d[1:]
	}
	return len(c.v) == n && (f == nchw && slices.Equal(d, []int{n, 1, 1}) || f != nchw && slices.Equal(d, []int{n})) && len(c.dims) <= 4
}

// bent puts a term on a curve.
func (l *layered) bent(x *term, c direct.Curve) *term {
	if !x.straight {
		l.maps(x)
	}
	c.Inner, c.Offset, c.Scale = x.curve.Scale, x.curve.Shift, 1
	return &term{of: x.of, form: x.form, curve: c}
}

// both is the sum or the product of two terms.
func (l *layered) both(op string, x, y *term) *term {
	fits(x.form == y.form)
	if x.straight {
		x, y = y, x
	}
	if op == "Mul" && x.of == y.of && !x.straight && y.straight && y.curve.Shift == 0 && !x.curve.Times {
		z := *x
		z.curve.Scale, z.curve.Shift, z.curve.Times = z.curve.Scale*y.curve.Scale, z.curve.Shift*y.curve.Scale, true
		return &z
	}
	u, v := l.maps(x), l.maps(y)
	c, h, w := u.Dims()
	d, i, j := v.Dims()
	fits(c == d)
	if op == "Add" {
		fits(h == i && w == j)
		return termOf(l.to.Add(u, v), x.form)
	}
	fits(h == i && w == j || h*w == 1 || i*j == 1)
	return termOf(l.to.Mul(u, v), x.form)
}

// number is the only number of an input of a node, or another where it has none.
func (l *layered) number(n *node, input int, or float32) float32 {
	if input >= len(n.in) || n.in[input] == "" {
		return or
	}
	v := l.constants[n.in[input]].v
	fits(len(v) == 1)
	return v[0]
}

// vector is an input of a node that has so many numbers.
func (l *layered) vector(name string, length int) []float32 {
	c := l.constants[name]
	fits(len(c.v) == length && len(c.dims) == 1)
	return c.v
}

// conv is a convolution.
func (l *layered) conv(x nets.Maps, n *node) nets.Maps {
	fits(len(n.in) == 2 || len(n.in) == 3)
	c, _, _ := x.Dims()
	weight, groups := l.constants[n.in[1]], int(n.int("group", 1))
	d := weight.dims
	fits(len(d) == 4 && d[2] == d[3] && groups > 0 && c%groups == 0 && d[0]%groups == 0 && d[1] == c/groups && len(weight.v) == d[0]*d[1]*d[2]*d[3])
	stride, padding := n.steps(x, d[2])
	var bias []float32
	if len(n.in) == 3 {
		bias = l.vector(n.in[2], d[0])
	}
	return l.to.Conv(x, weight.v, bias, d[0], d[2], stride, padding, groups)
}

// linear is a linear layer of the channels of every place.
func (l *layered) linear(x nets.Maps, n *node, f form) *term {
	fits(f != nchw && len(n.in) >= 2 && n.int("transA", 0) == 0 && n.float("alpha", 1) == 1 && n.float("beta", 1) == 1 && (n.op == "MatMul" || f == nc))
	c, _, _ := x.Dims()
	w := l.constants[n.in[1]]
	turned := n.int("transB", 0) != 0
	fits(len(w.dims) == 2)
	in, out := w.dims[0], w.dims[1]
	if turned {
		in, out = out, in
	}
	fits(in == c && len(w.v) == in*out && out > 0)
	weight := w.v
	if !turned {
		weight = make([]float32, in*out)
		for i := range in {
			for o := range out {
				weight[o*in+i] = w.v[i*out+o]
			}
		}
	}
	var bias []float32
	if len(n.in) == 3 {
		bias = l.vector(n.in[2], out)
	}
	return termOf(l.to.Conv(x, weight, bias, out, 1, 1, 0, 1), f)
}

// pool is a pooling by windows; a mean is a convolution with equal weights.
func (l *layered) pool(x nets.Maps, n *node) nets.Maps {
	a := n.get("kernel_shape")
	fits(a != nil && len(a.ints) == 2 && a.ints[0] == a.ints[1] && a.ints[0] > 0 && a.ints[0] < math.MaxInt16)
	kernel := int(a.ints[0])
	stride, padding := n.steps(x, kernel)
	c, h, w := x.Dims()
	fits(n.int("ceil_mode", 0) == 0 || padding >= 0 && (h+2*padding-kernel)%stride == 0 && (w+2*padding-kernel)%stride == 0)
	if n.op == "MaxPool" {
		fits(padding >= 0)
		return l.to.MaxPool(x, kernel, stride, padding)
	}
	fits(c > 1 && padding == 0) // a Pad comes before those that count it
	return l.to.Conv(x, slices.Repeat([]float32{1 / float32(kernel*kernel)}, c*kernel*kernel), nil, c, kernel, stride, padding, c)
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
	_, h, w := x.Dims()
	if p := pads[0]; slices.Equal(pads, []int64{p, p, p, p}) {
		fits(min(h, w)+2*int(p) >= kernel)
		return stride, int(p)
	}
	top, bottom := nets.Padding(h, kernel, stride, nets.Same)
	left, right := nets.Padding(w, kernel, stride, nets.Same)
	fits(slices.Equal(pads, []int64{int64(top), int64(left), int64(bottom), int64(right)}))
	return stride, nets.Same
}

// spatial reports whether a mean is over the places of maps.
func (n *node) spatial(m *mender, f form) bool {
	var axes []int64
	if a := n.get("axes"); a != nil {
		axes = slices.Clone(a.ints)
	} else if len(n.in) == 2 {
		axes = slices.Clone(m.constants(n.in[1]))
	}
	for i := range axes {
		if axes[i] < 0 {
			axes[i] += 4
		}
	}
	slices.Sort(axes)
	return f == nchw && slices.Equal(axes, []int64{2, 3}) || f == nhwc && slices.Equal(axes, []int64{1, 2})
}

// flat reports whether a node makes rows [n, channels] of maps of one place.
func (n *node) flat(m *mender, channels int) bool {
	switch n.op {
	case "Squeeze":
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
