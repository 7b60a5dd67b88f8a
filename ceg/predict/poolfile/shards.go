package poolfile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/regular"
)

// shardHead is what the shards of a query have in common.
type shardHead struct {
	// Settings are the caller's, which say how to choose.
	Settings json.RawMessage `json:"settings"`
	// Pool is the SHA-256 of the file. Every shard reads it once: labelled samples and rows of
	// other shards count, too.
	Pool string `json:"pool"`
	// Columns is the number of scores of a row, and Domains says that its domain follows.
	Columns int  `json:"columns"`
	Domains bool `json:"domains"`
}

// Score scores the rows of a shard of the pool in a file and writes to shard.File(out) what
// [Merge] needs, up to 48 bytes a row. settings, a JSON object, describes how n of the whole
// pool are selected later. The strategy must be [Separable].
func Score(ctx context.Context, path string, strategy active.Strategy, n int, of shard.Shard, settings json.RawMessage, out string) (rows int, err error) {
	if !Separable(strategy) {
		return 0, fmt.Errorf("%s: it is not of numbers that every row has by itself", strategy.Name())
	}
	file, err := arrays.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	s := &source{file: file, ctx: ctx, rows: -1, shard: of}
	if file.Has(poolGroups) {
		return 0, s.errorf("it has an array %s, and of groups nothing is chosen in shards: query the whole file", poolGroups)
	}
	if rows, err := trained(file); err != nil {
		return 0, err
	} else if rows != nil {
		return 0, s.errorf("it has rows of other splits than train, which are not queried, and of a part nothing is chosen in shards: query the whole file")
	}
	h := shardHead{Settings: settings}
	if h.Pool, err = digest(ctx, path); err != nil {
		return 0, err
	}
	c, err := s.score(strategy, n)
	if err != nil {
		return 0, err
	}
	h.Columns, h.Domains = len(c.columns), c.domains != nil
	r := shard.Record{Kind: shard.Query, Shard: of, Total: s.rows}
	if r.Of, err = json.Marshal(h); err != nil {
		return 0, err
	}
	j, err := shard.OpenAnew(of.Journal(out), r, func([]byte, int64) error { return nil }) // a journal of the round before is removed
	if err != nil {
		return 0, err
	}
	defer j.Close()
	if j.Ended() {
		return c.rows, nil
	}
	if err := j.Restart(); err != nil {
		return 0, err
	}
	if err := c.save(j); err != nil {
		return 0, err
	}
	return c.rows, j.End()
}

// digest is the SHA-256 of a file that can be large.
func digest(ctx context.Context, path string) (string, error) {
	f, err := regular.Open(path, math.MaxInt64)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(h, f, 1<<26)
	}
	if !errors.Is(err, io.EOF) {
		return "", cmp.Or(context.Cause(ctx), err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// rowsAnItem is the number of rows in an item of a journal.
const rowsAnItem = 1024

// save appends the rows to a journal: of each the scores, the domain if it counts, and a zero
// if that is nothing, so that no journal has more rows than bytes.
func (c *scored) save(j *shard.Journal) error {
	var item []byte
	for row := range c.rows {
		for _, column := range c.columns {
			item = binary.LittleEndian.AppendUint64(item, math.Float64bits(column[row]))
		}
		if c.domains != nil {
			item = binary.LittleEndian.AppendUint64(item, uint64(c.domains[row]))
		}
		if c.domains == nil && len(c.columns) == 0 {
			item = append(item, 0)
		}
		if row+1 == c.rows || row%rowsAnItem == rowsAnItem-1 {
			if _, err := j.Append(item); err != nil {
				return err
			}
			item = item[:0]
		}
	}
	return nil
}

// load appends the rows of an item.
func (c *scored) load(item []byte, h shardHead) error {
	width := 8 * h.Columns
	if h.Domains {
		width += 8
	}
	width = max(width, 1)
	if len(item)%width != 0 {
		return fmt.Errorf("an item of %d bytes, want rows of %d", len(item), width)
	}
	c.rows += len(item) / width
	for ; len(item) > 0; item = item[width:] {
		for k := range c.columns {
			c.columns[k] = append(c.columns[k], math.Float64frombits(binary.LittleEndian.Uint64(item[8*k:])))
		}
		if h.Domains {
			c.domains = append(c.domains, int(binary.LittleEndian.Uint64(item[8*h.Columns:])))
		}
	}
	return nil
}

// Settings returns the settings that the shards of a query were made with.
func Settings(f shard.File) (json.RawMessage, error) {
	var h shardHead
	if err := json.Unmarshal(f.Of, &h); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return h.Settings, nil
}

// Merge selects n rows of the pool from the shards of [Score], sorted by [shard.Together], with
// the same result as [Query] on the whole file.
func Merge(ctx context.Context, files []shard.File, strategy active.Strategy, n int, r *rand.Rand) ([]active.Pick, error) {
	all := &scored{}
	want := shardHead{}
	switch strategy.(type) {
	case active.CEG:
		want.Columns = 5
	case active.BalancedCEG:
		want.Columns, want.Domains = 5, true
	case active.Probability:
		want.Columns = 2
	}
	all.columns = make([][]float64, want.Columns)
	for _, f := range files {
		var h shardHead
		if err := json.Unmarshal(f.Of, &h); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if h.Columns != want.Columns || h.Domains != want.Domains {
			return nil, fmt.Errorf("%s: rows of %d scores, want %d for %s", f.Path, h.Columns, want.Columns, strategy.Name())
		}
		begin := all.rows
		if err := f.Each(func(item []byte, _ int64) error { return errors.Join(context.Cause(ctx), all.load(item, h)) }); err != nil {
			return nil, err
		}
		if from, to := f.Shard.Range(f.Total); all.rows-begin != to-from {
			return nil, fmt.Errorf("%s: %d rows, want %d for shard %s of %d", f.Path, all.rows-begin, to-from, f.Shard, f.Total)
		}
	}
	if n < 1 || n > all.rows {
		return nil, fmt.Errorf("%d samples of a pool of %d", n, all.rows)
	}
	return all.choose(strategy, n, r)
}
