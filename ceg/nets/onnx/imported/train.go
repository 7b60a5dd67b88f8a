package imported

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/onnx-gomlx/onnx"
	"github.com/gomlx/onnx-gomlx/onnx/parser"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
)

// Prefix precedes the names of parameters of networks from files.
const Prefix = "onnx."

// Trainable is a network from an ONNX file whose weights are trainable parameters: a
// [nets.Graph]. Images are normalised, of one size.
//
// Parameters are the floating-point initializers that nodes compute with ([content.learning]
// selects them): kernels, matrices, biases, scales, tokens, position embeddings. Integers, shapes,
// bounds, masks and constants of nodes stay constant, and so do scalars, except those with a
// parameter's name in PyTorch's style. Values that the exporter computed from parameters are
// trained in the exported form. BatchNormalization uses batch statistics in training, like
// nets.Ops, with the file's epsilon and momentum. Dropout is omitted.
//
// An initializer that passes through Identity is a separate parameter: exporters write this for
// weights that had equal values, not for shared ones.
type Trainable struct {
	// Network is the file. Its graph is as the file has it, but for widened floats.
	*Network
	// Pool is the pooling of an output of tokens, one of datasets.Pools; empty for others.
	Pool string
	// Dropouts is the number of omitted Dropout layers.
	Dropouts int

	size     int
	params   []nets.Param
	tensors  map[string]*tensor // the parameters' tensors, by the file's names
	features int
	shape    []int // of the output for few images
	sizes    nets.MapSizes
	norms    []norm
	// test and train are the network in evaluation and in training; plain is the file's network.
	test, train, plain program
}

// program is a network as onnx-gomlx builds it: its inputs are the images and the parameters,
// by the file's names.
type program struct {
	model  onnx.Model
	inputs []string
	output string
}

// norm is a BatchNormalization: the names of its running statistics and of its statistics over
// groups of images, and the number of positions per image.
type norm struct {
	mean, variance           string
	groupMean, groupVariance string
	places                   int
	momentum                 float64 // weight of a batch in the running statistics
}

// OpenTrainable reads an ONNX file like [Open], for training on images of the given size.
func OpenTrainable(path, output, pool, digest string, size int) (*Trainable, error) {
	n, err := Open(path, output, digest)
	if err != nil {
		return nil, err
	}
	t := &Trainable{Network: n, Pool: pool}
	if t.size, err = t.Side(size); err != nil {
		return nil, err
	}
	if err := t.learn(); err != nil {
		return nil, fmt.Errorf("%s: %s", path, firstLine(err))
	}
	return t, nil
}

// learn finds the parameters and builds the two programs.
func (t *Trainable) learn() error {
	if t.Batch > 0 {
		return fmt.Errorf("its input is of %d images at a time, which cannot be trained: export it with a free batch axis", t.Batch)
	}
	for _, w := range t.graph.weights {
		w.widen()
	}
	t.graph.separate()
	for _, x := range t.graph.nodes {
		if x.op == "Dropout" {
			t.Dropouts++
		}
	}
	if err := t.chooseParams(); err != nil {
		return err
	}
	t.known = map[string]resizing{} // shared by all programs
	var err error
	if t.plain, err = t.program(nil); err != nil {
		return err
	}
	dims, err := t.infer(t.plain)
	if err != nil {
		return err
	}
	if t.test, err = t.program(&differentiable{dims: dims}); err != nil {
		return err
	}
	d := &differentiable{dims: dims, train: true}
	if t.train, err = t.program(d); err != nil {
		return err
	}
	t.norms = d.norms
	return nil
}

// program copies the network and mends its nodes. With d, it also rewrites them so that they have
// gradients.
func (t *Trainable) program(d *differentiable) (program, error) {
	n := t.evaluated()
	g := n.graph
	if d != nil {
		if err := d.rewrite(g); err != nil {
			return program{}, err
		}
	}
	if err := n.mend(); err != nil {
		return program{}, err
	}
	if x := n.problem; x != nil {
		return program{}, fmt.Errorf("operation %s of node %q cannot be trained here; `ledg embed` may compute frozen features of it, with `ledg backend install onnxruntime`", x.op, x.name)
	}
	if err := n.resizings(t.size); err != nil {
		return program{}, err
	}
	for _, s := range n.softmax {
		if axis := s.int("axis", 1); axis != -1 {
			return program{}, fmt.Errorf("node %q: a Softmax of opset %d is not trained: export it with opset 13 or later", s.name, g.opset)
		}
	}
	p := program{output: t.Output}
	if err := t.inputsOf(n); err != nil {
		return program{}, err
	}
	for _, v := range g.inputs {
		p.inputs = append(p.inputs, v.name)
	}
	model, err := parser.Parse(g.encode())
	if err != nil {
		return program{}, err
	}
	p.model = model
	p.model.DisableFusion() // fused operations may lack gradients
	return p, nil
}

// evaluated returns a copy of the network in evaluation mode, whose nodes may be rewritten in
// place. Tensors are shared, since only widening changes them.
func (t *Trainable) evaluated() *Network {
	n := *t.Network
	g := *t.graph
	n.graph = &g
	g.weights, g.inputs, g.outputs = slices.Clone(g.weights), slices.Clone(g.inputs), slices.Clone(g.outputs)
	g.nodes = make([]*node, len(t.graph.nodes))
	for i, x := range t.graph.nodes {
		y := *x
		y.in, y.out, y.attrs = slices.Clone(x.in), slices.Clone(x.out), slices.Clone(x.attrs)
		g.nodes[i] = &y
	}
	g.evaluate()
	return &n
}

