package model

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/datasets"
)

// newImportedHere makes an extractor of a network from an ONNX file, for images as an origin
// says, that computes in this process.
func newImportedHere(spec string, n *imported.Network, o datasets.Origin) (*Extractor, error) {
	x, err := newImportedBatches(spec, n, o)
	if err != nil || x.Batch == 1 {
		return x, err
	}
	mixes, err := x.mixes()
	if err != nil || !mixes {
		if err != nil {
			x.close()
		}
		return x, err
	}
	if n.Batch == 0 {
		x.close()
		one := *n
		one.Batch = 1
		if x, err = newImportedBatches(spec, &one, o); err != nil {
			return nil, err
		}
	}
	if run, batch := x.run, x.Batch; batch > 1 {
		x.Batch, x.run = 1, func(image []byte) ([]float32, error) {
			v, err := run(bytes.Repeat(image, batch))
			return v[:min(len(v), x.features)], err
		}
	}
	x.Description += "; one photo at a time, as the features of " + filepath.Base(n.Path) + " depend on the other photos of a batch"
	return x, nil
}

// mixes reports whether features of an image depend on the other images of its batch, as those of
// dynamically quantised networks do. It compares a grey image, first and last of a batch, among
// black images and among noise.
func (x *Extractor) mixes() (bool, error) {
	one := 3 * x.Size * x.Size
	black := make([]byte, x.Batch*one)
	noise, r := slices.Clone(black), rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, images := range [][]byte{black, noise} {
		for i := range one {
			v := byte(96 + i/3%x.Size*64/x.Size)
			images[i], images[len(images)-one+i] = v, v
		}
	}
	a, err := x.run(black)
	if err != nil {
		return false, err
	}
	b, err := x.run(noise)
	if err != nil {
		return false, err
	}
	last := len(a) - x.features
	largest, off := 0.0, 0.0
	for i, v := range a[last:] {
		largest, off = max(largest, math.Abs(float64(v))), max(off, math.Abs(float64(v-a[i])))
	}
	const rounding = 1e-3 // of other places in a batch
	return off > rounding*largest || !slices.Equal(a[:x.features], b[:x.features]) || !slices.Equal(a[last:], b[last:]), nil
}

// newImportedBatches is newImportedHere in batches as the file permits.
func newImportedBatches(spec string, n *imported.Network, o datasets.Origin) (*Extractor, error) {
	rt, why, err := engine.OpenRuntime(spec)
	if err != nil {
		return nil, err
	}
	if rt != nil {
		return newRuntimeExtractor(rt, n, o)
	}
	backend, err := engine.Work{Exact: true}.Open(spec)
	if err != nil {
		return nil, err
	}
	if backend.Description += ", by onnx-gomlx"; why != "" {
		backend.Description += "; " + why
	}
	net, err := n.Exec(backend, o.Size, *o.ONNX)
	if err != nil {
		backend.Close()
		return nil, fmt.Errorf("%w; %s", err, cmp.Or(why, runtimeAdvice()))
	}
	x := &Extractor{Description: backend.Description, Size: o.Size, Batch: net.Batch, features: net.Features, run: net.Run, running: make(chan struct{}, 1)}
	x.close = func() {
		net.Close()
		backend.Close()
	}
	return x, nil
}

// runtimeAdvice is how ONNX Runtime may compute what the Go backend cannot.
func runtimeAdvice() string {
	if rt, _, err := engine.OpenRuntime("auto"); rt != nil && err == nil {
		return "ONNX Runtime may: --backend onnxruntime"
	}
	return "ONNX Runtime may: `ledg backend install onnxruntime`"
}

// most is how many batches ONNX Runtime computes at a time, as each takes memory.
const most = 4

// newRuntimeExtractor makes an extractor that ONNX Runtime computes: several batches at a time, by
// a share of the processors each, which is faster than one by all.
func newRuntimeExtractor(rt *engine.Runtime, n *imported.Network, o datasets.Origin) (*Extractor, error) {
	processors := runtime.GOMAXPROCS(0)
	together := min(processors, most)
	net, err := n.ExecRuntime(rt, processors/together, o.Size, *o.ONNX)
	if err != nil {
		return nil, err
	}
	return &Extractor{Description: rt.Description, Size: o.Size, Batch: net.Batch, features: net.Features, run: net.Run, running: make(chan struct{}, together), close: net.Close}, nil
}
