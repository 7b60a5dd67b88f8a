package site

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/nets/weights"
)

// WriteHead writes an adapted head, as float32, to the site's folder.
func (r *Record) WriteHead(dir string, h *head.Linear) error {
	narrow := func(v []float64) []float32 {
		out := make([]float32, len(v))
		for i, x := range v {
			out[i] = float32(x)
		}
		return out
	}
	c := len(h.Bias)
	_, err := weights.Save(filepath.Join(dir, AdaptedFile), weights.StateDict{
		weights.FromFloat32("fc.weight", []int{c, len(h.Weight) / c}, narrow(h.Weight)), weights.FromFloat32("fc.bias", []int{c}, narrow(h.Bias)),
	}, map[string]string{"model": r.Model, "classes": strings.Join(r.Classes, "\n")})
	return err
}

// ReadHead reads the adapted head of a site, nil if there is none.
func ReadHead(dir string) (*head.Linear, error) {
	path := filepath.Join(dir, AdaptedFile)
	f, err := weights.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := new(head.Linear)
	for _, t := range f.Tensors {
		values, err := t.Float32s()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		to := &h.Weight
		if t.Name == "fc.bias" {
			to = &h.Bias
		}
		for _, v := range values {
			*to = append(*to, float64(v))
		}
	}
	if len(h.Bias) == 0 || len(h.Weight)%len(h.Bias) != 0 {
		return nil, fmt.Errorf("%s: %d weights of %d classes", path, len(h.Weight), len(h.Bias))
	}
	return h, nil
}
