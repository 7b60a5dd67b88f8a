package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/predict/observations"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/ahead"
	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
)

// FilesOptions are the inputs and outputs of [Predictor.Files].
type FilesOptions struct {
	// Images are folders, searched at any depth, and files.
	Images []string
	// Boxes make the boxes in the images the items; nil for whole images.
	Boxes *datasets.Boxes
	// Events are the events of image files by path, found by Capture; nil for none.
	Events  map[string]string
	Capture datasets.Capture
	// Units fills in Summary.Images without boxes and events, too.
	Units bool
	// Out is the output table: .csv, .parquet or .jsonl.
	Out string
	// Progress reports the number of finished files after every batch, from one goroutine; it
	// may be nil.
	Progress func(done, total int)
}

// Summary is the result of [Predictor.Files].
type Summary struct {
	// Predicted is the number of images in the table, Resumed how many of them an earlier call
	// had finished.
	Predicted, Resumed int
	// New is the number of images that look like nothing labelled; see Prediction.LooksNew.
	New int
	// Changed is true if files that precede the last one of an interrupted call have changed
	// since; new ones among them are not in the table.
	Changed bool
	// Failed is the number of unreadable files, FailedFile the CSV file that lists them with
	// reasons, if any.
	Failed     int
	FailedFile string
	// Reused is the number of images whose features this call has read instead of computed.
	Reused int
	// Pictures counts what decoding in this call revealed.
	Pictures datasets.PictureCount
	// First lists the first few of them with reasons.
	First []string
	// Images and Events are the predictions of images and of events, where there are boxes or events, and the Files
	// with a row each.
	Images, Events []*observations.Unit
	Files          []string
	// Boxes are the boxes of the images, and Paths the images' paths; nil without boxes.
	Boxes *datasets.BoxesOf
	Paths []string
}

// Files predicts the images of folders and writes a table with a row for each file, in byte
// order of paths. Unreadable files are listed in a file beside the table.
//
// Of all files the paths are in memory, and nothing else. Intermediate results are beside the
// table under names that end in ".part"; after an interruption, a call with the same images and
// options continues from there and gives the same bytes. Tables are written completely or not at
// all.
func (p *Predictor) Files(ctx context.Context, o FilesOptions) (s Summary, err error) {
	if err := o.Check(); err != nil {
		return s, err
	}
	if err := regular.FolderOf(o.Out); err != nil { // before hours of work
		return s, err
	}
	if err := SameKind(p.Decoding(), o.Boxes); err != nil {
		return s, err
	}
	if err := p.look(); err != nil {
		return s, err
	}
	if err := p.loadKnown(); err != nil {
		return s, err
	}
	paths, err := find(o.Images, o.own())
	if err != nil {
		return s, err
	}
	if o.Boxes != nil {
		s.Paths = paths
		if paths, s.Boxes, err = boxesIn(o.Images, paths, o.Boxes); err != nil {
			return s, err
		}
	}
	j, err := openJournal(o, p)
	if err != nil {
		return s, err
	}
	defer j.Close()
	s.Resumed = j.done - j.failed
	d := p.decoder()
	if s.Changed, s.Reused, err = p.work(ctx, d, paths, j, o.Progress); err != nil {
		return s, err
	}
	s.Pictures = d.seen
	if j.done == 0 && len(paths) == 0 && len(s.Paths) == 0 {
		return s, fmt.Errorf("no files in %s", strings.Join(o.Images, ", "))
	}
	if err := j.write(o.Out, &s); err != nil {
		return s, err
	}
	if err := p.writeAll(o, &s, j); err != nil {
		return s, err
	}
	if err := j.Remove(); err != nil {
		return s, err
	}
	if s.Predicted == 0 && (o.Boxes == nil || s.Failed > 0) {
		for _, dir := range o.Images {
			if err := foreign.Folder(dir); err != nil {
				return s, err
			}
		}
		return s, fmt.Errorf("none of %d files in %s can be read, first %s; %s lists them", s.Failed, strings.Join(o.Images, ", "), s.First[0], s.FailedFile)
	}
	return s, nil
}

