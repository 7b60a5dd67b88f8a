package visit

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// seen caches the network's outputs by digests of files, in a journal in the site's folder. An
// item is a digest, and the features and logits as float32.
type seen struct {
	*shard.Journal
	path       string
	dim, width int
	rows       map[string][]float32 // features and logits by digest
}

const digestLength = 64 // of a SHA-256 in hexadecimal

// openSeen opens the journal in a folder, where outputs of other weights are discarded; to read it
// alone, others may be writing it.
func openSeen(dir, model string, dim, width int, write bool) (*seen, error) {
	s := &seen{path: filepath.Join(dir, site.SeenFile), dim: dim, width: width, rows: map[string][]float32{}}
	of, err := json.Marshal(struct {
		Model    string `json:"model"`
		Features int    `json:"features"`
		Classes  int    `json:"classes"`
	}{model, dim, width})
	if err != nil {
		return nil, err
	}
	r, each := shard.Record{Of: of}, func(item []byte, at int64) error {
		if len(item) != digestLength+4*(dim+width) {
			return fmt.Errorf("byte %d: outputs in %d bytes, want %d", at, len(item), digestLength+4*(dim+width))
		}
		row := make([]float32, dim+width)
		safetensors.Floats(row, item[digestLength:])
		s.rows[string(item[:digestLength])] = row
		return nil
	}
	if !write {
		return s, shard.Peek(s.path, r, each)
	}
	s.Journal, err = shard.OpenAnew(s.path, r, each)
	return s, err
}

// look sees images of a data set that have these digests, as far as they were not seen, and
// returns why some cannot be read.
func (s *seen) look(ctx context.Context, p *predict.Predictor, d *datasets.Dataset, root string, list []int, digests []string, progress func(done, total int)) (failed map[int]error, err error) {
	var todo []int
	var paths []string
	for _, i := range list {
		if _, ok := s.rows[digests[i]]; !ok {
			todo, paths = append(todo, i), append(paths, filepath.Join(root, filepath.FromSlash(d.Examples[i].ID)))
		}
	}
	failed = map[int]error{}
	return failed, p.Look(ctx, paths, func(k int, features, logits []float32, wrong error) error {
		if progress != nil {
			progress(k+1, len(paths))
		}
		if wrong != nil {
			failed[todo[k]] = wrong
			return nil
		}
		row := append(append(make([]float32, 0, s.dim+s.width), features...), logits...)
		s.rows[digests[todo[k]]] = row
		_, err := s.Append(safetensors.AppendFloats([]byte(digests[todo[k]]), row))
		return err
	})
}

// part returns the predictions of some images.
func (s *seen) part(ids, digests []string) (part site.Part, err error) {
	part.Features = head.Matrix{Rows: len(ids), Cols: s.dim, Stride: s.dim}
	part.Logits = head.Matrix{Rows: len(ids), Cols: s.width, Stride: s.width}
	part.IDs = ids
	for k, digest := range digests {
		row, ok := s.rows[digest]
		if !ok {
			return part, fmt.Errorf("%s: nothing was computed of %s", s.path, ids[k])
		}
		part.Features.Data, part.Logits.Data = append(part.Features.Data, row[:s.dim]...), append(part.Logits.Data, row[s.dim:]...)
	}
	return part, nil
}
