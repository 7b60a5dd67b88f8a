// Package scaler standardises feature vectors. A [Scaler] is fitted on a run's pool and stored
// in the run's folder; training, prediction and export use the same one.
package scaler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// Scaler normalises and standardises feature vectors with statistics of a run's pool. It also
// records the network that computed the features.
type Scaler struct {
	// Normal is applied first; then Mean [D] is subtracted, and the result is multiplied by
	// Scale.
	Normal config.Normalisation
	Mean   []float32
	Scale  float32
	// Origin describes the network that computed the features, nil if unknown.
	Origin *datasets.Origin
}

// File is the Scaler's file name in a run's folder.
const File = "standard.safetensors"

// Apply standardises a vector of D features in place.
func (s *Scaler) Apply(x []float32) {
	Normalise(s.Normal, x)
	for j, m := range s.Mean {
		x[j] = (x[j] - m) * s.Scale
	}
}

// Write writes a [File].
func (s *Scaler) Write(w io.Writer) error {
	metadata := map[string]string{"normalise": string(s.Normal)}
	if s.Origin != nil {
		b, err := json.Marshal(s.Origin)
		if err != nil {
			return err
		}
		metadata[datasets.OriginKey] = string(b)
	}
	return safetensors.Write(w, []safetensors.Entry{
		safetensors.FloatEntry("mean", []int{1, len(s.Mean)}, s.Mean),
		safetensors.FloatEntry("scale", []int{1, 1}, []float32{s.Scale}),
	}, metadata)
}

// Read reads the [File] of a run's folder; nil if there is none, as for runs on images.
func Read(dir string) (*Scaler, error) {
	path := filepath.Join(dir, File)
	f, err := arrays.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &Scaler{Normal: config.Normalisation(f.Metadata()["normalise"])}
	var values [2][]float32
	for i, name := range []string{"mean", "scale"} {
		a, err := f.Array(name)
		if err != nil {
			return nil, err
		}
		if values[i], err = arrays.ReadAll[float32](context.Background(), a); err != nil {
			return nil, err
		}
	}
	if len(values[1]) != 1 {
		return nil, fmt.Errorf("%s: scale has %d numbers, want 1", path, len(values[1]))
	}
	s.Mean, s.Scale = values[0], values[1][0]
	if text, ok := f.Metadata()[datasets.OriginKey]; ok {
		s.Origin = new(datasets.Origin)
		if err := json.Unmarshal([]byte(text), s.Origin); err != nil {
			return nil, fmt.Errorf("%s: %s in the metadata: %w", path, datasets.OriginKey, err)
		}
	}
	return s, nil
}
