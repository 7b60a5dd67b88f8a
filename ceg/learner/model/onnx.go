package model

import (
	"runtime"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/datasets"
)

// newImportedHere makes an extractor of a network from an ONNX file, for images as an origin
// says, that computes in this process.
func newImportedHere(spec string, n *imported.Network, o datasets.Origin) (*Extractor, error) {
	rt, why, err := engine.OpenRuntime(spec)
	if err != nil {
		return nil, err
	}
	if rt != nil {
		x, err := newRuntimeExtractor(rt, n, o)
		if err == nil || !rt.Auto {
			return x, err
		}
		why = "not ONNX Runtime: " + err.Error()
	}
	backend, err := engine.Work{Exact: true}.Open(spec)
	if err != nil {
		return nil, err
	}
	if why != "" {
		backend.Description += "; " + why
	}
	net, err := n.Exec(backend, o.Size, *o.ONNX)
	if err != nil {
		backend.Close()
		return nil, err
	}
	x := &Extractor{Description: backend.Description, Size: o.Size, Batch: net.Batch, features: net.Features, run: net.Run, running: make(chan struct{}, 1)}
	x.close = func() {
		net.Close()
		backend.Close()
	}
	return x, nil
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
