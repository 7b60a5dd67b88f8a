package predict

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// head is what a journal is of. Two calls continue each other's work, and two shards belong
// together, only if theirs are equal.
type head struct {
	Model       string   `json:"model"`
	Temperature float64  `json:"temperature"`
	Calibrated  bool     `json:"calibrated,omitempty"`
	Images      []string `json:"images"`
	// Features is the length of the features that are written, 0 for none.
	Features int `json:"features"`
	// Sets and Abstain are thresholds, nil for none.
	Sets    *float64 `json:"sets,omitempty"`
	Abstain *float64 `json:"abstain,omitempty"`

	// Of a shard: the number of all files, a digest of their paths, sizes and times, and the
	// engine.
	Listing string `json:"listing,omitempty"`
	Engine  string `json:"engine,omitempty"`
}

// entry is an item of a journal: a line of JSON, which the features follow as float32.
type entry struct {
	Prediction
	// Raw is the path where it is not valid UTF-8, as names on the disk can be.
	Raw   []byte `json:"raw,omitempty"`
	Error string `json:"error,omitempty"`
}

// journal is the open journal of a call, with the finished part.
type journal struct {
	*shard.Journal
	table
	// last is the last path, and seen a digest of all.
	last string
	seen hash.Hash
}

// table is what the entries of journals become.
type table struct {
	from []interface {
		Each(fn func(item []byte, at int64) error) error
	}
	// dim is the length of the features that are written, 0 for none.
	dim  int
	sets bool // there are prediction sets and abstentions

	// done is the number of processed files, failed the number of unreadable ones.
	done, failed int
}

// openJournal begins a journal, or takes over what an interrupted call has left.
func openJournal(o FilesOptions, p *Predictor, l *listing) (*journal, error) {
	h := head{Model: p.Model.Digest(), Temperature: p.Temperature, Calibrated: p.Calibrated, Images: o.Images}
	if p.Sets != nil {
		h.Sets = &p.Sets.Threshold
	}
	if p.Abstain != nil {
		h.Abstain = &p.Abstain.Threshold
	}
	if o.Embeddings != "" {
		h.Features = p.Model.Features
	}
	r := shard.Record{Kind: shard.Predictions, Shard: o.Shard}
	if !o.Shard.Whole() {
		r.Total = l.total
		h.Listing, h.Engine = fmt.Sprintf("%d, %x", l.total, l.digest), p.backend.Description
	}
	var err error
	if r.Of, err = json.Marshal(h); err != nil {
		return nil, err
	}
	j := &journal{table: h.table(), seen: sha256.New()}
	if j.Journal, err = shard.Open(o.Shard.Journal(o.Out), r, func(item []byte, _ int64) error {
		e, _, err := j.decode(item)
		j.note(e)
		return err
	}); err != nil {
		return nil, err
	}
	j.from = append(j.from, j.Journal)
	return j, nil
}

// table is an empty table of the head's predictions.
func (h head) table() table { return table{dim: h.Features, sets: h.Sets != nil || h.Abstain != nil} }

// note counts a file that is done.
func (j *journal) note(e entry) {
	j.table.note(e)
	j.last = e.Path
	io.WriteString(j.seen, e.Path+"\x00")
}

func (t *table) note(e entry) {
	t.done++
	if e.Error != "" {
		t.failed++
	}
}

// decode reads an item.
func (t *table) decode(item []byte) (e entry, features []byte, err error) {
	line, features, _ := bytes.Cut(item, []byte("\n"))
	if err := json.Unmarshal(line, &e); err != nil {
		return e, nil, fmt.Errorf("file %d: %w", t.done, err)
	}
	if e.Raw != nil {
		e.Path = string(e.Raw)
	}
	want := 4 * t.dim
	if e.Error != "" {
		want = 0
	}
	if len(features) != want {
		return e, nil, fmt.Errorf("%q has %d bytes of features, want %d", e.Path, len(features), want)
	}
	return e, features, nil
}