// writeAll writes the tables of images and events, if there are boxes or events.
func (p *Predictor) writeAll(o FilesOptions, s *Summary, j *journal) (err error) {
	if o.Boxes == nil && o.Events == nil && !o.Units {
		return nil
	}
	if s.Images, s.Events, err = p.units(o, s, j); err != nil || o.Boxes == nil && o.Events == nil {
		return err
	}
	s.Files = append(s.Files, unitsFile(o.Out, "images"))
	if err := writeUnits(s.Files[0], "path", s.Images); err != nil || o.Events == nil {
		return err
	}
	s.Files = append(s.Files, unitsFile(o.Out, "events"))
	return writeUnits(s.Files[1], "event", s.Events)
}

// own returns whether a path is a file that is written or a ledger of labels.
func (o FilesOptions) own() func(path string) bool {
	own := map[string]bool{}
	for _, path := range append(shard.Shard{}.Own(o.Out), o.Out, failedFile(o.Out), unitsFile(o.Out, "images"), unitsFile(o.Out, "events")) {
		if abs, err := filepath.Abs(path); err == nil && path != "" {
			own[abs] = true
		}
	}
	return func(path string) bool {
		abs, err := filepath.Abs(path)
		return err == nil && (own[abs] || filepath.Base(abs) == labels.File)
	}
}

// tableFormats are the formats of tables, by their names' ends.
var tableFormats = []string{".csv", ".parquet", ".jsonl"}

// Check returns an error for options without images, or with unsupported output formats.
func (o FilesOptions) Check() error {
	switch {
	case len(o.Images) == 0:
		return errors.New("no images are named")
	case !slices.Contains(tableFormats, filepath.Ext(o.Out)):
		return fmt.Errorf("table %q: want a name that ends in %s", o.Out, strings.Join(tableFormats, ", "))
	}
	return nil
}

// failedFile is the list of files that could not be read, beside a table.
func failedFile(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".failed.csv" }

// work predicts what the journal has not yet, one batch being read while the one
// before it is computed. It reports whether the files that are passed over are others
// than those in the journal, and of how many images features were reused.
func (p *Predictor) work(ctx context.Context, d *decoder, paths []string, j *journal, progress func(done, total int)) (changed bool, reused int, err error) {
	from, found := slices.BinarySearch(paths, j.last)
	if found {
		from++
	}
	seen, passed := j.seen.Sum(nil), registers.SHA256() // the journal grows beside the reader
	for _, path := range paths[:from] {
		io.WriteString(passed, path+"\x00")
	}
	for b, err := range ahead.Of(ctx, func(ctx context.Context, yield func(*filled) bool) error {
		for paths := range slices.Chunk(paths[from:], p.batch) {
			if b, err := d.read(ctx, paths); err != nil || !yield(b) {
				return err
			}
		}
		return nil
	}) {
		if err == nil {
			err = p.predictBatch(b, j)
		}
		if err != nil {
			return false, reused, err
		}
		for _, x := range b.features {
			if x != nil {
				reused++
			}
		}
		if progress != nil {
			progress(j.done, len(paths))
		}
	}
	return !bytes.Equal(passed.Sum(nil), seen), reused, nil
}

// predictBatch computes a batch and notes it in the journal.
func (p *Predictor) predictBatch(b *filled, j *journal) error {
	features, logits, err := p.forwardBatch(b)
	if err != nil {
		return err
	}
	for i, path := range b.paths {
		if b.failed[i] != nil {
			if err := j.append(entry{Prediction: Prediction{Path: path}, Error: b.failed[i].Error()}); err != nil {
				return err
			}
			continue
		}
		v := p.prediction(path, row(features, i, p.Model.Features), row(logits, i, p.classes()))
		e := entry{Prediction: v}
		if j.events {
			e.Out = v.Logits
		}
		if err := j.append(e); err != nil {
			return err
		}
	}
	return nil
}
