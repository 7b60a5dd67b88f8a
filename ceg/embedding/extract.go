package embedding

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/weights"
)

// Extractor computes features of images with a network as it is.
type Extractor struct {
	// Description says in one line what computes.
	Description string
	// Loaded says what became of the weights; see [weights.Report].
	Loaded weights.Report

	size, features int
	// batch is the number of images of one call.
	batch  int
	worker func() func(dst []float32, images []byte) error
	close  func()
}

// graphBatch is the number of images that a graph computes at a time.
const graphBatch = 32

// NewExtractor opens the backend that spec names and returns an extractor by network b
// for images of a size, with the weights of sd or, where that is nil, as they are
// initialised from a seed. The Go backend computes without a graph (package direct)
// where the network and the processor allow it. It must be closed.
func NewExtractor(spec string, b nets.Backbone, size int, sd weights.StateDict, seed uint64) (*Extractor, error) {
	params, features, err := nets.Params(b, size)
	if err != nil {
		return nil, err
	}
	if b.Pooling == nets.NoPool {
		return nil, fmt.Errorf("network %s makes maps, not features", b.Name)
	}
	x := &Extractor{size: size, features: features}
	values := map[string][]float32{}
	if sd == nil {
		for _, p := range params {
			values[p.Name] = p.Init(seed)
		}
	} else {
		var want []weights.Spec
		for _, p := range params {
			want = append(want, weights.Spec{Name: p.Name, Shape: p.Shape})
		}
		if values, x.Loaded, err = weights.Assign(want, sd, weights.AssignOptions{}); err != nil {
			return nil, err
		}
	}
	backend, err := engine.Work{Exact: true}.Open(spec)
	if err != nil {
		return nil, err
	}
	if backend.FastConv && direct.Vectors {
		net, err := direct.New(b, values, size)
		if err == nil {
			x.Description, x.close = backend.Description+", without a graph", backend.Close
			x.batch = 8
			x.worker = func() func([]float32, []byte) error {
				w := net.Worker()
				return func(dst []float32, images []byte) error { w.Features(dst, images); return nil }
			}
			return x, nil
		}
		if !errors.Is(err, direct.ErrGraph) {
			backend.Close()
			return nil, err
		}
	}
	x.graph(backend, b, params, values)
	return x, nil
}

// FeatureDim is the number of features of an image.
func (x *Extractor) FeatureDim() int { return x.features }

// Close frees what computes.
func (x *Extractor) Close() { x.close() }

// graph makes x compute by a graph, one batch at a time.
func (x *Extractor) graph(backend engine.Backend, b nets.Backbone, params []nets.Param, values map[string][]float32) {
	build := native.Target{CPU: backend.CPU}.Build
	if backend.FastConv {
		build = flat.Build
	}
	var args []any
	for _, p := range params {
		args = append(args, tensors.FromFlatDataAndDimensions(slices.Clone(values[p.Name]), p.Shape...))
	}
	exec := graph.MustNewExec(backend.Compute, func(in []*graph.Node) *graph.Node {
		byName := map[string]*graph.Node{}
		for i, p := range params {
			byName[p.Name] = in[i]
		}
		pixels := b.Pixels.OrDefault()
		images := nets.Normalise(in[len(params)], pixels.Mean, pixels.Std)
		return build(b, byName, []nets.Pass{{Images: images, NoGrad: true}}, false).Passes[0]
	}).WithName("embed")
	x.Description, x.batch = backend.Description, graphBatch
	x.close = func() {
		exec.Finalize()
		for _, t := range args {
			t.(*tensors.Tensor).MustFinalizeAll()
		}
		backend.Close()
	}
	var mu sync.Mutex
	one := 3 * x.size * x.size
	x.worker = func() func([]float32, []byte) error {
		full := make([]byte, graphBatch*one) // every size would be compiled
		return func(dst []float32, images []byte) error {
			for from := 0; from < len(images); from += len(full) {
				some := images[from:min(from+len(full), len(images))]
				clear(full[copy(full, some):])
				mu.Lock()
				in := tensors.FromFlatDataAndDimensions(slices.Clone(full), graphBatch, x.size, x.size, 3)
				out, err := exec.Call(append(slices.Clone(args), in)...)
				in.MustFinalizeAll()
				var v []float32
				if err == nil {
					v, err = tensors.CopyFlatData[float32](out[0])
					out[0].MustFinalizeAll()
				}
				mu.Unlock()
				if err != nil {
					return fmt.Errorf("embedding: %w", err)
				}
				copy(dst[from/one*x.features:], v[:len(some)/one*x.features])
			}
			return nil
		}
	}
}
