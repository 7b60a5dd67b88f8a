package ceg

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/safetensors"
)

// CheckpointFile is the name of the checkpoint in a run's directory. It is a
// .safetensors file with a tensor "weights/NAME" for every parameter and
// "velocity/NAME" for every trained one, named as in PyTorch, and the rest of the
// state as JSON under the metadata key "ledg".
const CheckpointFile = "checkpoint.safetensors"

// checkpoint is the state of a run between two epochs, the weights apart. There
// is no state of random generators in it: every stream is a function of the
// config's seed and the epoch (package seed).
type checkpoint struct {
	// Format is result.Format.
	Format int `json:"format"`
	// Epoch is the next epoch, Steps the number of iterations so far, Round the
	// number of query rounds so far.
	Epoch int `json:"epoch"`
	Steps int `json:"steps"`
	Round int `json:"round"`
	// Images is the digest of the images, datasets.Images.Digest.
	Images string `json:"images,omitempty"`
	// Pool is the ledger of the labels.
	Pool active.Snapshot `json:"pool"`
	// Reliable and ReliableLabels are the reliable set: IDs and pseudo-labels.
	Reliable       []string `json:"reliable"`
	ReliableLabels []int    `json:"reliable_labels"`
	// Engines is that of the result, so far.
	Engines []result.Engine `json:"engines,omitempty"`
	// Written tells how much of the run's files belongs to this state.
	Written result.Lengths `json:"written"`
}

// metadataKey is where the JSON part is in the file.
const metadataKey = "ledg"

// write writes the checkpoint with the learner's weights and optimizer state.
func (c checkpoint) write(w io.Writer, params []nets.Param, s learner.State) error {
	var entries []safetensors.Entry
	add := func(prefix string, p nets.Param, v []float32) {
		data := make([]byte, 4*len(v))
		for i, x := range v {
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(x))
		}
		entries = append(entries, safetensors.Entry{Name: prefix + p.Name, DType: safetensors.Float32, Shape: p.Shape, Data: data})
	}
	trained := 0
	for i, p := range params {
		add("weights/", p, s.Weights[i])
		if p.Kind.Trained() {
			add("velocity/", p, s.Velocity[trained])
			trained++
		}
	}
	meta, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return safetensors.Write(w, entries, map[string]string{metadataKey: string(meta)})
}

// readCheckpoint reads a checkpoint file; ok is false when there is none.
func readCheckpoint(path string, params []nets.Param) (c checkpoint, s learner.State, ok bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, learner.State{}, false, nil
	}
	if err != nil {
		return checkpoint{}, learner.State{}, false, err
	}
	defer f.Close()
	c, s, err = decodeCheckpoint(f, params)
	if err != nil {
		return checkpoint{}, learner.State{}, false, fmt.Errorf("%s: %w", path, err)
	}
	return c, s, true, nil
}

func decodeCheckpoint(f *os.File, params []nets.Param) (c checkpoint, s learner.State, err error) {
	info, err := f.Stat()
	if err != nil {
		return c, s, err
	}
	h, err := safetensors.ParseHeader(f, info.Size())
	if err != nil {
		return c, s, err
	}
	if err := result.Decode([]byte(h.Metadata[metadataKey]), &c); err != nil {
		return c, s, fmt.Errorf("metadata %q: %w", metadataKey, err)
	}
	if c.Format != result.Format {
		return c, s, fmt.Errorf("checkpoint format %d, want %d", c.Format, result.Format)
	}
	read := func(name string, size int) ([]float32, error) {
		t, ok := h.Lookup(name)
		if !ok {
			return nil, fmt.Errorf("no tensor %q", name)
		}
		if t.DType != safetensors.Float32 || t.Bytes() != int64(4*size) {
			return nil, fmt.Errorf("tensor %q is %s %v, want %d values of %s", name, t.DType, t.Shape, size, safetensors.Float32)
		}
		v := make([]float32, size)
		if err := binary.Read(t.Data(), binary.LittleEndian, v); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		return v, nil
	}
	for _, p := range params {
		v, err := read("weights/"+p.Name, p.Size())
		if err != nil {
			return c, s, err
		}
		s.Weights = append(s.Weights, v)
		if p.Kind.Trained() {
			v, err := read("velocity/"+p.Name, p.Size())
			if err != nil {
				return c, s, err
			}
			s.Velocity = append(s.Velocity, v)
		}
	}
	return c, s, nil
}
