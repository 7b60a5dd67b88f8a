package imported

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/onnx-gomlx/onnx"
	"github.com/gomlx/onnx-gomlx/onnx/parser"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// batch is the batch size if the file leaves it open.
const batch = 8

// largest bounds the number of elements of a value.
const largest = 1 << 30

// Exec is a network ready to run. Its methods are not safe for concurrent use, except Run if
// Concurrent is true.
type Exec struct {
	// Batch is the number of images of a call, Size their side, and Features the length of a
	// feature vector.
	Batch, Size, Features int
	Concurrent            bool

	path  string
	run   func(images []byte) ([]float32, error)
	close func()
}

// Weights is the number of the network's weights.
func (n *Network) Weights() (count int64) {
	for _, t := range n.graph.weights {
		count += t.count()
	}
	return count
}

// room returns an error if there is no memory for the weights and a batch of images.
func (n *Network) room(size int) error {
	return engine.Room(n.Path, 4*float64(n.Weights())+4*float64(3*size*size)*float64(max(n.Batch, 1)))
}

// sizes lists the batch sizes to try, in order: a file may declare a free batch axis and support
// only one image.
func (n *Network) sizes() []int {
	if n.Batch > 0 {
		return []int{n.Batch}
	}
	return []int{batch, 1}
}

// try computes images of zeros to find the number of features.
func (x *Exec) try() error {
	v, err := []float32(nil), error(nil)
	if panicked := caught(func() { v, err = x.run(make([]byte, 3*x.Size*x.Size*x.Batch)) }); panicked != nil {
		return panicked
	}
	x.Features = len(v) / x.Batch
	return err
}

// Exec compiles the network on a backend, which must stay open, for images preprocessed by r.
// The error names the unsupported operation, its node and its input shapes.
func (n *Network) Exec(on engine.Backend, size int, r datasets.Reading) (*Exec, error) {
	if err := n.mend(); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Path, err)
	}
	if err := n.room(size); err != nil {
		return nil, err
	}
	if n.problem == nil {
		if err := n.resizings(size); err != nil {
			return nil, fmt.Errorf("%s: %s", n.Path, firstLine(err))
		}
	}
	m, err := parser.Parse(n.graph.encode())
	if err != nil {
		return nil, fmt.Errorf("%s: %s", n.Path, firstLine(err))
	}
	defer m.Close()
	w := &numbers{of: n}
	if w.root, err = os.OpenRoot(filepath.Dir(n.Path)); err != nil {
		return nil, err
	}
	defer w.root.Close()
	m = m.WithExternalDataReader(w)
	store := model.NewStore()
	if err := m.VariablesToScope(store.RootScope()); err != nil {
		return nil, fmt.Errorf("%s: %s", n.Path, firstLine(err))
	}
	compute := on.Compute
	if on.Kind == engine.Go {
		compute = &lowered{compute}
	}
	sizes := n.sizes()
	if n.problem != nil {
		sizes = sizes[:1]
	}
	for _, b := range sizes {
		var computed []later
		exec, err2 := model.NewExec(compute, store, func(scope *model.Scope, images *graph.Node) []*graph.Node {
			var y *graph.Node
			var flags []*graph.Node
			if err := caught(func() { y, computed, flags = n.features(m, scope, images, r) }); err != nil {
				panic(err) // with the operation, as GoMLX's own error has no trace
			}
			return append([]*graph.Node{y}, flags...)
		})
		if err2 != nil {
			return nil, err2
		}
		x := &Exec{Batch: b, Size: size, path: n.Path}
		x.run = func(images []byte) ([]float32, error) {
			y, flags, err := call(exec, images, b, size)
			return y, errors.Join(err, errOutside(computed, flags))
		}
		x.close = func() {
			exec.Finalize()
			store.Finalize()
		}
		if err = x.try(); err == nil {
			return x, nil
		}
		exec.Finalize()
	}
	store.Finalize()
	return nil, fmt.Errorf("%s: %s", n.Path, firstLine(err))
}

// call computes a batch of images, with the flags of [checkLater].
func call(exec *model.Exec, images []byte, batch, size int) (y []float32, flags []int32, err error) {
	in := tensors.FromFlatDataAndDimensions(images, batch, size, size, 3)
	defer in.MustFinalizeAll()
	out, err := exec.Call(in)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range out {
		defer t.MustFinalizeAll()
	}
	for _, t := range out[1:] {
		flags = append(flags, tensors.ToScalar[int32](t))
	}
	y, err = tensors.CopyFlatData[float32](out[0])
	return y, flags, err
}

// where matches the text that GoMLX puts before an error.
var where = regexp.MustCompile(`^(.* panicked: |failed to execute graph "[^"]*": |runtime panic: :? ?|panic: |runtime error: )+`)

