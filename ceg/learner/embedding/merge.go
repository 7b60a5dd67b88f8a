package embedding

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
)

// beside is the folder of the images relative to the folder of a file, if there is one.
func beside(path string, o datasets.Origin) string {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil || o.Root == "" {
		return ""
	}
	rel, err := filepath.Rel(dir, o.Root)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// head is what a journal is of. The journal of a complete file has only MadeBy, so that it
// continues when images are added.
type head struct {
	MadeBy maker        `json:"made_by"`
	Shard  *headOfShard `json:"shard,omitempty"`
}

// headOfShard is what the shards of a file have in common besides.
type headOfShard struct {
	Origin  datasets.Origin `json:"origin"`
	Classes []string        `json:"classes"`
	Domains []string        `json:"domains"`
	Splits  bool            `json:"splits"`
	// LeftOut are the images that are not among them.
	LeftOut []datasets.Skipped `json:"left_out,omitempty"`
	// Rows is the number of all images, and a digest of their names, labels, domains, splits
	// and bytes.
	Rows string `json:"rows"`
}

// headOf describes the journal of a file that is written.
func headOf(ctx context.Context, d *datasets.Dataset, truth datasets.Truth, by maker, o Options) (head, error) {
	if o.Shard.Whole() {
		return head{MadeBy: by}, nil
	}
	digests, err := datasets.Digests(ctx, d, o.CacheDir)
	if err != nil {
		return head{}, err
	}
	h := registers.SHA256()
	for i, digest := range digests {
		m := pictureOf(d, truth, i)
		m.Digest = digest
		h.Write(text(m))
	}
	o.Origin.Beside = ""
	return head{by, &headOfShard{o.Origin, d.Classes, d.Domains, hasSplits(d), leftOut(d), fmt.Sprintf("%d, %s", d.Len(), hex.EncodeToString(h.Sum(nil)))}}, nil
}

// hasSplits reports whether a file has the splits: of one's own images those that are specified, as
// others follow the labels and their groups.
func hasSplits(d *datasets.Dataset) bool { return !isYours(d) || d.SplitsBy != "" }

func isYours(d *datasets.Dataset) bool {
	info, _ := datasets.Lookup(d.Name)
	return info.Yours
}

// leftOut are the images that a file says were left out: those of one's own images.
func leftOut(d *datasets.Dataset) []datasets.Skipped {
	if !isYours(d) {
		return nil
	}
	return d.Skipped
}

// openJournal opens the journal of a file, and adds the rows in it. For a whole file, one of
// another maker is thrown away.
func openJournal(ctx context.Context, path string, d *datasets.Dataset, truth datasets.Truth, by maker, o Options, known rows) (*shard.Journal, error) {
	h, err := headOf(ctx, d, truth, by, o)
	if err != nil {
		return nil, err
	}
	of, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	r := shard.Record{Shard: o.Shard, Of: of}
	if !o.Shard.Whole() {
		r.Total = d.Len()
	}
	open := shard.Open
	if o.Shard.Whole() {
		open = shard.OpenAnew
	}
	type row struct {
		key key
		at  int64
	}
	var rows []row
	j, err := open(o.Shard.Journal(path), r, func(item []byte, begin int64) error {
		m, id, at, err := parseItem(item, by.rowBytes())
		rows = append(rows, row{by.key(id, m.Digest), begin + at})
		return err
	})
	for _, x := range rows {
		known[x.key] = place{j, x.at}
	}
	return j, err
}

// Merge writes the file of the shards of [Write], sorted by [shard.Together]: the same bytes as
// one call for all images, on the same engine and hardware. A damaged or incomplete shard is an
// error before anything is written, and all shards stay. Features are not held in memory.
func Merge(path string, files []shard.File) (images int, err error) {
	if err := checkName(path); err != nil {
		return 0, err
	}
	if err := shard.Apart(files, path); err != nil {
		return 0, err
	}
	var h head
	if err = json.Unmarshal(files[0].Of, &h); err == nil {
		err = h.MadeBy.check()
	}
	if err == nil && h.Shard == nil {
		err = errors.New("it does not say what it is a shard of")
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", files[0].Path, err)
	}
	c := &content{by: h.MadeBy, origin: h.Shard.Origin, classes: h.Shard.Classes, domains: h.Shard.Domains, splits: h.Shard.Splits, leftOut: h.Shard.LeftOut}
	c.origin.Beside = beside(path, h.Shard.Origin)
	for _, p := range files {
		f, err := regular.Open(p.Path, math.MaxInt64)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		begin := len(c.images)
		if err := p.Each(func(item []byte, at int64) error {
			m, _, row, err := parseItem(item, c.by.rowBytes())
			c.images, c.rows = append(c.images, m), append(c.rows, place{f, at + row})
			return err
		}); err != nil {
			return 0, err
		}
		if from, to := p.Shard.Range(p.Total); len(c.images)-begin != to-from {
			return 0, fmt.Errorf("%s: %d images, want %d for shard %s of %d", p.Path, len(c.images)-begin, to-from, p.Shard, p.Total)
		}
	}
	return len(c.images), regular.WriteFile(path, func(w io.Writer) error { return c.write(w) })
}