// append adds a file that is done, with its features if they are written.
func (j *journal) append(e entry, features []float32) error {
	if !utf8.ValidString(e.Path) {
		e.Raw = []byte(e.Path)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("%s: %w", e.Path, err)
	}
	item := b.Bytes()
	if j.dim > 0 {
		item = safetensors.AppendFloats(item, features)
	}
	j.note(e)
	_, err := j.Append(item)
	return err
}

// each reads the entries from the beginning.
func (t *table) each(f func(e entry, features []byte) error) error {
	for _, j := range t.from {
		if err := j.Each(func(item []byte, _ int64) error {
			e, features, err := t.decode(item)
			if err != nil {
				return err
			}
			return f(e, features)
		}); err != nil {
			return err
		}
	}
	return nil
}

// images is each of the images that could be read.
func (t *table) images(f func(p Prediction, features []byte) error) error {
	return t.each(func(e entry, features []byte) error {
		if e.Error != "" {
			return nil
		}
		return f(e.Prediction, features)
	})
}

// write writes the tables.
func (t *table) write(out, embeddings string, s *Summary) error {
	s.Predicted, s.Failed, s.Embeddings, s.Features = t.done-t.failed, t.failed, embeddings, t.dim
	if err := writeTable(out, t, &s.New); err != nil {
		return err
	}
	if err := writeEmbeddings(embeddings, t); err != nil {
		return err
	}
	s.FailedFile = failedFile(out)
	if err := writeFailed(s.FailedFile, t, &s.First); err != nil {
		return err
	}
	if t.failed == 0 {
		s.FailedFile = ""
	}
	return nil
}

// maxFeatures is the most features that an image is taken to have.
const maxFeatures = 1 << 24

// ErrNoEmbeddings is the error of a merge of shards with features without an output file for
// them.
var ErrNoEmbeddings = errors.New("the shards have features, and no file is named for them")

// Merge writes the tables of the shards of [Predictor.Files], sorted by [shard.Together]: the
// same bytes as one call for all files, on the same engine and hardware. Shards with features
// need a file for these, and others none. A damaged or incomplete shard is an error before
// anything is written, and all shards stay.
func Merge(out, embeddings string, files []shard.File) (s Summary, err error) {
	if err := checkFormats(out, embeddings); err != nil {
		return s, err
	}
	var h head
	if err := json.Unmarshal(files[0].Of, &h); err != nil {
		return s, fmt.Errorf("%s: %w", files[0].Path, err)
	}
	switch {
	case h.Features > 0 && embeddings == "":
		return s, ErrNoEmbeddings
	case h.Features < 0 || h.Features > maxFeatures:
		return s, fmt.Errorf("%s: features of %d numbers, want 0 to %d", files[0].Path, h.Features, maxFeatures)
	case h.Features == 0 && embeddings != "":
		return s, fmt.Errorf("the shards have no features for %s", embeddings)
	}
	if err := shard.Apart(files, out, embeddings, failedFile(out)); err != nil {
		return s, err
	}
	for _, path := range []string{out, embeddings} {
		if path == "" {
			continue
		}
		if err := regular.FolderOf(path); err != nil {
			return s, err
		}
	}
	all := h.table()
	last := ""
	for _, f := range files {
		begin := all.done
		if err := f.Each(func(item []byte, _ int64) error {
			e, _, err := all.decode(item)
			if err == nil && all.done > 0 && e.Path <= last {
				err = fmt.Errorf("%q is not in its place", e.Path)
			}
			all.note(e)
			last = e.Path
			return err
		}); err != nil {
			return s, err
		}
		if from, to := f.Shard.Range(f.Total); all.done-begin != to-from {
			return s, fmt.Errorf("%s: %d files, want %d for shard %s of %d", f.Path, all.done-begin, to-from, f.Shard, f.Total)
		}
		all.from = append(all.from, f)
	}
	return s, all.write(out, embeddings, &s)
}
