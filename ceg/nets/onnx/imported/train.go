package imported

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/onnx-gomlx/onnx"
	"github.com/gomlx/onnx-gomlx/onnx/parser"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Prefix precedes the names of parameters of networks from files.
const Prefix = "onnx."

// Trainable is a network from an ONNX file whose weights are trainable parameters: a
// [nets.Graph]. Images are normalised, of one size.
//
// Parameters are the float32 initializers that nodes compute with ([Trainable.learning] selects
// them): kernels, matrices, biases, scales, tokens, position embeddings. Integers, shapes, bounds,
// masks and constants of nodes stay constant, and so do scalars, except those with a parameter's
// name in PyTorch's style. BatchNormalization keeps the file's statistics, as if the exporter had
// folded it into convolutions, and its scale and shift learn. Dropout is omitted.
//
// An initializer that passes through Identity is a separate parameter: exporters write this for
// weights that had equal values, not for shared ones.
type Trainable struct {
	*Network
	// Pool is the pooling of an output of tokens, one of datasets.Pools; empty for others.
	Pool string

	size     int
	params   []nets.Param
	weights  map[string]*onnxpb.Tensor // of the parameters, by the file's names
	features int
	taking   taking
	tokens   int // the second side of the output, which is tokens where taking is of one axis
	sizes    nets.MapSizes
	lora     LoRA
	adapted  []matrix   // those with adapters, which alone learn
	model    onnx.Model // its inputs are the images and the parameters, by the file's names
	// dropouts and norms are the numbers of layers of Dropout and of BatchNormalization.
	dropouts, norms int
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
	if err := caught(t.learn); err != nil {
		return nil, fmt.Errorf("%s: %s", path, firstLine(err))
	}
	return t, nil
}

// learn finds the parameters and prepares the network for onnx-gomlx.
func (t *Trainable) learn() (err error) {
	switch {
	case t.Batch > 0:
		return fmt.Errorf("its input is of %d images at a time, which cannot be trained: export it with a free batch axis", t.Batch)
	case t.opset < 13:
		return fmt.Errorf("it is of opset %d: export it with opset 13 or later to train it", t.opset)
	}
	if err := t.load(); err != nil {
		return err
	}
	t.separate()
	for _, x := range t.file.Graph.Nodes {
		if len(x.Out) == 0 || len(x.In) == 0 && x.Op != "Constant" {
			return fmt.Errorf("node %q (%s) has no inputs or outputs", x.Name, x.Op)
		}
	}
	t.tidy()
	if err := t.chooseParams(); err != nil {
		return err
	}
	if err := t.program(); err != nil {
		return err
	}
	return t.infer()
}

// tidy makes nodes what they are in evaluation, and drops what nothing needs then.
func (t *Trainable) tidy() {
	for _, n := range t.file.Graph.Nodes {
		switch n.Op {
		case "Dropout":
			t.dropouts++
			n.Op, n.In, n.Out, n.Attributes = "Identity", n.In[:1], n.Out[:1], nil
		case "BatchNormalization":
			t.norms++
			n.Out = n.Out[:1]
			plain(n)
		}
	}
	t.prune()
}

// load reads the external weights.
func (t *Trainable) load() error {
	root, err := os.OpenRoot(filepath.Dir(t.Path))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, w := range t.file.Graph.Weights {
		if w.Location != outside {
			continue
		}
		width := map[int32]int{onnxpb.Float32: 4, onnxpb.Int64: 8}[w.Type]
		if width == 0 {
			return fmt.Errorf("weights %q of type %d outside the file are not trained", w.Name, w.Type)
		}
		offset, err := strconv.ParseInt(cmp.Or(entry(w, "offset"), "0"), 10, 64)
		if err != nil {
			return fmt.Errorf("weights %q: offset: %w", w.Name, err)
		}
		raw := make([]byte, width*w.Count())
		f, err := root.Open(filepath.FromSlash(entry(w, "location")))
		if err == nil {
			err = regular.ReadAt(f, raw, offset)
			f.Close()
		}
		if err != nil {
			return fmt.Errorf("weights %q: %w", w.Name, err)
		}
		w.Raw, w.Location, w.External = raw, 0, nil
	}
	return nil
}

// program rewrites the network for onnx-gomlx, with parameters as inputs and other weights as
// constants.
func (t *Trainable) program() error {
	w := &rewriter{kernel: map[string]*onnxpb.Tensor{}, same: map[string]string{}}
	g := &onnxpb.Graph{Name: "network", Inputs: []*onnxpb.Value{onnxpb.NewValue(t.input, "", onnxpb.Float32, -1, -1, -1, -1)}}
	for _, x := range t.file.Graph.Weights {
		w.kernel[x.Name] = x
		if t.weights[x.Name] != nil {
			g.Inputs = append(g.Inputs, onnxpb.NewValue(x.Name, "", onnxpb.Float32, x.Dims...))
		} else {
			w.nodes = append(w.nodes, &onnxpb.Node{Op: "Constant", Name: x.Name, Out: []string{x.Name}, Attributes: []*onnxpb.Attribute{onnxpb.Constant(x)}})
		}
	}
	for _, n := range t.file.Graph.Nodes {
		if err := w.node(n); err != nil {
			return err
		}
	}
	output := t.Output
	if s, ok := w.same[output]; ok {
		output = s
	}
	g.Nodes, g.Outputs = w.nodes, []*onnxpb.Value{onnxpb.NewValue(output, "", onnxpb.Float32)}
	b, err := (&onnxpb.Model{Version: 8, Graph: g, Opsets: t.file.Opsets}).Encode()
	if err != nil {
		return err
	}
	if t.model, err = parser.Parse(b); err == nil {
		t.model.DisableFusion() // fused operations may lack gradients
	}
	return err
}

