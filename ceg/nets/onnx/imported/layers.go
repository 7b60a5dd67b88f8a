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

// notLayers are operations that are none, and on the way to none: what has them is not looked at
// further.
var notLayers = []string{"ArgMax", "ArgMin", "Einsum", "GatherND", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Resize", "ScatterND",
	"Tile", "Trilu"}

// Layers returns the network as one that is computed without a graph, of square images of a size
// that are read as r says: where it is made of convolutions, linear layers of channels,
// BatchNormalization, LayerNormalization of channels, global response normalisation, the usual
// activations, sums, powers, gates of channels, pooling, rotary position embeddings (Su et al. 2021),
// and attention among all places or in windows. It is nil for others.
func (n *Network) Layers(size int, r datasets.Reading) (d *direct.Network) {
	if n.mend() != nil || n.problem != nil || n.last || r.BGR || n.Batch > 1 || n.room(size) != nil {
		return nil
	}
	for _, m := range n.graph.nodes { // before weights are read that may be large
		if slices.Contains(notLayers, m.op) || m.domain != "" && m.domain != "ai.onnx" && m.op != "Gelu" && m.op != "FastGelu" {
			return nil
		}
	}
	defer func() { // what does not fit together, as hostile files do not, is for the graph to say
		if recover() != nil {
			d = nil
		}
	}()
	w := &numbers{of: n}
	var err error
	if w.root, err = os.OpenRoot(filepath.Dir(n.Path)); err != nil {
		return nil
	}
	defer w.root.Close()
	l := &layered{Network: n, to: direct.NewBuilder(size), constants: map[string]constant{}, terms: map[string]*term{}, reordered: map[string]nets.Maps{}, onePlace: map[nets.Maps]*term{}}
	for _, t := range n.graph.weights {
		if t.kind != float32Type {
			l.keep(t.name, t, nil)
			continue
		}
		raw, err := w.bytes(t)
		if err != nil {
			return nil
		}
		l.keep(t.name, t, raw)
	}
	for _, m := range n.graph.nodes {
		if t := m.constant(); t != nil {
			l.keep(m.out[0], t, t.raw)
		}
	}
	if l.infinite {
		return nil
	}
	maps, pooling := l.layers(r)
	return l.to.Network(maps, pooling, nets.Pixels{Mean: r.Mean, Std: r.Std})
}

// constant is the tensor of a Constant, nil for other nodes.
func (n *node) constant() *tensor {
	if a := n.get("value"); n.op == "Constant" && a != nil {
		return a.t
	}
	return nil
}

// layered is a network that becomes layers. Values are those of one image.
type layered struct {
	*Network
	to        *direct.Builder
	constants map[string]constant
	terms     map[string]*term
	reordered map[string]nets.Maps // by what they were made of
	onePlace  map[nets.Maps]*term  // views of one place, by the maps that have nothing else
	// infinite says that a weight is no finite number, which limits could hide.
	infinite bool
}

// keep remembers the numbers of a tensor, of float32 its bytes.
func (l *layered) keep(name string, t *tensor, raw []byte) {
	c := constant{dims: ints(t.dims), whole: t.int64s()}
	if t.kind == boolType {
		c.whole = slices.Clone(t.ints)
		for _, v := range t.raw {
			c.whole = append(c.whole, int64(v))
		}
	}
	if t.kind == float32Type {
		var err error
		if c.v, err = t.float32s(raw); err != nil {
			return
		}
		for _, x := range c.v {
			l.infinite = l.infinite || len(c.v) > 1 && (math.IsNaN(float64(x)) || math.IsInf(float64(x), 0))
		}
	}
	if c.v != nil || c.whole != nil {
		l.constants[name] = c
	}
}

// term is a value of the file: a view of maps, from a channel and a place on, or a curve of it that
// may become one with what follows.
type term struct {
	of             nets.Maps
	axes           []axis
	channel, place int
	curve          direct.Activation
	// straight says that the curve is Scale*x + Shift.
	straight bool
	// powers, where it is not nil, are what the term is in place of a curve.
	powers *powers
	// padded are the zeros that a convolution is to see at the top, the left, the bottom and the right, or nil.
	padded []int64
	// scores and norm say that it is none of that, but a part of attention or of LayerNormalization.
	scores *scores
	norm   *normed
	// mixed, where it is not nil, is what the term is, without axes.
	mixed *mixed
}

// termOf is a term of maps as they are.
func termOf(m nets.Maps, axes []axis) *term {
	return &term{of: m, axes: axes, straight: true, curve: direct.Activation{Scale: 1}}
}

// imageOf are maps [1, channels, height, width].
func imageOf(m nets.Maps) *term {
	c, h, w := m.Dims()
	return termOf(m, []axis{nil, channels(c), join(axis{{false, h, w}}), places(w)})
}

// with is a view of the same axes of other maps.
func (t *term) with(m nets.Maps) *term {
	u := termOf(m, t.axes)
	u.channel, u.place = t.channel, t.place
	return u
}

