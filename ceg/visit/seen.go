package visit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// seen caches the network's outputs by digests of files, in the site's folder.
type seen struct {
	path, model string
	dim, width  int
	at          map[string]int // digest to row
	digests     []string
	rows        []float32 // features and logits of each
}

const digestLength = 64 // of a SHA-256 in hexadecimal

// openSeen reads the file in a folder; predictions of other weights are discarded.
func openSeen(dir, model string, dim, width int) (*seen, error) {
	s := &seen{path: filepath.Join(dir, site.SeenFile), model: model, dim: dim, width: width, at: map[string]int{}}
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h, err := safetensors.ParseHeader(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	digests, ok := h.Lookup("digests")
	rows, ok2 := h.Lookup("rows")
	if !ok || !ok2 || h.Metadata["model"] != model || len(rows.Shape) != 2 || rows.Shape[1] != dim+width || digests.Bytes() != int64(rows.Shape[0])*digestLength {
		return s, nil
	}
	names, err := io.ReadAll(digests.Data())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	raw, err := io.ReadAll(rows.Data())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	for i := range rows.Shape[0] {
		name := string(names[i*digestLength : (i+1)*digestLength])
		s.at[name] = i
		s.digests = append(s.digests, name)
	}
	s.rows = make([]float32, len(raw)/4)
	safetensors.Floats(s.rows, raw)
	return s, nil
}

// write writes the file.
func (s *seen) write() error {
	names := []byte(strings.Join(s.digests, ""))
	return regular.WriteFile(s.path, func(w io.Writer) error {
		return safetensors.Write(w, []safetensors.Entry{
			{Name: "digests", DType: safetensors.Uint8, Shape: []int{len(names)}, Data: names},
			safetensors.FloatEntry("rows", []int{len(s.digests), s.dim + s.width}, s.rows),
		}, map[string]string{"model": s.model})
	})
}

// writeEvery is after how many images what was seen is on the disk.
const writeEvery = 1000

// look sees images of a data set that have these digests, as far as they were not seen, and
// returns why some cannot be read.
func (s *seen) look(ctx context.Context, p *predict.Predictor, d *datasets.Dataset, root string, list []int, digests []string, progress func(done, total int)) (failed map[int]error, err error) {
	var todo []int
	var paths []string
	for _, i := range list {
		if _, ok := s.at[digests[i]]; !ok {
			todo, paths = append(todo, i), append(paths, filepath.Join(root, filepath.FromSlash(d.Examples[i].ID)))
		}
	}
	failed = map[int]error{}
	unwritten := 0
	err = p.Look(ctx, paths, func(k int, features, logits []float32, wrong error) error {
		if progress != nil {
			progress(k+1, len(paths))
		}
		if wrong != nil {
			failed[todo[k]] = wrong
			return nil
		}
		s.at[digests[todo[k]]] = len(s.digests)
		s.digests = append(s.digests, digests[todo[k]])
		s.rows = append(append(s.rows, features...), logits...)
		if unwritten++; unwritten < writeEvery {
			return nil
		}
		unwritten = 0
		return s.write()
	})
	if unwritten > 0 {
		err = errors.Join(err, s.write())
	}
	return failed, err
}

// part returns the predictions of some images.
func (s *seen) part(ids, digests []string) (part site.Part, err error) {
	part.Features = head.Matrix{Rows: len(ids), Cols: s.dim, Stride: s.dim}
	part.Logits = head.Matrix{Rows: len(ids), Cols: s.width, Stride: s.width}
	part.IDs = ids
	for k, digest := range digests {
		i, ok := s.at[digest]
		if !ok {
			return part, fmt.Errorf("%s: nothing was computed of %s", s.path, ids[k])
		}
		row := s.rows[i*(s.dim+s.width) : (i+1)*(s.dim+s.width)]
		part.Features.Data, part.Logits.Data = append(part.Features.Data, row[:s.dim]...), append(part.Logits.Data, row[s.dim:]...)
	}
	return part, nil
}
