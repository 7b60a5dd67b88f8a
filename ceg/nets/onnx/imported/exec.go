package imported

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/onnx-gomlx/onnx/parser"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/ort"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
	"github.com/ledg-go/ledg/datasets"
)

// Exec is a network ready to run. Run is safe for concurrent use by ONNX Runtime alone.
type Exec struct {
	// Batch is the number of images of a call, Size their side, and Features the length of a
	// feature vector.
	Batch, Size, Features int

	path, output string
	reading      datasets.Reading
	dims         []int64
	last         bool
	pixels       *pixels
	session      session
}

// session computes a network's output.
type session struct {
	run   func(images ort.Tensor) (y ort.Tensor, err error)
	close func()
}

// batch is the batch size if the file leaves it open.
const batch = 8

// ExecRuntime prepares the network for ONNX Runtime, for images preprocessed by r. Each Run uses
// the given number of threads, and Runs may be concurrent.
func (n *Network) ExecRuntime(rt *engine.Runtime, threads, size int, r datasets.Reading) (*Exec, error) {
	b, folder, err := n.encode(size)
	if err != nil {
		return nil, err
	}
	s, err := rt.Open(b, ort.Options{Threads: threads, Folder: folder})
	if err != nil {
		return nil, fmt.Errorf("%s: ONNX Runtime: %w", n.Path, err)
	}
	return n.exec(size, r, []int{batch, 1}, session{close: s.Close, run: func(images ort.Tensor) (ort.Tensor, error) {
		y, err := s.Run(n.input, n.Output, images)
		if err != nil {
			err = fmt.Errorf("ONNX Runtime: %w", err)
		}
		return y, err
	}})
}

// encode writes the part of the file that the output depends on, if there is memory for it and a
// batch of images; its external weights are in folder.
func (n *Network) encode(size int) (b []byte, folder string, err error) {
	if err := engine.Room(n.Path, float64(n.Length)+4*float64(3*size*size)*float64(max(n.Batch, 1))); err != nil {
		return nil, "", err
	}
	if folder, err = filepath.Abs(filepath.Dir(n.Path)); err == nil {
		b, err = n.file.Encode()
	}
	return b, folder, err
}

// Exec prepares the network for a backend of GoMLX, which must stay open, by onnx-gomlx, for images
// preprocessed by r. Unlike ONNX Runtime, onnx-gomlx (v0.5.2) has not all operations, and ignores
// some attributes.
func (n *Network) Exec(on engine.Backend, size int, r datasets.Reading) (*Exec, error) {
	for _, x := range n.file.Graph.Nodes {
		plain(x)
	}
	b, folder, err := n.encode(size)
	if err != nil {
		return nil, err
	}
	var s session
	if err := caught(func() (err error) { s, err = n.graph(on, b, folder); return err }); err != nil {
		return nil, fmt.Errorf("%s: %s", n.Path, firstLine(err))
	}
	sizes := []int{batch, 1}
	if on.Kind == engine.Go {
		sizes = sizes[1:] // as convolutions gain nothing from more
	}
	return n.exec(size, r, sizes, s)
}