func (t *term) dims() []int { return sizes(t.axes) }

// same reports whether two axes are.
func same(a, b axis) bool { return slices.Equal(a, b) }

// whole reports whether an axis is all channels of a term's maps.
func (t *term) whole(a axis) bool {
	c, _, _ := t.of.Dims()
	return t.channel == 0 && same(a, channels(c))
}

// bare reports whether a term is the maps themselves.
func (t *term) bare() bool { return t.straight && t.curve.Scale == 1 && t.curve.Shift == 0 }

// strange ends layers: the network has something else.
type strange struct{}

// fits ends layers unless what a node says is a layer of ours.
func fits(ok bool) {
	if !ok {
		panic(strange{})
	}
}

// layers adds all layers, and returns what features are made of, and how.
func (l *layered) layers(r datasets.Reading) (nets.Maps, config.Pooling) {
	l.terms[l.input.name] = imageOf(l.to.Images())
	for _, n := range l.graph.nodes {
		fits(len(n.out) > 0 && !slices.Contains(n.out[1:], l.Output) || n.op == "Split")
		switch {
		case n.op == "Constant":
		case n.op == "Shape" && len(n.in) == 1 && l.terms[n.in[0]] != nil:
			fits(l.terms[n.in[0]].norm == nil && l.terms[n.in[0]].padded == nil)
			l.constants[n.out[0]] = shapeOf(part(n, l.dims(l.terms[n.in[0]]))...)
		case slices.ContainsFunc(n.in, func(s string) bool { return l.terms[s] != nil }):
			l.node(n)
		default:
			if out, ok := l.evaluate(n); ok {
				for i, c := range out {
					l.constants[n.out[i]] = c
				}
			}
		}
	}
	y := l.terms[l.Output]
	fits(y != nil)
	y = l.settled(y)
	fits(y.scores == nil && y.norm == nil && y.padded == nil)
	t, err := take(y.dims(), 1, l.Output, r)
	fits(err == nil)
	if len(t.axes) == 1 {
		y = l.slice(y, 1, t.from, t.to-t.from, 1)
	}
	y = l.mean(y, t.axes)
	m := l.maps(y)
	c, h, w := m.Dims()
	if h*w > 1 { // as a flattened map is
		fits(y.channel == 0 && y.place == 0 && slices.EqualFunc(y.axes, []axis{nil, join(channels(c), places(h*w))}, same))
		return m, config.FlattenPool
	}
	all := join(y.axes...)
	fits(y.whole(all))
	return m, config.MeanPool
}

// dims are those of a term, of scores [..., queries, keys].
func (l *layered) dims(t *term) []int {
	if t.mixed != nil {
		return t.mixed.dims
	}
	if t.scores == nil {
		return t.dims()
	}
	d := t.scores.queries.dims()
	d[len(d)-1] = t.scores.keys.dims()[len(d)-2]
	return d
}

