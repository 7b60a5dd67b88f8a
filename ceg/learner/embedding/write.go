package embedding

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/half"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Options are the settings of [Write].
type Options struct {
	// Size is the side in pixels to which images are resized by the origin's Fit.
	Size int
	// Views is the number of views of each image: a clean one, a weak one, and then strong ones.
	// 0 means 1.
	Views int
	// Half stores float16 instead of float32.
	Half bool
	// Seed seeds the augmentations.
	Seed uint64
	// Known lists more files of features whose rows of the same images are reused.
	Known []string
	// Shard selects the images to write, to Shard.File of the path, for [Merge]; the zero Shard
	// selects all. CacheDir caches the images' digests; see [datasets.Digests].
	Shard    shard.Shard
	CacheDir string
	// Origin describes the images and the network; Size and Seed are taken from the options.
	Origin datasets.Origin
	// Names are class embeddings to write beside the features; nil for none.
	Names *datasets.ClassEmbeddings
	// Say receives a warning if different images have the same features, and what is unusual about
	// the images; it may be nil.
	Say func(line string)
	// Progress reports the number of finished images; it may be nil.
	Progress func(done, total int)

	fresh func() // called after every computed image; may be nil
}

// ViewNames returns the names of the views in the file's metadata.
func ViewNames(views int) []string {
	names := []string{"clean", "weak"}
	for len(names) < views {
		names = append(names, "strong")
	}
	return names[:views]
}

