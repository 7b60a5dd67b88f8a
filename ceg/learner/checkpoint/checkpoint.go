// Package checkpoint reads and writes the checkpoint of a run: its state between two epochs,
// from which it resumes.
//
// The file is a .safetensors with a tensor "weights/NAME" for every parameter and
// "velocity/NAME" (momentum) for every trained one, named as in PyTorch. Integer tensors
// "labels/..." and "reliable/..." hold the labels and the reliable set, and "pool/gone" the
// dropped samples, by position in the pool; "pool/hashes" identifies the pool. The rest of the
// state is JSON under the metadata key "ledg". For a million images this adds a few megabytes to
// the weights.
//
// The metadata key "config" holds the run's config as compact JSON, and "sha256" the digest of
// the remaining content. [Read] checks both.
package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// File is the name of the checkpoint in a run's folder.
const File = "checkpoint.safetensors"

const format = 1

// The keys of the file's metadata.
const (
	stateKey  = "ledg"
	configKey = "config"
	digestKey = "sha256"
)

// State is the state of a run between two epochs, except the weights. Random generators need no
// state: every stream is a function of the config's seed and the epoch (package seed).
type State struct {
	// Format is the format version, set by Write.
	Format int `json:"format"`
	// Epoch is the next epoch, Steps the number of training steps so far, Round the number of
	// query rounds so far.
	Epoch int `json:"epoch"`
	Steps int `json:"steps"`
	Round int `json:"round"`
	// Images is the digest of the images, datasets.Images.Digest.
	Images string `json:"images,omitempty"`
	// Pool holds the labels.
	Pool active.Snapshot `json:"pool"`
	// Reliable and ReliableLabels are the reliable set: positions in the pool and pseudo-labels.
	Reliable       []int32 `json:"-"`
	ReliableLabels []int32 `json:"-"`
	// Unqueried and Withdrawn count labels that were added without a query and labels that were
	// withdrawn. Changed is the net change since the last record.
	Unqueried int `json:"unasked,omitempty"`
	Withdrawn int `json:"withdrawn,omitempty"`
	Changed   int `json:"changed,omitempty"`
	// Pending is the record of a trained epoch that waits for labels; nil between epochs.
	Pending *result.Record `json:"pending,omitempty"`
	// Engines lists the engines so far.
	Engines []result.Engine `json:"engines,omitempty"`
	// Written is the length of the run's files at this state; later content is discarded.
	Written result.Lengths `json:"written"`
}

// column is a list of numbers of the state that is a tensor of the file.
type column struct {
	name  string
	dtype safetensors.DType
	// values is a *[]int32 or, of Uint32, a *[]uint32.
	values any
	// optional ones are left out where they are empty.
	optional bool
}

func (s *State) columns() []column {
	p := &s.Pool
	return []column{
		{name: "pool/hashes", dtype: safetensors.Uint32, values: &p.Hashes},
		{name: "labels/sample", dtype: safetensors.Int32, values: &p.Sample},
		{name: "labels/class", dtype: safetensors.Int32, values: &p.Class},
		{name: "labels/round", dtype: safetensors.Int32, values: &p.Round},
		{name: "labels/oracle", dtype: safetensors.Int32, values: &p.Oracle},
		{name: "pool/gone", dtype: safetensors.Int32, values: &p.Gone, optional: true},
		{name: "reliable/sample", dtype: safetensors.Int32, values: &s.Reliable},
		{name: "reliable/label", dtype: safetensors.Int32, values: &s.ReliableLabels},
	}
}

// Exists reports whether a run's folder has a checkpoint.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, File))
	return err == nil
}

