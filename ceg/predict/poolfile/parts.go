package poolfile

import (
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
	"os"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// partOf is what the parts of a query have in common.
type partOf struct {
	// Settings are the caller's, which say how to choose.
	Settings json.RawMessage `json:"settings"`
	// Pool is the digest of the file; see fingerprint.
	Pool string `json:"pool"`
}

// Score scores the rows of a part of the pool in a file and writes them to part.File(out),
// for [Merge]: what a query needs of them, up to 48 bytes a row. The settings, a JSON object,
// say how to choose n of the whole pool afterwards. The strategy has to be [Separable].
func Score(ctx context.Context, path string, strategy active.Strategy, n int, part shard.Part, settings json.RawMessage, out string) (rows int, err error) {
	if !Separable(strategy) {
		return 0, fmt.Errorf("%s: it is not of numbers that every row has by itself", strategy.Name())
	}
	file, err := arrays.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	s := &source{file: file, ctx: ctx, rows: -1, part: part}
	if file.Has(poolGroups) {
		return 0, s.errorf("it has an array %s, and of groups nothing is chosen in parts: query the whole file", poolGroups)
	}
	pool, err := s.fingerprint()
	if err != nil {
		return 0, err
	}
	c, err := s.score(strategy, n)
	if err != nil {
		return 0, err
	}
	of, err := json.Marshal(partOf{settings, pool})
	if err != nil {
		return 0, err
	}
	record, err := json.Marshal(shard.Record{Kind: shard.Query, Part: part, Total: s.rows, Of: of})
	if err != nil {
		return 0, err
	}
	var entries []safetensors.Entry
	if k := len(c.columns); k > 0 {
		entries = append(entries, safetensors.Entry{Name: scoresName, DType: safetensors.Float64, Shape: []int{c.rows, k}, From: &interleaved{columns: c.columns}})
	}
	if c.domains != nil {
		b := make([]byte, 0, 8*len(c.domains))
		for _, d := range c.domains {
			b = binary.LittleEndian.AppendUint64(b, uint64(d))
		}
		entries = append(entries, safetensors.Entry{Name: poolDomains, DType: safetensors.Int64, Shape: []int{c.rows}, Data: b})
	}
	return c.rows, regular.WriteFile(part.File(out), func(w io.Writer) error {
		return safetensors.Write(w, entries, map[string]string{shard.Key: string(record)})
	})
}

// scoresName is the array of the scores in a part: a row for each row, with the columns of
// scored.
const scoresName = "scores"

// interleaved reads as a matrix, row-major, that lies in memory by columns.
type interleaved struct {
	columns [][]float64
	row     int
	left    []byte
}

func (r *interleaved) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		if r.row == len(r.columns[0]) {
			return 0, io.EOF
		}
		r.left = r.left[:0]
		for end := min(r.row+1024, len(r.columns[0])); r.row < end; r.row++ {
			for _, c := range r.columns {
				r.left = binary.LittleEndian.AppendUint64(r.left, math.Float64bits(c[r.row]))
			}
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Settings returns those that the parts of a query were made with.
func Settings(f shard.File) (json.RawMessage, error) {
	var of partOf
	if err := json.Unmarshal(f.Of, &of); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return of.Settings, nil
}

// Merge chooses n rows of the pool that the parts of [Score] have scored, given by
// [shard.Together], as [Query] of the whole file does.
func Merge(ctx context.Context, files []shard.File, strategy active.Strategy, n int, r *rand.Rand) ([]active.Pick, error) {
	all := &scored{rows: files[0].Total}
	switch strategy.(type) {
	case active.CEG, active.BalancedCEG:
		all.columns = make([][]float64, 5)
	case active.Probability:
		all.columns = make([][]float64, 2)
	}
	for _, f := range files {
		if err := all.add(ctx, f, strategy); err != nil {
			return nil, err
		}
	}
	return all.choose(strategy, n, r)
}

// add adds the rows of a part after those of the parts before.
func (c *scored) add(ctx context.Context, f shard.File, strategy active.Strategy) error {
	if len(c.columns) == 0 {
		return nil
	}
	file, err := arrays.Open(f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	a, err := file.Array(scoresName)
	if err != nil {
		return err
	}
	rows, cols, err := a.Matrix()
	if err != nil {
		return err
	}
	from, to := f.Part.Range(f.Total)
	if rows != to-from || cols != len(c.columns) {
		return a.Errorf("%d x %d, want %d x %d for part %s", rows, cols, to-from, len(c.columns), f.Part)
	}
	if c.columns[0] == nil { // the total is true: the file is as long as its share
		for k := range c.columns {
			c.columns[k] = make([]float64, 0, f.Total)
		}
	}
	if err := arrays.Blocks(ctx, a, func(_ int, block []float64) error {
		for i, v := range block {
			c.columns[i%cols] = append(c.columns[i%cols], v)
		}
		return nil
	}); err != nil {
		return err
	}
	if _, ok := strategy.(active.BalancedCEG); !ok {
		return nil
	}
	if a, err = file.Array(poolDomains); err != nil {
		return err
	}
	own, err := arrays.Ints(a)
	if err == nil && len(own) != rows {
		err = a.Errorf("%d elements, want %d", len(own), rows)
	}
	c.domains = append(c.domains, own...)
	return err
}

// Of a large file the fingerprint has a block in every stride, of one up to wholeFile all.
const (
	blockBytes  = 64 << 10
	strideBytes = 4 << 20
	wholeFile   = 64 << 20
)

// fingerprint is the digest by which parts know that they are of the same file: that of its
// length, of the labelled samples, and of blocks that lie close enough together to tell the
// outputs of one network from those of another without reading what belongs to other parts:
// of a large file a change of single values is not seen.
func (s *source) fingerprint() (string, error) {
	f, err := os.Open(s.file.Path())
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, info.Size())
	stride := int64(strideBytes)
	if info.Size() <= wholeFile {
		stride = blockBytes
	}
	block := make([]byte, blockBytes)
	for at := int64(0); at < info.Size()+stride; at += stride {
		if err := context.Cause(s.ctx); err != nil {
			return "", err
		}
		n, err := f.ReadAt(block, min(at, max(0, info.Size()-blockBytes))) // and the end
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		h.Write(block[:n])
	}
	for _, name := range s.file.Names() {
		if !strings.HasPrefix(name, "labelled_") {
			continue
		}
		a, err := s.file.Array(name)
		if err != nil {
			continue // whoever needs it says so
		}
		if err := arrays.Unpack(s.ctx, a, h); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
