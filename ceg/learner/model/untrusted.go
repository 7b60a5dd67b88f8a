package model

import (
	"context"
	"errors"
	"fmt"
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

// untrusted computes a network from an ONNX file in a copy of this program: such a file can crash the process.
type untrusted struct{ x *Extractor }

// toOpen is a network and the backend to compute it. It has no name of its own, nor have the types
// below, as net/rpc takes named types only if they are exported.
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
func (u *untrusted) Run(images []byte, features *[]float32) (err error) {
	*features, err = u.x.run(images)
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

// Limits of a copy. They depend on the file only by its length and the size of its images: nothing else
// distinguishes a small hostile file from a network.
const (
	leastTime   = 8 * time.Second
	leastMemory = 1200 << 20
	trialMemory = 512 << 20
	slow        = 8 // times as long as ONNX Runtime's are convolutions in Go's own loops
)

// firstTime is how long a network may take until some images are computed: for a disk of 20 MB/s and a processor
// of 2 GFLOPS.
func firstTime(n *imported.Network, size, images int) time.Duration {
	weights, places := float64(n.Length)/4, float64(size*size)/(14*14)
	return leastTime + time.Duration(min(weights/5e6+float64(images)*weights*places/1e9, 3600)*float64(time.Second))
}

// memory is how much a network may take, with some bytes for each pixel of all images at a time.
func memory(least int, n *imported.Network, size, images, each int) int64 {
	return int64(least) + 6*n.Length + int64(size)*int64(size)*int64(images)*int64(each)
}

// newImportedExtractor makes an extractor of a network from an ONNX file, for images as an origin says. It computes in
// a copy of this program, with limits, until the context ends.
func newImportedExtractor(ctx context.Context, spec string, n *imported.Network, o datasets.Origin) (*Extractor, error) {
	batch := max(n.Batch, inferenceBatch)
	most, images := memory(leastMemory, n, o.Size, batch*most, 1<<10), 3*batch
	if rt, _, err := engine.OpenRuntime(spec); err != nil {
		return nil, err
	} else if rt == nil {
		backend, err := engine.Work{Exact: true}.Open(spec)
		if err != nil {
			return nil, err
		}
		backend.Close()
		if images *= slow; backend.Kind != engine.Go {
			most = 0 // XLA maps as much as it likes
		}
	}
	x, err := newImportedThere(ctx, spec, n, o, most, firstTime(n, o.Size, images))
	if errors.Is(err, child.ErrCannot) {
		return newImportedHere(spec, n, o)
	}
	return x, err
}

// newImportedThere makes an extractor that computes in a copy of this program.
func newImportedThere(ctx context.Context, spec string, n *imported.Network, o datasets.Origin, memory int64, first time.Duration) (*Extractor, error) {
	if os.Getenv(LimitsVariable) == "off" {
		return nil, child.ErrCannot
	}
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
		var v []float32
		if err := p.Call("Run", each, images, &v); err != nil {
			return nil, named(ctx, n.Path, err)
		}
		if len(v) != x.Batch*x.features {
			return nil, fmt.Errorf("%s: %d features for a batch, want %d", n.Path, len(v), x.Batch*x.features)
		}
		return v, nil
	}
	return x, nil
}

// named adds the file to why a copy ended. Errors of the copy have it.
func named(ctx context.Context, path string, err error) error {
	var remote rpc.ServerError
	if errors.As(err, &remote) || ctx.Err() != nil {
		return err
	}
	if limit := child.LimitError(""); errors.As(err, &limit) {
		return fmt.Errorf("%s: computing it was ended: %w (%s=off lifts the limits)", path, err, LimitsVariable)
	}
	return fmt.Errorf("%s: computing it ended in a %w", path, err)
}

// tried holds the networks that have made a training step; its keys are toTrain values without a path.
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
	p, err := child.Start(ctx, service, memory(trialMemory, n, a.Size, imported.TrialImages, 16<<10))
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Call("Train", firstTime(n, a.Size, 3*slow*imported.TrialImages), a, &key.Digest); err != nil {
		return named(ctx, a.Path, err)
	}
	tried.Store(key, true)
	return nil
}