// Write writes the checkpoint of a run with config c, its parameters' values and the optimizer
// state.
func (s State) Write(w io.Writer, c config.Config, params []nets.Param, l learner.State) error {
	var entries []safetensors.Entry
	add := func(name string, dtype safetensors.DType, shape []int, v any) {
		data, err := binary.Append(nil, binary.LittleEndian, v)
		if err != nil { // not a slice of numbers
			panic(err)
		}
		entries = append(entries, safetensors.Entry{Name: name, DType: dtype, Shape: shape, Data: data})
	}
	trained := 0
	for i, p := range params {
		add("weights/"+p.Name, safetensors.Float32, p.Shape, l.Weights[i])
		if p.Trained() {
			add("velocity/"+p.Name, safetensors.Float32, p.Shape, l.Velocity[trained])
			trained++
		}
	}
	for _, col := range s.columns() {
		v := reflect.ValueOf(col.values).Elem()
		if col.optional && v.Len() == 0 {
			continue
		}
		add(col.name, col.dtype, []int{v.Len()}, v.Interface())
	}
	s.Format = format
	meta := map[string]string{}
	for key, v := range map[string]any{stateKey: s, configKey: c} {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		meta[key] = string(data)
	}
	var err error
	if meta[digestKey], err = digest(meta, entries); err != nil {
		return err
	}
	return safetensors.Write(w, entries, meta)
}

// Read reads the checkpoint in a folder, with the values of the given parameters; ok is false if
// there is none. A damaged file is an error, and so is a checkpoint of a config other than c,
// whose first difference the error names.
func Read(dir string, c config.Config, params []nets.Param) (s State, l learner.State, ok bool, err error) {
	path := filepath.Join(dir, File)
	f, err := regular.Open(path, math.MaxInt64)
	if errors.Is(err, fs.ErrNotExist) {
		return s, l, false, nil
	}
	if err != nil {
		return s, l, false, err
	}
	defer f.Close()
	s, l, err = decode(f, c, params)
	if err != nil {
		return State{}, learner.State{}, false, fmt.Errorf("%s: %w", path, err)
	}
	return s, l, true, nil
}

func decode(f *os.File, c config.Config, params []nets.Param) (s State, l learner.State, err error) {
	info, err := f.Stat()
	if err != nil {
		return s, l, err
	}
	h, err := safetensors.ParseHeader(f, info.Size())
	if err != nil {
		return s, l, err
	}
	if err := verify(h, c); err != nil {
		return s, l, err
	}
	if err := s.decode(h); err != nil {
		return s, l, err
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
		return v, readTensor(t, v)
	}
	for _, p := range params {
		v, err := read("weights/"+p.Name, p.Size())
		if err != nil {
			return s, l, err
		}
		l.Weights = append(l.Weights, v)
		if p.Trained() {
			v, err := read("velocity/"+p.Name, p.Size())
			if err != nil {
				return s, l, err
			}
			l.Velocity = append(l.Velocity, v)
		}
	}
	return s, l, nil
}

// decode reads all but the weights.
func (s *State) decode(h *safetensors.Header) error {
	if err := result.Decode([]byte(h.Metadata[stateKey]), s); err != nil {
		return fmt.Errorf("metadata %q: %w", stateKey, err)
	}
	for _, col := range s.columns() {
		t, ok := h.Lookup(col.name)
		if !ok && col.optional {
			continue
		}
		if !ok {
			return fmt.Errorf("no tensor %q", col.name)
		}
		if t.DType != col.dtype || len(t.Shape) != 1 {
			return fmt.Errorf("tensor %q is %s %v, want a list of %s", col.name, t.DType, t.Shape, col.dtype)
		}
		v := reflect.ValueOf(col.values).Elem()
		v.Set(reflect.MakeSlice(v.Type(), t.Len(), t.Len()))
		if err := readTensor(t, v.Interface()); err != nil {
			return err
		}
	}
	if len(s.Reliable) != len(s.ReliableLabels) {
		return fmt.Errorf("%d reliable images with %d labels", len(s.Reliable), len(s.ReliableLabels))
	}
	return nil
}

// readTensor reads all elements of a tensor into a slice of as many.
func readTensor(t safetensors.Tensor, dst any) error {
	if err := binary.Read(t.Data(), binary.LittleEndian, dst); err != nil && t.Len() > 0 {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return nil
}