// graph is a session of onnx-gomlx.
func (n *Network) graph(on engine.Backend, file []byte, folder string) (s session, err error) {
	m, err := parser.Parse(file)
	if err != nil {
		return s, err
	}
	m = m.WithBaseDir(folder)
	defer m.Close()
	store := model.NewStore()
	if err := m.VariablesToScope(store.RootScope()); err != nil {
		store.Finalize()
		return s, err
	}
	exec, err := model.NewExec(on.Compute, store, func(scope *model.Scope, images *graph.Node) (y *graph.Node) {
		if err := caught(func() error {
			y = m.CallGraph(scope, images.Graph(), map[string]*graph.Node{n.input: images}, n.Output)[0]
			return nil
		}); err != nil {
			panic(err) // with the operation, as GoMLX's own error has no trace
		}
		return graph.ConvertDType(y, dtypes.Float32)
	})
	if err != nil {
		store.Finalize()
		return s, err
	}
	s.close = func() {
		exec.Finalize()
		store.Finalize()
	}
	s.run = func(images ort.Tensor) (y ort.Tensor, err error) {
		kinds := map[int]dtypes.DType{onnxpb.Uint8: dtypes.Uint8, onnxpb.Float16: dtypes.Float16, onnxpb.BFloat16: dtypes.BFloat16,
			onnxpb.Float32: dtypes.Float32, onnxpb.Int32: dtypes.Int32, onnxpb.Int64: dtypes.Int64}
		in := tensors.FromShape(shapes.Make(kinds[images.Kind], intsOf(images.Dims)...))
		defer in.MustFinalizeAll()
		if err := in.MutableBytes(func(b []byte) { copy(b, images.Data) }); err != nil {
			return y, err
		}
		out, err := exec.Call1(in)
		if err != nil {
			return y, err
		}
		defer out.MustFinalizeAll()
		y = ort.Tensor{Kind: ort.Float32, Dims: onnxpb.Int64s(out.Shape().Dimensions...)}
		return y, out.ConstBytes(func(b []byte) { y.Data = slices.Clone(b) })
	}
	return s, nil
}

// exec finds a batch size that a session computes and the number of features, by images of zeros.
// A file may declare a free batch axis and support only one image.
func (n *Network) exec(size int, r datasets.Reading, sizes []int, s session) (x *Exec, err error) {
	if n.Batch > 0 {
		sizes = []int{n.Batch}
	}
	for _, b := range sizes {
		x = &Exec{Batch: b, Size: size, path: n.Path, output: n.Output, reading: r, last: n.last, pixels: newPixels(n.kind, r), session: s}
		x.dims = []int64{int64(b), 3, int64(size), int64(size)}
		if n.last {
			x.dims = []int64{int64(b), int64(size), int64(size), 3}
		}
		v, err2 := x.Run(make([]byte, 3*size*size*b))
		if err = err2; err == nil {
			x.Features = len(v) / b
			return x, nil
		}
	}
	s.close()
	return nil, err
}

// Close frees the network.
func (x *Exec) Close() { x.session.close() }

// Run computes the features [Batch, Features] of images, bytes [Batch, Size, Size, 3].
func (x *Exec) Run(images []byte) (features []float32, _ error) {
	data := x.pixels.fill(images, x.Size*x.Size, x.last)
	if err := caught(func() error {
		y, err := x.session.run(ort.Tensor{Kind: x.pixels.kind, Dims: x.dims, Data: data})
		if err != nil {
			return err
		}
		dims := intsOf(y.Dims)
		t, err := take(dims, x.Batch, x.output, x.reading)
		if err == nil {
			features = t.of(y.Floats(), dims)
		}
		return err
	}); err != nil {
		return nil, fmt.Errorf("%s: %s", x.path, firstLine(err))
	}
	return features, nil
}

// where matches the text that GoMLX puts before an error, and converter a function of onnx-gomlx that
// converts an operation, in a trace of the stack.
var (
	where     = regexp.MustCompile(`^(.* panicked: |failed to execute graph "[^"]*": |runtime panic: :? ?|panic: |runtime error: )+`)
	converter = regexp.MustCompile(`\.convert([A-Z]\w*)\(`)
)

// firstLine returns the first line of an error, without a stack trace and without GoMLX's
// location.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return where.ReplaceAllString(line, "")
}

// Constants are kept in graphs up to this number of elements: onnx-gomlx reads their values.
func init() { graph.MinConstValueSizeToKeep = 1 << 20 }

// caught calls f and returns its error or its panic, as GoMLX's functions raise them.
func caught(f func() error) (err error) {
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
	return f()
}

func intsOf(list []int64) []int {
	ints := make([]int, len(list))
	for i, v := range list {
		ints[i] = int(v)
	}
	return ints
}
