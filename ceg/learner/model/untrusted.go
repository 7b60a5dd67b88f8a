package model

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/rpc"
	"os"
	"sync"
	"time"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/child"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/datasets"
)

// LimitsVariable is the environment variable that, set to off, has networks from ONNX files computed in this process,
// without limits of time and memory.
const LimitsVariable = "LEDG_ONNX_LIMITS"

// service is the name of [untrusted].
const service = "onnx"

func init() { child.Serve(service, new(untrusted)) }

// untrusted computes a network from an ONNX file in a copy of this program: such a file can crash what computes it.
type untrusted struct{ x *Extractor }

// toOpen is a network and what is to compute it. It has no name of its own, nor have the types below, as net/rpc takes
// named types only if they are exported.
type toOpen = struct {
	Backend string
	Origin  datasets.Origin
}

// opened describes an extractor.
type opened = struct {
	Description               string
	Batch, Features, Together int
}

// Open opens a network, once.
func (u *untrusted) Open(a toOpen, to *opened) error {
	f, err := importFront(a.Origin)
	if err != nil {
		return err
	}
	if u.x, err = newImportedHere(a.Backend, f.Imported, f.Origin); err != nil {
		return err
	}
	*to = opened{u.x.Description, u.x.Batch, u.x.features, cap(u.x.running)}
	return nil
}

// Run computes a batch.
func (u *untrusted) Run(images []byte, features *[]byte) error {
	v, err := u.x.run(images)
	for _, x := range v {
		*features = binary.LittleEndian.AppendUint32(*features, math.Float32bits(x))
	}
	return err
}

// toTrain is a network that is to be trained.
type toTrain = struct {
	Path, Output, Pool, Digest string
	Size                       int
}

// Train makes a training step on the Go backend, and returns the file's digest.
func (*untrusted) Train(a toTrain, digest *string) error {
	t, err := imported.OpenTrainable(a.Path, a.Output, a.Pool, a.Digest, a.Size)
	if err != nil {
		return err
	}
	backend, err := engine.Open("go")
	if err != nil {
		return err
	}
	*digest = t.Digest
	return t.Try(backend)
}

// Limits of a copy. A file has no say in them but by its weights and its images: small files with little to compute are
// told from networks by nothing else.
const (
	leastTime   = 8 * time.Second
	leastMemory = 1200 << 20
)

// limits are how long a network may take until its first batch of images is there, and the memory.
func limits(n *imported.Network, size, batch, together int) (time.Duration, int64) {
	weights, places := float64(n.Weights()), float64(size*size)
	seconds := weights/5e6 + float64(batch)*weights*places/196/1e9 // read at 20 MB/s, computed at 2 GFLOPS
	memory := 24*weights + places*float64(batch*together)*1024
	return leastTime + time.Duration(min(seconds, 3600)*float64(time.Second)), leastMemory + int64(min(memory, 1<<40))
}

// newImportedExtractor makes an extractor of a network from an ONNX file, for images as an origin says. It computes in
// a copy of this program, with limits, until the context ends. XLA computes here, after one batch on Go there.
func newImportedExtractor(ctx context.Context, spec string, n *imported.Network, o datasets.Origin) (*Extractor, error) {
	there := spec
	if rt, _, err := engine.OpenRuntime(spec); err != nil {
		return nil, err
	} else if rt == nil {
		backend, err := engine.Work{Exact: true}.Open(spec)
		if err != nil {
			return nil, err
		}
		backend.Close()
		if backend.Name != "go" {
			there = "go"
		}
	}
	x, err := newImportedThere(ctx, there, n, o)
	if errors.Is(err, child.ErrCannot) {
		return newImportedHere(spec, n, o)
	}
	if err != nil || there == spec {
		return x, err
	}
	x.close()
	return newImportedHere(spec, n, o)
}

// newImportedThere makes an extractor that computes in a copy of this program.
func newImportedThere(ctx context.Context, spec string, n *imported.Network, o datasets.Origin) (*Extractor, error) {
	if os.Getenv(LimitsVariable) == "off" {
		return nil, child.ErrCannot
	}
	first, memory := limits(n, o.Size, max(n.Batch, directBatch), most)
	p, err := child.Start(ctx, service, memory)
	if err != nil {
		return nil, err
	}
	o.Weights = n.Path
	var is opened
	start := time.Now()
	if err := p.Call("Open", first, toOpen{spec, o}, &is); err != nil {
		p.Close()
		return nil, named(ctx, n.Path, err)
	}
	each := leastTime + 4*time.Since(start)
	x := &Extractor{Description: is.Description, Size: o.Size, Batch: is.Batch, features: is.Features, running: make(chan struct{}, is.Together), close: p.Close}
	x.run = func(images []byte) ([]float32, error) {
		var b []byte
		if err := p.Call("Run", each, images, &b); err != nil {
			return nil, named(ctx, n.Path, err)
		}
		if len(b) != 4*x.Batch*x.features {
			return nil, fmt.Errorf("%s: %d bytes of features for a batch, want %d", n.Path, len(b), 4*x.Batch*x.features)
		}
		v := make([]float32, len(b)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return v, nil
	}
	return x, nil
}

// named adds the file to why a copy ended. Errors of the copy have it.
func named(ctx context.Context, path string, err error) error {
	var answered rpc.ServerError
	if errors.As(err, &answered) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s: computing it was given up: %w (%s=off lifts the limits)", path, err, LimitsVariable)
}

// tried has the networks of which a training step was made, toTrain without a path.
var tried sync.Map

// openTrainable opens a network from an ONNX file to be trained, once a copy of this program has made a step.
func openTrainable(ctx context.Context, path, output, pool, digest string, size int) (*imported.Trainable, error) {
	a := toTrain{path, output, pool, digest, size}
	if err := tryTraining(ctx, a); err != nil && !errors.Is(err, child.ErrCannot) {
		return nil, err
	}
	return imported.OpenTrainable(path, output, pool, digest, size)
}

// tryTraining has a training step made in a copy of this program, if none was.
func tryTraining(ctx context.Context, a toTrain) error {
	key := a
	key.Path = ""
	if _, ok := tried.Load(key); ok && a.Digest != "" {
		return nil
	}
	if os.Getenv(LimitsVariable) == "off" {
		return child.ErrCannot
	}
	n, err := imported.Open(a.Path, a.Output, a.Digest)
	if err != nil {
		return err
	}
	const passes = 4 // forward and backward take three times as long as forward
	first, memory := limits(n, a.Size, 3*passes, 1)
	p, err := child.Start(ctx, service, memory)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Call("Train", first, a, &key.Digest); err != nil {
		return named(ctx, a.Path, err)
	}
	tried.Store(key, true)
	return nil
}