// evaluate changes nodes that were exported in training mode to evaluation mode.
func (g *content) evaluate() {
	for _, x := range g.nodes {
		switch x.op {
		case "BatchNormalization":
			x.drop("training_mode")
			x.out = x.out[:1]
		case "Dropout":
			x.become("Identity", x.in[0])
			x.out = x.out[:1]
		}
	}
}

// inputsOf makes the needed parameters inputs and the other weights constants.
func (t *Trainable) inputsOf(n *Network) error {
	g := n.graph
	g.inputs[0].dims = append([]int64{-1}, g.inputs[0].dims[1:]...)
	used := g.used()
	var constants []*node
	for _, w := range g.weights {
		switch {
		case !used[w.name]:
		case t.tensors[w.name] != nil:
			g.inputs = append(g.inputs, value{name: w.name, kind: float32Type, dims: w.dims, shape: true})
		default:
			c, err := t.constant(w)
			if err != nil {
				return err
			}
			constants = append(constants, c)
		}
	}
	g.weights, g.nodes = nil, append(constants, g.nodes...)
	return nil
}

// constant returns a weight as a constant node.
func (t *Trainable) constant(w *tensor) (*node, error) {
	c := *w
	if w.outside {
		raw, err := t.bytes(w)
		if err != nil {
			return nil, err
		}
		c.raw, c.outside = raw, false
	}
	return &node{op: "Constant", name: w.name, out: []string{w.name}, attrs: []attr{{name: "value", kind: tensorAttr, t: &c}}}, nil
}

// bytes returns the numbers of a weight, little-endian.
func (t *Trainable) bytes(w *tensor) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(t.Path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return (&numbers{of: t.Network, root: root}).bytes(w)
}

// few is the batch size for inferring shapes: more than one, which files may have fixed, and an
// unlikely size for anything else.
const few = 3

// infer returns the shapes of all values for few images. The Go backend builds a graph of each
// value in turn without computing it.
func (t *Trainable) infer(p program) (map[string][]int, error) {
	backend, err := engine.Open("go")
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	var names []string
	seen := map[string]bool{}
	for _, x := range t.graph.nodes {
		if kernels[x.op] {
			of := []string{x.in[0], x.out[0]}
			if x.op == "Conv" {
				of = append(of, x.in[1])
			}
			for _, s := range of {
				if !seen[s] {
					seen[s] = true
					names = append(names, s)
				}
			}
		}
	}
	dims := map[string][]int{}
	err = caught(func() {
		g := graph.NewGraph(backend.Compute, "shapes")
		defer g.Finalize()
		params := map[string]*graph.Node{}
		for _, q := range t.params {
			params[q.Name] = graph.Parameter(g, q.Name, shapes.Make(dtypes.Float32, q.Shape...))
		}
		images := graph.Parameter(g, "images", shapes.Make(dtypes.Float32, few, t.size, t.size, 3))
		list, more := t.lates()
		values := t.call(p, params, images, nil, append(slices.Clone(names), more...))
		checkLater(list, values[1+len(names):])
		t.sized(g)
		for _, v := range g.Nodes() {
			if s := v.Shape(); s.Rank() > 0 && s.Dimensions[0] == few {
				t.sizes.Largest = max(t.sizes.Largest, s.Size()/few)
			}
		}
		for i, s := range names {
			if dims[s] = values[i+1].Shape().Dimensions; dims[s][0] != few {
				continue // a kernel
			}
			t.sizes.Inputs += values[i+1].Shape().Size() / few
		}
		t.shape = values[0].Shape().Dimensions
		r := datasets.Reading{Pool: t.Pool}
		t.features = pool(values[0], few, t.Output, r).Shape().Dimensions[1]
	})
	return dims, err
}

// converter matches a function of onnx-gomlx that converts an operation, in a trace of the stack.
var converter = regexp.MustCompile(`\.convert([A-Z]\w*)\(`)

// caught calls f and returns its panic, as GoMLX's functions raise them, as an error.
func caught(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				err = fmt.Errorf("%v", r)
			}
			if op := converter.FindSubmatch(debug.Stack()); op != nil && errors.As(err, new(runtime.Error)) {
				err = fmt.Errorf("operation %s, in the form that it has in this file, is not supported here", op[1])
			}
		}
	}()
	f()
	return nil
}

// kernels are the operations whose gradients need their shapes.
var kernels = map[string]bool{"Conv": true, "BatchNormalization": true, "GlobalAveragePool": true}

// Params implements nets.Graph.
func (t *Trainable) Params(size int) ([]nets.Param, int, error) {
	if size != t.size {
		return nil, 0, fmt.Errorf("%s is prepared for images of %d pixels a side, not %d", t.Path, t.size, size)
	}
	return t.params, t.features, nil
}

// MapSizes implements nets.Graph.
func (t *Trainable) MapSizes() nets.MapSizes { return t.sizes }

// Files implements nets.Graph.
func (t *Trainable) Files() []string {
	list := []string{t.Path}
	for _, w := range t.beside {
		list = append(list, filepath.Join(filepath.Dir(t.Path), filepath.FromSlash(w)))
	}
	return list
}

// Values returns the parameters' values in the file, by name.
func (t *Trainable) Values() (map[string][]float32, error) {
	values := map[string][]float32{}
	for _, p := range t.params {
		w := t.tensors[strings.TrimPrefix(p.Name, Prefix)]
		raw, err := t.bytes(w)
		if err != nil {
			return nil, err
		}
		if values[p.Name], err = w.float32s(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Path, err)
		}
	}
	return values, nil
}

// Notes returns messages for the user about how the network is trained.
func (t *Trainable) Notes() []string {
	var notes []string
	if t.Dropouts > 0 {
		notes = append(notes, fmt.Sprintf("%s: its %d layers of Dropout are left out in training", filepath.Base(t.Path), t.Dropouts))
	}
	return notes
}

var errNoWeights = errors.New("it has no weights that could be trained")
