package arrays

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// table is a Parquet file of this library's own making.
func table(t testing.TB, codec parquet.WriterOption) []byte {
	t.Helper()
	type row struct {
		ID       string    `parquet:"id"`
		Class    string    `parquet:"class,dict"`
		Number   int64     `parquet:"number,delta"`
		Features []float32 `parquet:"features"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, codec)
	for i := range 300 {
		fatal.Get(w.Write([]row{{string(rune('a' + i%26)), []string{"cat", "dog"}[i%2], int64(i), []float32{1, 2, 3}}}))(t)
	}
	fatal.If(t, w.Close())
	return b.Bytes()
}

// readAll reads all that a file has.
func readAll(t testing.TB, path string) {
	f, err := Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Errorf("error %v does not name the file", err)
			}
			continue
		}
		_, _ = Ints(a)
		_, _ = Strings(a)
		_, _ = ReadAll[float32](context.Background(), a)
	}
}

// mutate changes a few bytes, cuts, or repeats.
func mutate(r *rand.Rand, data []byte) []byte {
	b := bytes.Clone(data)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(b))
		switch r.IntN(6) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.Uint32())
		case 2:
			b[at] = 0xff
		case 3:
			for i := at; i < min(at+5, len(b)); i++ {
				b[i] = 0xff
			}
		case 4:
			at = len(b) - 1 - r.IntN(min(len(b), 600)) // the footer
			b[at] = byte(r.Uint32())
		case 5:
			from := r.IntN(len(b))
			copy(b[at:], b[from:min(from+8, len(b))])
		}
	}
	return b
}

// Damaged Parquet files are errors, or are read: none ends the program.
func TestDamagedParquet(t *testing.T) {
	var seeds [][]byte
	for _, name := range []string{"pandas.parquet", "views.parquet"} {
		data := fatal.Get(os.ReadFile("testdata/" + name))(t)
		seeds = append(seeds, data)
	}
	for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Gzip)} {
		seeds = append(seeds, table(t, codec))
	}
	r := rand.New(rand.NewPCG(1, 2))
	n := 150
	if testing.Short() {
		n = 50
	}
	path := write(t, "x.parquet", nil)
	for k, seed := range seeds {
		f := openFile(t, write(t, "whole.parquet", seed))
		for _, name := range f.Names() {
			array(t, f, name)
		}
		for i := range n {
			data := mutate(r, seed)
			fatal.If(t, os.WriteFile(path, data, 0o666))
			begun := time.Now()
			readAll(t, path)
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("file %d, change %d: %v for %d bytes", k, i, took, len(data))
			}
		}
	}
}