// TrialImages is the number of images that shapes are inferred and a step is tried with: more than
// one, which files may have fixed, and an unlikely size for anything else.
const TrialImages = 3

// sketch builds a graph of a number of images without computing it, and calls f with the output.
func (t *Trainable) sketch(images int, f func(g *graph.Graph, y *graph.Node)) error {
	on, err := engine.Open("go")
	if err != nil {
		return err
	}
	defer on.Close()
	return caught(func() error {
		g := graph.NewGraph(on.Compute, "shapes")
		defer g.Finalize()
		params := map[string]*graph.Node{}
		for _, q := range t.params {
			params[q.Name] = graph.Parameter(g, q.Name, shapes.Make(dtypes.Float32, q.Shape...))
		}
		f(g, t.output(params, graph.Parameter(g, "images", shapes.Make(dtypes.Float32, images, t.size, t.size, 3))))
		return nil
	})
}

// infer finds the shape of the output and the sizes of maps.
func (t *Trainable) infer() error {
	return t.sketch(TrialImages, func(g *graph.Graph, y *graph.Node) {
		for _, v := range g.Nodes() {
			if s := v.Shape(); s.Rank() > 0 && s.Dimensions[0] == TrialImages {
				t.sizes.Largest = max(t.sizes.Largest, s.Size()/TrialImages)
				if op := v.Type(); op == graph.NodeTypeConvGeneral || op == graph.NodeTypeDotGeneral {
					t.sizes.Inputs += (v.Inputs()[0].Shape().Size() + s.Size()) / TrialImages
				}
			}
		}
		var err error
		if t.taking, err = take(y.Shape().Dimensions, TrialImages, t.Output, datasets.Reading{Pool: t.Pool}); err != nil {
			panic(err) // as GoMLX's functions do
		}
		t.features, t.tokens = t.taking.node(y).Shape().Dimensions[1], y.Shape().Dimensions[1]
	})
}

// Try checks that one training step works on few images of zeros, forward and backward. Its result
// is discarded. It is an error if the network's values grow faster than the number of images, as
// the memory for many is unknown then.
func (t *Trainable) Try(on engine.Backend) error {
	values, err := t.Values()
	if err != nil {
		return err
	}
	var sums [2]float64
	const many = 1024 * TrialImages
	for i, images := range []int{TrialImages, many} {
		err = errors.Join(err, t.sketch(images, func(g *graph.Graph, _ *graph.Node) {
			for _, v := range g.Nodes() {
				sums[i] += float64(v.Shape().Size())
			}
		}))
	}
	if err == nil && sums[1] > 1.5*many/TrialImages*sums[0] {
		err = fmt.Errorf("its values grow faster than the number of images, from %.3g numbers for %d images to %.3g for %d: it is not trained", sums[0], TrialImages, sums[1], many)
	}
	if err != nil {
		return fmt.Errorf("%s: %s", t.Path, firstLine(err))
	}
	args := []any{tensors.FromFlatDataAndDimensions(make([]float32, TrialImages*t.size*t.size*3), TrialImages, t.size, t.size, 3)}
	for _, p := range t.params {
		args = append(args, tensors.FromFlatDataAndDimensions(values[p.Name], p.Shape...))
	}
	err = caught(func() error {
		_, err := graph.CallOnceN(on.Compute, func(args []*graph.Node) []*graph.Node {
			params := map[string]*graph.Node{}
			for i, p := range t.params {
				params[p.Name] = args[1+i]
			}
			f := t.Build(params, []nets.Pass{{Images: args[0]}}, true)
			gradients, _ := f.Pull([]*graph.Node{graph.OnesLike(f.Passes[0])})
			return slices.AppendSeq(f.Passes, maps.Values(gradients))
		}, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %s", t.Path, firstLine(err))
	}
	return nil
}

func (t *Trainable) Params(size int) ([]nets.Param, int, error) {
	if size != t.size {
		return nil, 0, fmt.Errorf("%s is prepared for images of %d pixels a side, not %d", t.Path, t.size, size)
	}
	return t.params, t.features, nil
}

func (t *Trainable) MapSizes() nets.MapSizes { return t.sizes }

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
		w := t.weights[p.Name[len(Prefix):]]
		v := append(slices.Clone(w.Floats), make([]float32, len(w.Raw)/4)...)
		safetensors.Floats(v[len(w.Floats):], w.Raw)
		if len(v) != p.Size() {
			return nil, fmt.Errorf("%s: weights %q of shape %v have %d numbers", t.Path, w.Name, w.Dims, len(v))
		}
		values[p.Name] = v
	}
	return values, nil
}

// Notes returns messages for the user about how the network is trained.
func (t *Trainable) Notes() (notes []string) {
	for _, n := range []struct {
		layers int
		what   string
	}{{t.dropouts, "Dropout are left out"}, {t.norms, "BatchNormalization keep the file's means and variances"}} {
		if n.layers > 0 {
			notes = append(notes, fmt.Sprintf("%s: its %d layers of %s in training", filepath.Base(t.Path), n.layers, n.what))
		}
	}
	return notes
}