// Write writes the features of all images of d to path, atomically. Features are not held in
// memory: images are decoded a few at a time, on all processors. An undecodable image is an
// error that names it.
//
// Until then features are in the journal path.part, from which the next Write of the same images
// continues; it is removed at the end. Rows of an existing file at path, of the same images by
// the same network on the same engine, are reused, so only new images are computed. A shard is
// its journal, and continues only with the same images.
func Write(ctx context.Context, path string, d *datasets.Dataset, truth datasets.Truth, x *model.Extractor, o Options) error {
	o.Views = max(o.Views, 1)
	if err := checkName(path); err != nil {
		return err
	}
	if x.Size != o.Size {
		return fmt.Errorf("an extractor for images of %d pixels, want %d", x.Size, o.Size)
	}
	if err := regular.FolderOf(path); err != nil { // before hours of work
		return err
	}
	o.Origin.Size, o.Origin.Seed, o.Origin.Beside = o.Size, o.Seed, beside(path, o.Origin)
	by, err := makerOf(x, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stream{ctx: ctx, d: d, truth: truth, x: x, o: o, by: by, known: rows{}, rowBytes: by.rowBytes()}
	if s.journal, err = openJournal(ctx, path, d, truth, by, o, s.known); err != nil {
		return err
	}
	defer s.journal.Close()
	defer s.wait()
	if !o.Shard.Whole() {
		s.from, s.to = o.Shard.Range(d.Len())
		s.begin, s.from = s.from, s.from+s.journal.Items()
	} else {
		s.to = d.Len()
	}
	forget := s.known.addFiles(append([]string{o.Shard.File(path)}, o.Known...), by)
	defer forget()
	err = s.computeAll()
	if line := d.SayPictures(); line != "" && o.Say != nil {
		o.Say(line)
	}
	if err != nil {
		return err
	}
	if s.reused > 0 && o.Say != nil {
		o.Say(SayReused(s.reused, len(s.images)))
	}
	if s.alike > 0 && o.Say != nil {
		o.Say(fmt.Sprintf("warning: all %d images have the same features, so nothing can be learned from them: the network, its output or its preprocessing is not the right one", s.alike+1))
	}
	if !o.Shard.Whole() {
		return s.journal.End()
	}
	c := &content{by: by, origin: o.Origin, classes: d.Classes, domains: d.Domains, splits: hasSplits(d), leftOut: leftOut(d), names: o.Names, images: s.images, rows: s.rows}
	if err := regular.WriteFile(path, func(w io.Writer) error {
		defer forget() // Windows replaces no file that is open
		return c.write(w)
	}); err != nil {
		return err
	}
	return s.journal.Remove()
}

func checkName(path string) error {
	if ext := filepath.Ext(path); ext != ".safetensors" {
		return fmt.Errorf("%s: features are written as .safetensors", path)
	}
	return nil
}

// makerKey is the key of the metadata that says by what rows were made.
const makerKey = "made_by"

func numbers(name string, images []picture, of func(picture) int) safetensors.Entry {
	list := make([]int, len(images))
	for i, m := range images {
		list[i] = of(m)
	}
	return safetensors.IntEntry(name, list)
}

func bytesOf(name string, b []byte) safetensors.Entry {
	return safetensors.Entry{Name: name, DType: safetensors.Uint8, Shape: []int{len(b)}, Data: b}
}

// stream computes the features of all images, in order; goroutines are a little ahead.
type stream struct {
	ctx   context.Context
	d     *datasets.Dataset
	truth datasets.Truth
	x     *model.Extractor
	o     Options

	// known are the existing rows; computed ones are appended to the journal.
	by       maker
	known    rows
	reused   int // images of a whole file
	journal  *shard.Journal
	rowBytes int
	from, to int // the images that are written
	begin    int // the first of the shard
	// images are those that are done, and rows their features, of a whole file.
	images []picture
	rows   []place
	// first is an image's clean features, and alike how many others, of other bytes, equal them; -1
	// as soon as one does not.
	first       []byte
	firstDigest string
	alike       int
	// bad are the images that cannot be read.
	bad []datasets.Skipped

	order   chan *task
	stopped chan struct{}
}

// task is a set of images, then their rows, some of them new, and digests, or an error.
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
			w := &worker{s: s, run: s.x.Worker(), fit: s.o.Origin.Fit(), clean: rgb.New(s.o.Size, s.o.Size)}
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

// computeAll computes the missing rows and appends them to the journal.
func (s *stream) computeAll() error {
	s.start()
	done := s.from - s.begin
	for {
		t, ok := <-s.order
		if !ok && len(s.bad) > 0 && s.ctx.Err() == nil {
			return &datasets.UnreadableError{Files: s.bad}
		}
		if !ok {
			return context.Cause(s.ctx)
		}
		select {
		case <-t.ready:
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
		if t.err != nil {
			return t.err
		}
		s.bad = append(s.bad, t.bad...)
		for i := range t.to - t.from {
			if err := s.finish(t, i); err != nil {
				return err
			}
		}
		if done += t.to - t.from; s.o.Progress != nil {
			s.o.Progress(done, s.to-s.begin)
		}
	}
}

// finish notes image i of a task. A shard has its images in order, and so ends before a bad one.
func (s *stream) finish(t *task, i int) error {
	if t.digests[i] == "" || len(s.bad) > 0 && !s.o.Shard.Whole() {
		return nil
	}
	m := pictureOf(s.d, s.truth, t.from+i)
	m.Digest = t.digests[i]
	if t.fresh[i] && s.o.fresh != nil {
		s.o.fresh()
	}
	if t.fresh[i] {
		s.compare(t.rows[i*s.rowBytes:i*s.rowBytes+s.rowBytes/s.o.Views], m.Digest)
	}
	p, known := s.known[s.by.key(s.d.Examples[t.from+i].ID, m.Digest)]
	if !known || !s.o.Shard.Whole() {
		item := m.item(t.rows[i*s.rowBytes : (i+1)*s.rowBytes])
		at, err := s.journal.Append(item)
		if err != nil {
			return err
		}
		p = place{s.journal, at + int64(len(item)-s.rowBytes)}
	}
	if s.o.Shard.Whole() {
		s.images, s.rows = append(s.images, m), append(s.rows, p)
		if known && p.file != io.ReaderAt(s.journal) {
			s.reused++
		}
	}
	return nil
}

// compare compares an image's clean features with the first image's.
func (s *stream) compare(row []byte, digest string) {
	switch {
	case s.first == nil:
		s.first, s.firstDigest = slices.Clone(row), digest
	case s.alike < 0 || digest == s.firstDigest:
	case bytes.Equal(row, s.first):
		s.alike++
	default:
		s.alike = -1
	}
}

func (s *stream) encode(v []float32) []byte {
	if !s.o.Half {
		return safetensors.AppendFloats(nil, v)
	}
	b := make([]byte, 0, 2*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, half.Bits(x))
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
		var p place
		var known bool
		var m *rgb.Image
		m, t.digests[i], err = s.d.Load(s.ctx, t.from+i, func(digest string) bool {
			p, known = s.known[s.by.key(id, digest)]
			return known
		})
		switch {
		case s.ctx.Err() != nil:
			return context.Cause(s.ctx)
		case err != nil:
			bad()
			continue
		case known && o.Shard.Whole():
			continue // it is read where it stands
		case known:
			if err := regular.ReadAt(p.file, t.rows[i*s.rowBytes:(i+1)*s.rowBytes], p.at); err != nil {
				return fmt.Errorf("features of %s, computed before: %w", id, err)
			}
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
