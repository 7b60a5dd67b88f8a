package predict

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/regular"
)

// FilesOptions say what [Predictor.Files] reads and writes.
type FilesOptions struct {
	// Images are folders, searched at any depth, and files.
	Images []string
	// Out is the table to write: .csv, .parquet or .jsonl.
	Out string
	// Embeddings is a file for the features: .npz, .safetensors or .parquet; empty
	// for none.
	Embeddings string
	// Shard says which of the files are predicted; the zero Shard is all of them. What is
	// done is then left in Shard.File(Out), for [Merge].
	Shard shard.Shard
	// Progress is told how many of the files are done; nil for nobody. It is called
	// after every batch, by one goroutine.
	Progress func(done, total int)
}

// Summary says what [Predictor.Files] has done.
type Summary struct {
	// Predicted is the number of images in the table, Resumed how many of them an
	// earlier call had done.
	Predicted, Resumed int
	// New is the number of images that look like nothing labelled; see Prediction.LooksNew.
	New int
	// Changed says that up to the last file that the earlier call had done there are
	// other files now than it saw: those that came since are not in the table.
	Changed bool
	// Failed is the number of files that could not be read, FailedFile the list of
	// them, a CSV file of paths and reasons; there is none if all could be read.
	Failed     int
	FailedFile string
	// First are the first few of them, path and reason.
	First []string
	// Embeddings is the file of the features, empty for none, and Features their number.
	Embeddings string
	Features   int
}

// Files writes what is in the images of folders to a table, a row for each file,
// in byte order of their paths, which begin as the folder was named. Files that
// cannot be read are listed in a file beside the table.
//
// Memory does not grow with the number of files. What is done is kept beside the
// table under names that end in ".part" until all is; a call with the same images
// and files goes on from there after an interruption, to the same bytes. The tables
// are whole or not there. A shard writes no table.
func (p *Predictor) Files(ctx context.Context, o FilesOptions) (s Summary, err error) {
	if err := o.Check(); err != nil {
		return s, err
	}
	for _, path := range []string{o.Out, o.Embeddings} {
		if path == "" {
			continue
		}
		if err := regular.FolderOf(path); err != nil { // before hours of work
			return s, err
		}
	}
	if err := p.look(); err != nil {
		return s, err
	}
	if err := p.loadLabelled(); err != nil {
		return s, err
	}
	l, err := find(o.Images, o.own())
	if err != nil {
		return s, err
	}
	defer l.close()
	if !o.Shard.Whole() {
		if err := l.only(o.Shard); err != nil {
			return s, err
		}
	}
	j, err := openJournal(o, p, l)
	if err != nil {
		return s, err
	}
	defer j.Close()
	s.Resumed = j.done - j.failed
	if s.Changed, err = p.work(ctx, l, j, o.Progress); err != nil {
		return s, err
	}
	if j.done == 0 && l.total == 0 {
		return s, fmt.Errorf("no files in %s", strings.Join(o.Images, ", "))
	}
	if !o.Shard.Whole() {
		s.Predicted, s.Failed = j.done-j.failed, j.failed
		return s, j.End()
	}
	if err := j.write(o.Out, o.Embeddings, &s); err != nil {
		return s, err
	}
	if err := j.Remove(); err != nil {
		return s, err
	}
	if s.Predicted == 0 {
		return s, fmt.Errorf("none of %d files in %s can be read, first %s; %s lists them", s.Failed, strings.Join(o.Images, ", "), s.First[0], s.FailedFile)
	}
	return s, nil
}

// own returns whether a path is a file that is written, or a shard of one.
func (o FilesOptions) own() func(path string) bool {
	own := map[string]bool{}
	for _, path := range append(shard.Shard{}.Own(o.Out), o.Out, o.Embeddings, failedFile(o.Out)) {
		if abs, err := filepath.Abs(path); err == nil && path != "" {
			own[abs] = true
		}
	}
	out, _ := filepath.Abs(o.Out)
	return func(path string) bool {
		abs, err := filepath.Abs(path)
		return err == nil && (own[abs] || shard.Belongs(abs, out))
	}
}

// formats of the two files, by their names' ends.
var tableFormats, embeddingFormats = []string{".csv", ".parquet", ".jsonl"}, []string{".npz", ".safetensors", ".parquet"}

// Check returns an error for options that name no images, or files of formats that
// are not written.
func (o FilesOptions) Check() error {
	if len(o.Images) == 0 {
		return errors.New("no images are named")
	}
	return checkFormats(o.Out, o.Embeddings)
}

func checkFormats(table, embeddings string) error {
	switch {
	case !slices.Contains(tableFormats, filepath.Ext(table)):
		return fmt.Errorf("table %q: want a name that ends in %s", table, strings.Join(tableFormats, ", "))
	case embeddings != "" && !slices.Contains(embeddingFormats, filepath.Ext(embeddings)):
		return fmt.Errorf("embeddings %q: want a name that ends in %s", embeddings, strings.Join(embeddingFormats, ", "))
	case filepath.Clean(embeddings) == filepath.Clean(table):
		return fmt.Errorf("table and embeddings are both called %s", table)
	}
	return nil
}

// failedFile is the list of files that could not be read, beside a table.
func failedFile(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".failed.csv" }

// work predicts what the journal has not yet, one batch being read while the one
// before it is computed. It reports whether the files that are passed over are others
// than those in the journal.
func (p *Predictor) work(ctx context.Context, l *listing, j *journal, progress func(done, total int)) (changed bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := &decoder{p.fit, p.Decoding()}
	type read struct {
		b   *filled
		err error
	}
	batches, ended := make(chan read), make(chan struct{})
	send := func(paths []string) error {
		b, err := d.read(ctx, paths)
		select {
		case batches <- read{b, err}:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	last, seen, resumed := j.last, j.seen.Sum(nil), j.done > 0 // from here on the journal grows beside the reader
	passed := sha256.New()
	go func() {
		defer close(ended)
		defer close(batches)
		var paths []string
		err := l.each(func(path string) error {
			if resumed && path <= last {
				io.WriteString(passed, path+"\x00")
				return context.Cause(ctx)
			}
			if paths = append(paths, path); len(paths) < p.batch {
				return nil
			}
			err := send(paths)
			paths = nil
			return err
		})
		if err == nil && len(paths) > 0 {
			err = send(paths)
		}
		if err != nil && context.Cause(ctx) == nil {
			select {
			case batches <- read{err: err}:
			case <-ctx.Done():
			}
		}
	}()
	defer func() { cancel(nil); <-ended }()
	for r := range batches {
		if r.err != nil {
			return false, r.err
		}
		if err := p.predictBatch(r.b, j); err != nil {
			return false, err
		}
		if progress != nil {
			progress(j.done, l.to-l.from)
		}
	}
	return !bytes.Equal(passed.Sum(nil), seen), context.Cause(ctx)
}

// predictBatch computes a batch and notes it in the journal.
func (p *Predictor) predictBatch(b *filled, j *journal) error {
	features, logits, err := p.forward(b.views)
	if err != nil {
		return err
	}
	for i, path := range b.paths {
		if b.failed[i] != nil {
			if err := j.append(entry{Prediction: Prediction{Path: path}, Error: b.failed[i].Error()}, nil); err != nil {
				return err
			}
			continue
		}
		v := p.prediction(path, row(features, i, p.Model.Features), row(logits, i, p.classes()))
		if err := j.append(entry{Prediction: v}, v.Features); err != nil {
			return err
		}
	}
	return nil
}
