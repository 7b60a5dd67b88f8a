package embedding

import (
	"fmt"
	"hash"
	"math"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Known are clean features in files, by the digests of the images.
type Known struct {
	rows   rows
	by     maker
	forget func()
}

// OpenKnown opens files of float32 features that an extractor of the network that from names would
// compute again to the same bytes: by the same weights, size, decoding and engine. Other files are
// passed over.
func OpenKnown(paths []string, x *model.Extractor, from datasets.Origin) (*Known, error) {
	by, err := makerOf(x, Options{Views: 1, Origin: from})
	if err != nil {
		return nil, err
	}
	k := &Known{rows: rows{}, by: by}
	k.forget = k.rows.addFiles(paths, by)
	return k, nil
}

// Len returns the number of images.
func (k *Known) Len() int { return len(k.rows) }

// Read reads the features of an image, given the hash of [datasets.ContentHash] over it. They are nil if
// they are not known, or cannot be read. It may be called from several goroutines.
func (k *Known) Read(sum hash.Hash) []float32 {
	p, ok := k.rows[k.by.key("", fmt.Sprintf("%x", sum.Sum(nil)))]
	if !ok {
		return nil
	}
	raw, x := make([]byte, k.by.rowBytes()), make([]float32, k.by.Dim)
	if regular.ReadAt(p.file, raw, p.at) != nil {
		return nil
	}
	if safetensors.Floats(x, raw); model.NotFinite(x, len(x)) >= 0 {
		return nil
	}
	return x
}

// Close closes the files.
func (k *Known) Close() { k.forget() }

// SayReused says for how many of the images features are reused.
func SayReused(n, of int) string {
	return fmt.Sprintf("features of %s of %s images are reused", humanize.Comma(int64(n)), humanize.Comma(int64(of)))
}

// addFiles adds the rows of files of features by the same maker, until they are forgotten.
func (r rows) addFiles(paths []string, by maker) (forget func()) {
	var files []*os.File
	for _, path := range paths {
		if f, err := regular.Open(path, math.MaxInt64); err == nil {
			files = append(files, f)
			r.add(f, by)
		}
	}
	return func() {
		for _, f := range files {
			f.Close()
		}
	}
}
