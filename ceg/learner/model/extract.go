package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/inference"
	"github.com/ledg-go/ledg/ceg/nets/lowering"
	"github.com/ledg-go/ledg/ceg/nets/weights"
)

// Extractor computes features of images with a frozen network.
type Extractor struct {
	// Description names the implementation in one line.
	Description string
	// Size is the side of the images in pixels, and Batch the preferred number of images a call.
	Size, Batch int

	features int
	// One of the two computes, run as often at a time as there is room in running: outputs [Batch,
	// features] of Batch images.
	compiled *inference.Network
	run      func(images []byte) ([]float32, error)
	running  chan struct{}
	close    func()
}

// The numbers of images of one call, without a graph and with one.
const (
	inferenceBatch = 8
	graphBatch     = 32
)

// NewExtractor opens the backend that spec names and returns an extractor with network b for
// images of the given size. Weights come from sd or, if it is nil, from initialisation with
// seed. The Go backend computes without a graph (package nets/inference) if network and processor
// permit. The caller closes it.
func NewExtractor(spec string, b nets.Backbone, size int, sd weights.StateDict, seed uint64) (*Extractor, error) {
	params, values, features, _, err := assign(b, size, sd, seed)
	if err != nil {
		return nil, err
	}
	return newExtractor(spec, b, size, params, values, features)
}

// assign returns the parameters of a network for images of a size with the values of sd or,
// where that is nil, as they are initialised from a seed.
func assign(b nets.Backbone, size int, sd weights.StateDict, seed uint64) (params []nets.Param, values map[string][]float32, features int, loaded weights.Report, err error) {
	fail := func(err error) ([]nets.Param, map[string][]float32, int, weights.Report, error) {
		return nil, nil, 0, loaded, err
	}
	if params, features, err = nets.Params(b, size); err != nil {
		return fail(err)
	}
	if b.Pooling == nets.NoPool {
		return fail(fmt.Errorf("network %s makes maps, not features", b.Name))
	}
	least := float64(3*size*size) + 4*float64(nets.MapSizesOf(b, size).Largest)
	for _, p := range params {
		least += 4 * float64(p.Size())
	}
	if err := engine.Room(fmt.Sprintf("network %s on an image of %d pixels a side", b.Name, size), least); err != nil {
		return fail(err)
	}
	values = map[string][]float32{}
	var want []weights.Spec
	for _, p := range params {
		if want = append(want, weights.Spec{Name: p.Name, Shape: p.Shape}); sd == nil {
			values[p.Name] = p.Init(seed)
		}
	}
	if sd != nil {
		if values, loaded, err = weights.Assign(want, sd); err != nil {
			return fail(err)
		}
	}
	return params, values, features, loaded, nil
}

func newExtractor(spec string, b nets.Backbone, size int, params []nets.Param, values map[string][]float32, features int) (*Extractor, error) {
	x := &Extractor{Size: size, features: features}
	backend, err := engine.Work{Exact: true}.Open(spec)
	if err != nil {
		return nil, err
	}
	x.Description, x.close = backend.Description, backend.Close
	if x.compiled, err = lowering.Inference(backend, b, values, size); err != nil {
		backend.Close()
		return nil, err
	}
	if x.compiled != nil {
		x.Description, x.Batch = x.Description+", without a graph", inferenceBatch
	} else {
		x.graph(backend, b, params, values)
		net := x.close
		x.close = func() {
			net()
			backend.Close()
		}
	}
	return x, nil
}

// graph makes x compute by a graph on a backend, which stays open, one batch at a time.
func (x *Extractor) graph(backend engine.Backend, b nets.Backbone, params []nets.Param, values map[string][]float32) {
	var list [][]float32
	for _, p := range params {
		list = append(list, values[p.Name])
	}
	x.Batch, x.compiled, x.running = graphBatch, nil, make(chan struct{}, 1)
	net := newNet(backend, b, b.Pixels.OrDefault(), x.Size, params, list, func(_ map[string]*graph.Node, features *graph.Node) []*graph.Node {
		return []*graph.Node{features}
	})
	x.run = func(images []byte) ([]float32, error) {
		out, err := net.Run(images)
		if err != nil {
			return nil, fmt.Errorf("embedding: %w", err)
		}
		return out[0], nil
	}
	x.close = net.Close
}

// FrontExtractor returns an extractor with the front part of a split network, for images of the
// given size that are normalised by pixels. Its features are the front's output maps, [height,
// width, channels]. The backend must stay open until Close.
func FrontExtractor(on engine.Backend, p nets.Parted, pixels nets.Pixels, size int, values map[string][]float32) (*Extractor, error) {
	b := p.Front
	b.Pixels = pixels
	params, _, err := nets.Params(b, size)
	if err != nil {
		return nil, err
	}
	x := &Extractor{Description: on.Description, Size: size, features: p.Maps[0] * p.Maps[1] * p.Maps[2], close: func() {}}
	if x.compiled, err = lowering.Inference(on, b, values, size); err != nil {
		return nil, err
	}
	if x.compiled != nil {
		x.Batch = inferenceBatch
	} else {
		x.graph(on, b, params, values)
	}
	return x, nil
}

// FeatureDim returns the number of features of an image.
func (x *Extractor) FeatureDim() int { return x.features }

// Close frees the network and its backend.
func (x *Extractor) Close() { x.close() }

// Worker returns a function that computes features [n, FeatureDim] of images, bytes [n, Size,
// Size, 3], for the use of one goroutine. Several workers may run concurrently.
func (x *Extractor) Worker() func(dst []float32, images []byte) error {
	if x.compiled != nil {
		w := x.compiled.Worker()
		return func(dst []float32, images []byte) error { w.Features(dst, images); return nil }
	}
	one := 3 * x.Size * x.Size
	full := make([]byte, x.Batch*one) // every size would be compiled
	run := func() ([]float32, error) {
		x.running <- struct{}{}
		defer func() { <-x.running }()
		return x.run(full)
	}
	return func(dst []float32, images []byte) error {
		for from := 0; from < len(images); from += len(full) {
			some := images[from:min(from+len(full), len(images))]
			clear(full[copy(full, some):])
			out, err := run()
			if err != nil {
				return err
			}
			copy(dst[from/one*x.features:], out[:len(some)/one*x.features])
		}
		return nil
	}
}

// NotFinite returns the first row of features [n, dim] with a NaN or infinity, or -1.
func NotFinite(features []float32, dim int) int {
	for i, v := range features {
		if v-v != 0 {
			return i / dim
		}
	}
	return -1
}