// node adds what a node does.
func (l *layered) node(n *node) {
	set := func(t *term) { l.terms[n.out[0]] = t }
	for i, s := range n.in {
		fits(l.terms[s] == nil || l.terms[s].padded == nil || n.op == "Conv" && i == 0)
	}
	if l.mix(n) {
		return
	}
	for _, s := range n.in {
		if t := l.terms[s]; t != nil {
			l.terms[s] = l.settled(t)
		}
	}
	if t, ok := l.norm(n); ok {
		set(t)
		return
	}
	if t, ok := l.polynomial(n); ok {
		set(t)
		return
	}
	if x, c, ok := l.arithmetic(n); ok {
		set(l.withConstant(n.op, x, c))
		return
	}
	if n.op == "Concat" {
		set(l.concat(n))
		return
	}
	x := l.terms[n.in[0]]
	fits(x != nil)
	if x.scores != nil {
		set(l.attention(n, x))
		return
	}
	rank := len(x.axes)
	// along is the axis that an attribute names.
	along := func(or int64) int {
		i := int(n.int("axis", or))
		if i < 0 {
			i += rank
		}
		fits(i >= 0 && i < rank)
		return i
	}
	switch n.op {
	case "Identity", "Cast": // to another type of floats, which are all float32 here
		fits(n.op == "Identity" || n.int("to", 0) == float32Type)
		set(x)
		return
	case "Add", "Mul":
		fits(len(n.in) == 2 && l.terms[n.in[1]] != nil)
		set(l.both(n.op, x, l.terms[n.in[1]]))
		return
	case "Relu":
		set(l.bent(x, direct.Activation{F: direct.Clamp, Hi: float32(math.Inf(1))}))
		return
	case "Clip":
		lo, hi := l.number(n, 1, float32(math.Inf(-1))), l.number(n, 2, float32(math.Inf(1)))
		fits(lo < hi)
		if lo == -math.MaxFloat32 { // as some say that there is none
			lo = float32(math.Inf(-1))
		}
		if hi == math.MaxFloat32 {
			hi = float32(math.Inf(1))
		}
		set(l.bent(x, direct.Activation{F: direct.Clamp, Lo: lo, Hi: hi}))
		return
	case "Sigmoid":
		set(l.bent(x, direct.Activation{F: direct.Sigmoid}))
		return
	case "Erf":
		set(l.bent(x, direct.Activation{F: direct.Erf}))
		return
	case "Gelu":
		set(l.curved(x, direct.Activation{F: direct.Erf, Inner: math.Sqrt2 / 2, Scale: 0.5, Shift: 0.5, Times: true}))
		return
	case "FastGelu":
		fits(len(n.in) == 1)
		k := 2 * math.Sqrt(2/math.Pi) // 2 tanh(u) - 1 is sigmoid(2u)
		set(l.curved(x, direct.Activation{F: direct.Sigmoid, Inner: float32(k), Third: float32(0.044715 / (k * k)), Scale: 1, Times: true}))
		return
	case "HardSwish":
		set(l.curved(x, direct.Activation{Hi: 1, Inner: 1. / 6, Offset: 0.5, Scale: 1, Times: true}))
		return
	case "MatMul":
		fits(len(n.in) == 2)
		if y := l.terms[n.in[1]]; y != nil {
			set(l.products(x, y))
			return
		}
	}
	m := l.maps(x)
	c, _, _ := m.Dims()
	switch n.op {
	case "Conv":
		set(imageOf(l.conv(l.square(x), n, x.padded)))
	case "MaxPool", "AveragePool":
		set(imageOf(l.pool(l.square(x), n)))
	case "GlobalAveragePool":
		set(imageOf(l.to.Mean(l.square(x))))
	case "BatchNormalization":
		fits(len(n.in) == 5 && n.int("training_mode", 0) == 0 && rank >= 2 && x.whole(x.axes[1]))
		var v [4][]float32
		for j := range v {
			v[j] = l.vector(n.in[1+j], c)
		}
		set(x.with(l.to.BatchNorm(m, v[0], v[1], v[2], v[3], float64(n.float("epsilon", 1e-5)))))
	case "LayerNormalization":
		fits(len(n.in) == 2 || len(n.in) == 3)
		fits(along(-1) == rank-1)
		x = l.deep(x)
		m = l.maps(x)
		c, _, _ = m.Dims()
		fits(x.whole(x.axes[rank-1]))
		bias := make([]float32, c)
		if len(n.in) == 3 {
			bias = l.vector(n.in[2], c)
		}
		set(x.with(l.to.LayerNorm(m, l.vector(n.in[1], c), bias, n.float("epsilon", 1e-5))))
	case "MatMul", "Gemm":
		set(l.linear(x, n))
	case "Transpose":
		a := n.get("perm")
		fits(a != nil && len(a.ints) == rank)
		y := x.with(m)
		y.axes = nil
		for j, i := range ints(a.ints) {
			fits(i >= 0 && i < rank && !slices.Contains(a.ints[:j], a.ints[j]))
			y.axes = append(y.axes, x.axes[i])
		}
		set(y)
	case "Flatten", "Reshape", "Squeeze", "Unsqueeze":
		y := x.with(m)
		y.axes = reshape(x.axes, l.newDims(n, x.dims()))
		set(y)
	case "Expand":
		fits(slices.Equal(repeated(x.dims(), l.constants[n.in[1]].shape()), x.dims()))
		set(x)
	case "Pad":
		set(l.pad(x, n))
	case "ReduceMean":
		axes := l.positions(n, rank)
		fits(len(axes) > 0)
		y := l.mean(x, axes)
		if n.int("keepdims", 1) != 0 {
			kept := *y
			kept.axes = nil
			for i, rest := 0, y.axes; i < rank; i++ {
				if slices.Contains(axes, i) {
					kept.axes = append(kept.axes, nil)
				} else {
					kept.axes, rest = append(kept.axes, rest[0]), rest[1:]
				}
			}
			y = &kept
		}
		set(y)
	case "Slice":
		from, count, steps := l.ranges(n, x.dims())
		for i := range from {
			x = l.slice(x, i, from[i], count[i], steps[i])
		}
		set(x)
	case "Split":
		i, from := along(0), 0
		for j, size := range l.parts(n, x.axes[i].size()) {
			l.terms[n.out[j]] = l.slice(x, i, from, size, 1)
			from += size
		}
	case "Gather":
		set(l.gather(x, along(0), l.constants[n.in[1]]))
	default:
		panic(strange{})
	}
}

// number is the only number of an input of a node, or another where it has none.
func (l *layered) number(n *node, input int, or float32) float32 {
	if input >= len(n.in) || n.in[input] == "" {
		return or
	}
	v := l.constants[n.in[input]]
	fits(len(v.v) == 1)
	return v.v[0]
}

// vector is an input of a node that has so many numbers.
func (l *layered) vector(name string, length int) []float32 {
	c := l.constants[name]
	fits(len(c.v) == length && len(c.dims) == 1)
	return c.v
}
