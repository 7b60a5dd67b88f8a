package imported

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/onnx-gomlx/onnx/parser"

	"github.com/ledg-go/ledg/ceg/engine"
)

// placements are the supported coordinate transformations of each mode of Resize.
var placements = map[string][]string{
	"cubic":   {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"},
	"linear":  {"half_pixel", "pytorch_half_pixel", "align_corners"},
	"nearest": {"asymmetric"},
}

// resize refuses a Resize that would be computed differently, and makes its scales constant.
// [Network.resizings] does the rest.
func (m *mender) resize(n *node) error {
	mode, place := n.text("mode", "nearest"), n.text("coordinate_transformation_mode", "half_pixel")
	ok := slices.Contains(placements[mode], place) && (mode != "nearest" || n.text("nearest_mode", "round_prefer_floor") == "floor")
	if !ok || n.int("antialias", 0) != 0 || n.get("axes") != nil || m.opset < 11 {
		return fmt.Errorf("a Resize of mode %s (%s) is not supported, only linear, nearest and cubic ones: export the network for one image size, where it is a constant", mode, place)
	}
	for i, s := range n.in {
		at := slices.IndexFunc(m.weights, func(t *tensor) bool { return t.name == s })
		if i > 0 && at >= 0 && !m.weights[at].outside && m.weights[at].kind == float32Type {
			n.in[i] = m.constant(m.weights[at])
		}
	}
	return nil
}

// resampling describes how a Resize changes the length of an axis.
type resampling struct {
	mode    string
	in, out int
	scale   float32 // from the file, or out/in
	place   string
	a       float32 // cubic_coeff_a
	exclude bool    // for cubic: ignore pixels outside, instead of repeating the edge
}

// matrix returns the interpolation weights [in, out], row-major, as in ONNX Runtime (ONNX's
// operator Resize; cubic by Keys 1981). Coordinates are computed in float32.
func (c resampling) matrix() []float32 {
	m := make([]float32, c.in*c.out)
	for i := range c.out {
		x := float32(i)
		switch {
		case c.scale == 1:
		case c.place == "align_corners" && c.out == 1, c.place == "pytorch_half_pixel" && c.out == 1:
			x = 0
		case c.place == "align_corners":
			x = x * float32(c.in-1) / float32(c.out-1)
		case c.place == "asymmetric":
			x /= c.scale
		default:
			x = (x+0.5)/c.scale - 0.5
		}
		first := int(math.Floor(float64(x)))
		w, sum := c.weights(float64(x)-float64(first)), 0.0
		for k := range w {
			if at := first - 1 + k; c.exclude && (at < 0 || at >= c.in) {
				w[k] = 0
			}
			sum += w[k]
		}
		for k, v := range w {
			if c.exclude {
				v /= sum
			}
			m[min(max(first-1+k, 0), c.in-1)*c.out+i] += float32(v)
		}
	}
	return m
}

// weights returns the weights of the four pixels around a position at distance s after the second.
func (c resampling) weights(s float64) [4]float64 {
	switch c.mode {
	case "nearest":
		return [4]float64{1: 1}
	case "linear":
		return [4]float64{1: 1 - s, 2: s}
	}
	return keys(float64(c.a), s)
}

// keys returns the weights of cubic interpolation.
func keys(a, s float64) [4]float64 {
	near := func(t float64) float64 { return ((a+2)*t-(a+3))*t*t + 1 }
	far := func(t float64) float64 { return ((a*t-5*a)*t+8*a)*t - 4*a }
	return [4]float64{far(s + 1), near(s), near(1 - s), far(2 - s)}
}

// widest limits the size of a matrix.
const widest = 1 << 24

// resizing is what a Resize does to height and width.
type resizing [2]resampling

// resizings rewrites every Resize, for one image size, as products with constant matrices, which
// have gradients. onnx-gomlx (v0.5.2) has no cubic Resize, GoMLX cannot differentiate its other
// ones, and it changes the file's scales where pixels times scale is not whole.
func (n *Network) resizings(size int) error {
	if n.resized != 0 && n.resized != size {
		return fmt.Errorf("its Resize was prepared for images of %d pixels a side, not %d", n.resized, size)
	}
	m := &mender{content: n.graph, added: resizes}
	for _, x := range slices.Clone(n.graph.nodes) {
		if x.op != "Resize" {
			continue
		}
		if len(x.in) == 0 {
			return fmt.Errorf("node %q (Resize): it has no input", x.name)
		}
		n.resized = size
		r, known := n.known[x.out[0]]
		if !known {
			var err error
			if r, err = n.resizing(x, size); err != nil {
				return fmt.Errorf("node %q (Resize): %w", x.name, err)
			}
			n.known[x.out[0]] = r
		}
		at := slices.Index(n.graph.nodes, x)
		after := slices.Clone(n.graph.nodes[at+1:])
		m.nodes = m.nodes[:at:at]
		y := m.product(x.in[0], r[1])
		y = m.turned(m.product(m.turned(y), r[0]))
		x.become("Identity", y)
		m.nodes = slices.Concat(m.nodes, []*node{x}, after)
	}
	return nil
}

// resizes is the first number of nodes that resize, above those of [rewritten].
const resizes = 1 << 24

// product multiplies the last axis of maps with a matrix, unless that changes nothing.
func (m *mender) product(x string, c resampling) string {
	if c.in == c.out && c.scale == 1 {
		return x
	}
	t := floats(c.matrix())
	t.dims = []int64{int64(c.in), int64(c.out)}
	return m.op("MatMul", x, m.constant(t))
}

// turned swaps the last two axes of maps.
func (m *mender) turned(x string) string {
	out := m.op("Transpose", x)
	m.nodes[len(m.nodes)-1].attrs = permuted(0, 1, 3, 2)
	return out
}

// resizing computes the resizing of a Resize; all earlier ones have been rewritten.
func (n *Network) resizing(x *node, size int) (r resizing, err error) {
	of := []string{x.in[0]}
	scales := n.graph.scales(x)
	if scales == nil {
		if len(x.in) < 4 || x.in[3] == "" {
			return r, fmt.Errorf("it has no constant scales: export the network for one image size")
		}
		of = append(of, x.out[0])
	}
	dims, err := n.shapes(size, of...)
	if err != nil {
		return r, err
	}
	in := dims[0]
	if len(in) != 4 || scales != nil && (len(scales) != 4 || scales[0] != 1 || scales[1] != 1) || scales == nil && !slices.Equal(in[:2], dims[1][:2]) {
		return r, fmt.Errorf("one of %v is taken along the last two of four axes alone", in)
	}
	for i := range r {
		r[i] = resampling{mode: x.text("mode", "nearest"), in: in[2+i], place: x.text("coordinate_transformation_mode", "half_pixel"), a: x.float("cubic_coeff_a", -0.75), exclude: x.int("exclude_outside", 0) != 0}
		c := &r[i]
		side := float32(0)
		if scales != nil {
			c.scale = scales[2+i]
			side = c.scale * float32(c.in)
		} else {
			side = float32(dims[1][2+i])
			c.scale = side / float32(c.in)
		}
		if !(side >= 1 && side*float32(c.in) <= widest) {
			return r, fmt.Errorf("it makes %v pixels of %d", side, c.in)
		}
		c.out = int(side)
	}
	return r, nil
}

// scales returns the constant scales of a Resize, nil if there are none.
func (g *content) scales(x *node) []float32 {
	if len(x.in) < 3 || x.in[2] == "" {
		return nil
	}
	for _, n := range g.nodes {
		if n.op != "Constant" || n.out[0] != x.in[2] {
			continue
		}
		if a := n.get("value"); a != nil && a.t != nil && a.t.kind == float32Type {
			if v, err := a.t.float32s(a.t.raw); err == nil && len(v) > 0 {
				return v
			}
		}
	}
	return nil
}

// shapes returns the shapes of values for images of a size. It builds the graph that they depend
// on, without computing it.
func (n *Network) shapes(size int, names ...string) (dims [][]int, err error) {
	part := n.part(names)
	m, err := parser.Parse(part.graph.encode())
	if err != nil {
		return nil, err
	}
	defer m.Close()
	w := &numbers{of: part}
	if w.root, err = os.OpenRoot(filepath.Dir(n.Path)); err != nil {
		return nil, err
	}
	defer w.root.Close()
	m = m.WithExternalDataReader(w)
	store := model.NewStore()
	defer store.Finalize()
	if err := m.VariablesToScope(store.RootScope()); err != nil {
		return nil, err
	}
	on, err := engine.Open("go")
	if err != nil {
		return nil, err
	}
	defer on.Close()
	err = caught(func() {
		g := graph.NewGraph(on.Compute, "shapes")
		defer g.Finalize()
		in := map[string]*graph.Node{}
		for _, v := range part.graph.inputs {
			side := []int{max(n.Batch, 1), 3, size, size}
			if n.last {
				side = []int{max(n.Batch, 1), size, size, 3}
			}
			in[v.name] = graph.Parameter(g, v.name, shapes.Make(dtypes.Float32, side...))
		}
		for _, v := range m.CallGraph(store.RootScope(), g, in, names...) {
			dims = append(dims, v.Shape().Dimensions)
		}
	})
	return dims, err
}

// part returns the part of the network that values depend on.
func (n *Network) part(names []string) *Network {
	g := *n.graph
	p := &Network{Path: n.Path, last: n.last, graph: &g}
	g.outputs = nil
	needed := map[string]bool{}
	for _, s := range names {
		needed[s] = true
		g.outputs = append(g.outputs, value{name: s, kind: float32Type})
	}
	g.nodes = nil
	for _, x := range slices.Backward(n.graph.nodes) {
		if slices.ContainsFunc(x.out, func(s string) bool { return needed[s] }) {
			g.nodes = append(g.nodes, x)
			for _, s := range x.needs() {
				needed[s] = true
			}
		}
	}
	slices.Reverse(g.nodes)
	g.weights = slices.DeleteFunc(slices.Clone(g.weights), func(t *tensor) bool { return !needed[t.name] })
	g.inputs = slices.DeleteFunc(slices.Clone(g.inputs), func(v value) bool { return !needed[v.name] })
	return p
}
