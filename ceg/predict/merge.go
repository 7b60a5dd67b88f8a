package predict

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/regular"
)

// partLine is the first line of the journal of a part.
func partLine(p shard.Part, total int, h head) ([]byte, error) {
	of, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return json.Marshal(shard.Record{Kind: shard.Predictions, Part: p, Total: total, Of: of})
}

// besideTable is the path of the features from the folder of the table.
func besideTable(o FilesOptions) (string, error) {
	if o.Embeddings == "" {
		return "", nil
	}
	out, errOut := filepath.Abs(o.Out)
	features, err := filepath.Abs(o.Embeddings)
	if err := cmp.Or(errOut, err); err != nil {
		return "", err
	}
	if beside, err := filepath.Rel(filepath.Dir(out), features); err == nil {
		features = beside
	}
	return filepath.ToSlash(features), nil
}

// Merge writes the tables of the parts that [Predictor.Files] has left, given by
// [shard.Together]: those of one call for all files, to the byte, if the same engine computes
// on the same hardware. Features are written where the parts were told, seen from out. Parts
// that are not complete are errors, before anything is written, and all parts stay.
func Merge(out string, files []shard.File) (s Summary, err error) {
	if !slices.Contains(tableFormats, filepath.Ext(out)) {
		return s, fmt.Errorf("table %q: want a name that ends in %s", out, strings.Join(tableFormats, ", "))
	}
	var h head
	if err := json.Unmarshal(files[0].Of, &h); err != nil {
		return s, fmt.Errorf("%s: %w", files[0].Path, err)
	}
	embeddings := filepath.FromSlash(h.Embeddings)
	if embeddings != "" && !filepath.IsAbs(embeddings) {
		embeddings = filepath.Join(filepath.Dir(out), embeddings)
	}
	for _, path := range []string{out, embeddings} {
		if path == "" {
			continue
		}
		if err := regular.FolderOf(path); err != nil {
			return s, err
		}
	}
	all := &journal{dim: h.Features, sets: h.Sets != nil || h.Abstain != nil}
	for _, f := range files {
		j := &journal{dim: all.dim}
		defer j.closeFiles()
		if err := j.read(f, all.last, all.done > 0); err != nil {
			return s, err
		}
		all.parts = append(all.parts, j)
		all.done, all.failed, all.last = all.done+j.done, all.failed+j.failed, cmp.Or(j.last, all.last)
	}
	return s, all.write(out, embeddings, &s)
}

// read opens the journal of a part and reads it once: it is an error if it is not complete,
// or does not begin after the last path of the part before.
func (j *journal) read(f shard.File, last string, after bool) (err error) {
	rows, features := f.Path, f.Path+".features"
	if j.rows, err = regular.Open(rows, math.MaxInt64); err != nil {
		return err
	}
	if err := j.each(func(e entry) error {
		if (after || j.done > 0) && e.Path <= last {
			return fmt.Errorf("%q is not in its place", e.Path)
		}
		j.note(e)
		last = e.Path
		return nil
	}); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", rows, err)
	}
	from, to := f.Part.Range(f.Total)
	if j.done != to-from {
		return fmt.Errorf("%s: part %s is not complete: %d of %d files; the command that makes it goes on", rows, f.Part, j.done, to-from)
	}
	if j.dim == 0 {
		return nil
	}
	if j.features, err = regular.Open(features, math.MaxInt64); err != nil {
		return err
	}
	info, err := j.features.Stat()
	if want := int64(j.done-j.failed) * int64(4*j.dim); err == nil && info.Size() != want {
		err = fmt.Errorf("%s has %d bytes, want %d for %d images", features, info.Size(), want, j.done-j.failed)
	}
	return err
}