// firstLine returns the first line of an error, without a stack trace and without GoMLX's
// location.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return where.ReplaceAllString(line, "")
}

// Constants are kept in graphs up to this number of elements: onnx-gomlx reads their values.
func init() { graph.MinConstValueSizeToKeep = 1 << 20 }

// Close frees the network.
func (x *Exec) Close() { x.close() }

// Run computes the features [Batch, Features] of images, bytes [Batch, Size, Size, 3].
// Non-finite features are an error.
func (x *Exec) Run(images []byte) ([]float32, error) {
	v, err := []float32(nil), error(nil)
	if panicked := caught(func() { v, err = x.run(images) }); panicked != nil {
		err = panicked
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", x.path, firstLine(err))
	}
	return v, nil
}

// features adds the network to a graph, with the flags of [checkLater]. It panics, as GoMLX's functions do.
func (n *Network) features(m onnx.Model, scope *model.Scope, images *graph.Node, r datasets.Reading) (y *graph.Node, computed []later, flags []*graph.Node) {
	g := images.Graph()
	x := nets.Normalise(images, r.Mean, r.Std)
	if r.BGR {
		x = graph.Reverse(x, -1)
	}
	if !n.last {
		x = graph.TransposeAllAxes(x, 0, 3, 1, 2)
	}
	in := map[string]*graph.Node{n.input.name: x}
	if p := n.problem; p != nil {
		n.missing(m, scope, g, in)
	}
	for _, s := range n.softmax {
		v := m.CallGraph(scope, g, in, s.in[0])[0]
		if axis := int(s.int("axis", 1)); axis != -1 && axis != v.Rank()-1 {
			panic(fmt.Errorf("node %q: a Softmax of opset %d along axis %d of %v is not supported: export it with opset 13 or later", s.name, n.graph.opset, axis, v.Shape()))
		}
	}
	list, names := n.lates()
	values := m.CallGraph(scope, g, in, append([]string{n.Output}, names...)...)
	computed, flags = checkLater(list, values[1:])
	n.sized(g)
	y = pool(graph.ConvertDType(values[0], dtypes.Float32), images.Shape().Dimensions[0], n.Output, r)
	return y, computed, flags
}

// sized panics if a value is too large to compute.
func (n *Network) sized(g *graph.Graph) {
	for _, v := range g.Nodes() {
		if size := v.Shape().Size(); size < 0 || size > largest {
			panic(fmt.Errorf("a value of shape %v on the way to output %s is too large", v.Shape(), n.Output))
		}
	}
}

// missing panics with the operation that is unsupported.
func (n *Network) missing(m onnx.Model, scope *model.Scope, g *graph.Graph, in map[string]*graph.Node) {
	p := n.problem
	op := p.op
	if p.domain != "" {
		op = p.domain + "." + op
	}
	var names, list []string
	for _, s := range p.in {
		if s != "" {
			names = append(names, s)
		}
	}
	if len(names) > 0 {
		for i, v := range m.CallGraph(scope, g, in, names...) {
			list = append(list, fmt.Sprintf("%s %v", names[i], v.Shape()))
		}
	}
	panic(fmt.Errorf("operation %s of node %q is not available here (its inputs: %s)", op, p.name, strings.Join(list, ", ")))
}

// numbers gives onnx-gomlx the weights that [content.encode] has left out.
type numbers struct {
	of   *Network
	root *os.Root
}

// ReadInto implements onnx.ExternalDataReader.
func (w *numbers) ReadInto(info onnx.ExternalDataInfo, dst []byte) error {
	i, err := strconv.Atoi(info.Location)
	if err != nil || i < 0 || i >= len(w.of.graph.weights) {
		return errors.New("weights that are not there")
	}
	t := w.of.graph.weights[i]
	raw, err := w.bytes(t)
	if err != nil {
		return err
	}
	if len(raw) != len(dst) {
		return fmt.Errorf("weights %q have %d bytes, want %d", t.name, len(raw), len(dst))
	}
	copy(dst, raw)
	return nil
}

// bytes returns the raw numbers of a weight, nil if the file stores them in another form.
func (w *numbers) bytes(t *tensor) ([]byte, error) {
	if !t.outside {
		return t.raw, nil
	}
	raw := make([]byte, width(t.stored())*t.count())
	if _, err := w.of.outside(w.root, t.location, func(f fs.File) (int64, error) {
		at, ok := f.(interface {
			ReadAt(p []byte, off int64) (int, error)
		})
		if !ok {
			return 0, errors.New("it cannot be read in parts")
		}
		return 0, regular.ReadAt(at, raw, t.offset)
	}); err != nil {
		return nil, err
	}
	if t.half != 0 {
		raw = widen(raw, t.half)
	}
	return raw, nil
}

// Close implements onnx.ExternalDataReader.
func (w *numbers) Close() error { return nil }
