package embedding

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/augment"
	"github.com/ledg-go/ledg/ceg/internal/half"
	"github.com/ledg-go/ledg/ceg/model"
	"github.com/ledg-go/ledg/ceg/safetensors"
	"github.com/ledg-go/ledg/ceg/seed"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Options are the choices of [Write].
type Options struct {
	// Size is the side in pixels that images are scaled to, with Pillow's BILINEAR.
	Size int
	// Views is the number of views of each image: the clean one, a weak one, and then
	// strong ones. 0 means 1.
	Views int
	// Half stores float16 instead of float32.
	Half bool
	// Seed determines the views' random choices.
	Seed uint64
	// Metadata are added to the file's, for those who want to know where it comes from.
	Metadata map[string]string
	// Progress is told how many images are done; nil for nobody.
	Progress func(done, total int)
}

// ViewNames are the names of so many views, as in the file's metadata.
func ViewNames(views int) []string {
	names := []string{"clean", "weak"}
	for len(names) < views {
		names = append(names, "strong")
	}
	return names[:views]
}

// Write writes the features of all images of d to path, which gets its name once it is
// whole. Memory does not grow with the number of images: they are decoded a few at a
// time, on all processors. An image that cannot be decoded is an error that names it.
//
// Until then the features are in path.part, too, from which the next Write of the same
// ones goes on; it is removed in the end.
func Write(ctx context.Context, path string, d *datasets.Dataset, truth datasets.Truth, x *model.Extractor, o Options) error {
	o.Views = max(o.Views, 1)
	if ext := filepath.Ext(path); ext != ".safetensors" {
		return fmt.Errorf("%s: features are written as .safetensors", path)
	}
	if x.Size != o.Size {
		return fmt.Errorf("an extractor for images of %d pixels, want %d", x.Size, o.Size)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stream{ctx: ctx, d: d, x: x, o: o}
	defer s.wait()
	n := d.Len()
	var labels, domains, splits []int64
	var ids []string
	for i, e := range d.Examples {
		labels, domains, splits = append(labels, int64(truth.Class(i))), append(domains, int64(e.Domain)), append(splits, int64(e.Split))
		ids = append(ids, e.ID)
	}
	dtype, shape := safetensors.Float32, []int{n, o.Views, x.FeatureDim()}
	if o.Half {
		dtype = safetensors.Float16
	}
	if o.Views == 1 {
		shape = []int{n, x.FeatureDim()}
	}
	metadata := map[string]string{
		"format": "ledg features 1", "views": strings.Join(ViewNames(o.Views), ","),
		"image_size": strconv.Itoa(o.Size), "seed": strconv.FormatUint(o.Seed, 10), "dataset": d.Name,
	}
	for k, v := range o.Metadata {
		metadata[k] = v
	}
	line, err := identity(d, x, shape, o, metadata)
	if err != nil {
		return err
	}
	rowBytes := o.Views * x.FeatureDim() * dtype.Size()
	if s.partial, err = openPartial(path+".part", line, rowBytes, n); err != nil {
		return err
	}
	defer s.partial.file.Close()
	if s.before, s.done = s.partial.rows(rowBytes), s.partial.done; s.done > 0 && o.Progress != nil {
		o.Progress(s.done, n)
	}
	err = regular.WriteFile(path, func(w io.Writer) error {
		s.start()
		return safetensors.Write(w, []safetensors.Entry{
			{Name: "features", DType: dtype, Shape: shape, From: s},
			numbers("labels", labels), numbers("domains", domains), numbers("splits", splits),
			lines("ids", ids), lines("class_names", d.Classes), lines("domain_names", d.Domains),
		}, metadata)
	})
	if err != nil {
		return err
	}
	return s.partial.remove()
}

func numbers(name string, v []int64) safetensors.Entry {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return safetensors.Entry{Name: name, DType: safetensors.Int64, Shape: []int{len(v)}, Data: b}
}

// lines is a tensor of bytes with a JSON string a line.
func lines(name string, v []string) safetensors.Entry {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, s := range v {
		e.Encode(s) // strings encode
	}
	return safetensors.Entry{Name: name, DType: safetensors.Uint8, Shape: []int{b.Len()}, Data: b.Bytes()}
}

// stream reads as the features of all images, in order, which goroutines compute a
// little ahead.
type stream struct {
	ctx context.Context
	d   *datasets.Dataset
	x   *model.Extractor
	o   Options

	// partial has what was there before, which is read first, and gets what is computed.
	partial *partialFile
	before  io.Reader

	order   chan *task
	done    int
	left    []byte
	stopped chan struct{}
}

// task is some images, and then their features or an error.
type task struct {
	from, to int
	features []float32
	err      error
	ready    chan struct{}
}

// start starts the goroutines, which end with the context.
func (s *stream) start() {
	workers := runtime.GOMAXPROCS(0)
	s.order, s.stopped = make(chan *task, 2*workers), make(chan struct{})
	jobs := make(chan *task)
	ended := make(chan struct{}, workers)
	for range workers {
		go func() {
			defer func() { ended <- struct{}{} }()
			w := newWorker(s)
			for t := range jobs {
				t.features, t.err = w.compute(t.from, t.to)
				close(t.ready)
			}
		}()
	}
	go func() {
		defer close(s.stopped)
		defer func() {
			close(jobs)
			close(s.order)
			for range workers {
				<-ended
			}
		}()
		per := max(1, s.x.Batch/s.o.Views)
		for from := s.partial.done; from < s.d.Len(); from += per {
			t := &task{from: from, to: min(from+per, s.d.Len()), ready: make(chan struct{})}
			for _, to := range []chan *task{s.order, jobs} {
				select {
				case to <- t:
				case <-s.ctx.Done():
					return
				}
			}
		}
	}()
}

// wait returns when nothing works any more, after the context has ended or all is done.
func (s *stream) wait() {
	if s.stopped == nil {
		return
	}
	go func() {
		for range s.order {
		}
	}()
	<-s.stopped
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if n, err := s.before.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, err
	}
	for len(s.left) == 0 {
		t, ok := <-s.order
		if !ok {
			if s.ctx.Err() != nil {
				return 0, context.Cause(s.ctx)
			}
			return 0, io.EOF
		}
		select {
		case <-t.ready:
		case <-s.ctx.Done():
			return 0, context.Cause(s.ctx)
		}
		if t.err != nil {
			return 0, t.err
		}
		s.left = s.encode(t.features)
		if _, err := s.partial.file.Write(s.left); err != nil {
			return 0, err
		}
		s.done += t.to - t.from
		if s.o.Progress != nil {
			s.o.Progress(s.done, s.d.Len())
		}
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

func (s *stream) encode(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		if s.o.Half {
			b = binary.LittleEndian.AppendUint16(b, half.Bits(x))
		} else {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	return b
}

// worker makes views of images and their features, on one goroutine.
type worker struct {
	s      *stream
	run    func(dst []float32, images []byte) error
	maker  augment.Maker
	clean  *rgb.Image
	pixels []byte
}

func newWorker(s *stream) *worker {
	return &worker{s: s, run: s.x.Worker(), clean: rgb.New(s.o.Size, s.o.Size)}
}

// compute returns the features [to-from, views, D] of some images.
func (w *worker) compute(from, to int) ([]float32, error) {
	o := w.s.o
	one := 3 * o.Size * o.Size
	w.pixels = slices.Grow(w.pixels[:0], (to-from)*o.Views*one)[:(to-from)*o.Views*one]
	for i := from; i < to; i++ {
		if err := context.Cause(w.s.ctx); err != nil {
			return nil, err
		}
		m, err := w.s.d.Image(i)
		if err != nil {
			return nil, err
		}
		m.ResizeInto(w.clean)
		for v := range o.Views {
			at := ((i-from)*o.Views + v) * one
			dst := &rgb.Image{Width: o.Size, Height: o.Size, Pix: w.pixels[at : at+one : at+one]}
			view, r := augment.PlainView, (*rand.Rand)(nil)
			if v > 0 {
				r = seed.New(o.Seed, "embedded view of "+w.s.d.Examples[i].ID, uint64(v))
				if view = augment.WeakView; v > 1 {
					view = augment.StrongView
				}
			}
			view.Make(&w.maker, dst, w.clean, r)
		}
	}
	features := make([]float32, (to-from)*o.Views*w.s.x.FeatureDim())
	return features, w.run(features, w.pixels)
}
