package embedding

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/half"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Options are the choices of [Write].
type Options struct {
	// Size is the side in pixels that images are scaled to, as the origin's Fit says.
	Size int
	// Views is the number of views of each image: the clean one, a weak one, and then
	// strong ones. 0 means 1.
	Views int
	// Half stores float16 instead of float32.
	Half bool
	// Seed determines the views' random choices.
	Seed uint64
	// Known are further files of features that may have rows of these images already.
	Known []string
	// Part is the part of the images that is written, to Part.File of the path, for [Merge];
	// the zero part is all of them.
	Part shard.Part
	// Origin says where the images are and what computes; Size and Seed are this one's.
	Origin datasets.Origin
	// Progress is told how many images are done; nil for nobody.
	Progress func(done, total int)

	fresh func() // told of every image that is computed; nil for nobody
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
// time, on all processors. Images that cannot be read or decoded are an
// *[datasets.UnreadableError] that has all of them.
//
// Until then the features are in path.part, too, from which the next Write of the same
// ones goes on; it is removed in the end. Nor is anything computed again that a file at path
// has already, of the same images by the same network on the same engine: after more images
// have come, only those are.
func Write(ctx context.Context, path string, d *datasets.Dataset, truth datasets.Truth, x *model.Extractor, o Options) error {
	o.Views = max(o.Views, 1)
	if ext := filepath.Ext(path); ext != ".safetensors" {
		return fmt.Errorf("%s: features are written as .safetensors", path)
	}
	if x.Size != o.Size {
		return fmt.Errorf("an extractor for images of %d pixels, want %d", x.Size, o.Size)
	}
	o.Origin.Size, o.Origin.Seed, o.Origin.Beside = o.Size, o.Seed, beside(path, o.Origin)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stream{ctx: ctx, d: d, x: x, o: o, known: rows{}}
	s.from, s.to = o.Part.Range(d.Len())
	defer s.wait()
	n := s.to - s.from
	var labels, domains, splits []int64
	var ids []string
	for i := s.from; i < s.to; i++ {
		e := d.Examples[i]
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
	line, err := makerLine(x, o)
	if err != nil {
		return err
	}
	origin, err := json.Marshal(o.Origin)
	if err != nil {
		return err
	}
	metadata := map[string]string{
		"format": "ledg features 2", "views": strings.Join(ViewNames(o.Views), ","),
		datasets.OriginKey: string(origin), makerKey: strings.TrimSuffix(string(line), "\n"),
	}
	if info, _ := datasets.Lookup(d.Name); info.Yours && len(d.Skipped) > 0 {
		leftOut, err := json.Marshal(d.Skipped)
		if err != nil {
			return err
		}
		metadata[datasets.LeftOutKey] = string(leftOut)
	}
	if !o.Part.Whole() {
		if metadata[shard.Key], err = partRecord(d, truth, line, o); err != nil {
			return err
		}
		path = o.Part.File(path)
	}
	s.rowBytes = o.Views * x.FeatureDim() * dtype.Size()
	var known []*os.File
	forget := func() {
		for _, f := range known {
			f.Close()
		}
	}
	defer forget()
	for _, path := range append([]string{path}, o.Known...) {
		if old, err := regular.Open(path, math.MaxInt64); err == nil {
			known = append(known, old)
			s.known.add(old, line, s.rowBytes)
		}
	}
	if s.partial, err = openPartial(path+".part", line, s.rowBytes, s.known); err != nil {
		return err
	}
	defer s.partial.file.Close()
	entries := []safetensors.Entry{
		{Name: "features", DType: dtype, Shape: shape, From: s},
		numbers("labels", labels), numbers("domains", domains),
		lines("ids", ids), lines("class_names", d.Classes), lines("domain_names", d.Domains),
		{Name: "digests", DType: safetensors.Uint8, Shape: []int{n * digestLine}, From: &s.digests},
	}
	if info, _ := datasets.Lookup(d.Name); !info.Yours { // whose splits follow the labels
		entries = append(entries, numbers("splits", splits))
	}
	err = regular.WriteFile(path, func(w io.Writer) error {
		s.start()
		defer forget() // Windows replaces no file that is open
		return safetensors.Write(w, entries, metadata)
	})
	if bad := (*datasets.UnreadableError)(nil); errors.As(err, &bad) {
		return bad
	}
	if err != nil {
		return err
	}
	return s.partial.remove()
}

// makerKey is the key of the metadata that says by what rows were made.
const makerKey = "made_by"

// digestLine is the length of a digest in hexadecimal, as a line of JSON.
const digestLine = 2*sha256.Size + len("\"\"\n")

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

	// known are the rows that are there, and partial gets what is computed.
	known    rows
	partial  *partialFile
	rowBytes int
	from, to int // the images that are written
	// digests has those of the images whose features were read.
	digests bytes.Buffer

	// bad are the images that cannot be read.
	bad []datasets.Skipped

	order   chan *task
	done    int
	left    []byte
	stopped chan struct{}
}

// task is some images, and then their rows, of which some are new, and digests, or an error.
type task struct {
	from, to int
	rows     []byte
	fresh    []bool
	digests  []string
	bad      []datasets.Skipped
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
				t.err = w.compute(t)
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
		for from := s.from; from < s.to; from += per {
			t := &task{from: from, to: min(from+per, s.to), ready: make(chan struct{})}
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
		s.left, s.bad = t.rows, append(s.bad, t.bad...)
		for i, sum := range t.digests {
			if sum == "" { // of a bad one
				continue
			}
			fmt.Fprintf(&s.digests, "%q\n", sum)
			if t.fresh[i] && s.o.fresh != nil {
				s.o.fresh()
			}
			if t.fresh[i] {
				if err := s.partial.add(keyOf(s.d.Examples[t.from+i].ID, sum), t.rows[i*s.rowBytes:(i+1)*s.rowBytes]); err != nil {
					return 0, err
				}
			}
		}
		s.done += t.to - t.from
		if s.o.Progress != nil {
			s.o.Progress(s.done, s.to-s.from)
		}
		if s.done == s.to-s.from && len(s.bad) > 0 {
			return 0, &datasets.UnreadableError{Files: s.bad}
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
	fit    rgb.Fit
	clean  *rgb.Image
	pixels []byte
	made   []int // the images of a task that are computed
}

func newWorker(s *stream) *worker {
	return &worker{s: s, run: s.x.Worker(), fit: s.o.Origin.Fit(), clean: rgb.New(s.o.Size, s.o.Size)}
}

// compute computes the rows of a task, but for those that are known.
func (w *worker) compute(t *task) error {
	s, o := w.s, w.s.o
	n, one := t.to-t.from, 3*o.Size*o.Size
	t.rows, t.fresh, t.digests = make([]byte, n*s.rowBytes), make([]bool, n), make([]string, n)
	w.pixels = slices.Grow(w.pixels[:0], n*o.Views*one)[:n*o.Views*one]
	fresh := 0
	w.made = w.made[:0]
	for i := range n {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		id := s.d.Examples[t.from+i].ID
		var err error
		bad := func() {
			t.digests[i] = ""
			t.bad = append(t.bad, datasets.Skipped{ID: id, Reason: strings.TrimPrefix(err.Error(), id+": ")})
		}
		if t.digests[i], err = s.d.Digest(t.from + i); err != nil {
			bad()
			continue
		}
		if p, ok := s.known[keyOf(id, t.digests[i])]; ok {
			if err := regular.ReadAt(p.file, t.rows[i*s.rowBytes:(i+1)*s.rowBytes], p.at); err != nil {
				return fmt.Errorf("features of %s, computed before: %w", id, err)
			}
			continue
		}
		var m *rgb.Image
		if m, err = s.d.ImageContext(s.ctx, t.from+i); s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		if err != nil {
			bad()
			continue
		}
		w.fit.Into(w.clean, m)
		for v := range o.Views {
			at := (fresh*o.Views + v) * one
			dst := &rgb.Image{Width: o.Size, Height: o.Size, Pix: w.pixels[at : at+one : at+one]}
			view, r := augment.PlainView, (*rand.Rand)(nil)
			if v > 0 {
				r = seed.New(o.Seed, "embedded view of "+id, uint64(v))
				if view = augment.WeakView; v > 1 {
					view = augment.StrongView
				}
			}
			view.Make(&w.maker, dst, w.clean, r)
		}
		t.fresh[i] = true
		w.made = append(w.made, i)
		fresh++
	}
	if fresh == 0 {
		return nil
	}
	features := make([]float32, fresh*o.Views*s.x.FeatureDim())
	if err := w.run(features, w.pixels[:fresh*o.Views*one]); err != nil {
		return err
	}
	if row := model.NotFinite(features, s.x.FeatureDim()); row >= 0 {
		return fmt.Errorf("the network makes features of %s that are no finite numbers", s.d.Examples[t.from+w.made[row/o.Views]].ID)
	}
	computed := s.encode(features)
	for i, is := range t.fresh {
		if is {
			computed = computed[copy(t.rows[i*s.rowBytes:(i+1)*s.rowBytes], computed):]
		}
	}
	return nil
}
