package ceg

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/safetensors"
)

// CheckpointFile is the name of the checkpoint in a run's directory. It is a
// .safetensors file with a tensor "weights/NAME" for every parameter and
// "velocity/NAME" for every trained one, named as in PyTorch. Integer tensors
// "labels/..." and "reliable/..." hold the labels and the reliable set, and "pool/gone"
// what has left the pool, by the places of the images in it; "pool/hashes" tells what pool that was, and the
// rest of the state is JSON under the metadata key "ledg". So a checkpoint of a
// million images is a few megabytes more than its weights.
const CheckpointFile = "checkpoint.safetensors"

// checkpointFormat is the form of the checkpoint; see oldCheckpoint for form 1.
const checkpointFormat = 2

// checkpoint is the state of a run between two epochs, the weights apart. There
// is no state of random generators in it: every stream is a function of the
// config's seed and the epoch (package seed).
type checkpoint struct {
	// Format is checkpointFormat.
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
	// Reliable and ReliableLabels are the reliable set: places in the pool and
	// pseudo-labels.
	Reliable       []int32 `json:"-"`
	ReliableLabels []int32 `json:"-"`
	// Unasked and Withdrawn count labels that were given without being asked for, and
	// that were taken back, and Changed is what they come to since the last record.
	Unasked   int `json:"unasked,omitempty"`
	Withdrawn int `json:"withdrawn,omitempty"`
	Changed   int `json:"changed,omitempty"`
	// Pending is the record of the epoch that has been trained and waits for answers;
	// nil between epochs.
	Pending *result.Record `json:"pending,omitempty"`
	// Engines is that of the result, so far.
	Engines []result.Engine `json:"engines,omitempty"`
	// Written tells how much of the run's files belongs to this state.
	Written result.Lengths `json:"written"`
}

// metadataKey is where the JSON part is in the file.
const metadataKey = "ledg"

// column is a list of numbers of the state that is a tensor of the file.
type column struct {
	name  string
	dtype safetensors.DType
	// values is a *[]int32 or, of Uint32, a *[]uint32.
	values any
	// optional ones are left out where they are empty.
	optional bool
}

func (c *checkpoint) columns() []column {
	p := &c.Pool
	return []column{
		{name: "pool/hashes", dtype: safetensors.Uint32, values: &p.Hashes},
		{name: "labels/sample", dtype: safetensors.Int32, values: &p.Sample},
		{name: "labels/class", dtype: safetensors.Int32, values: &p.Class},
		{name: "labels/round", dtype: safetensors.Int32, values: &p.Round},
		{name: "labels/oracle", dtype: safetensors.Int32, values: &p.Oracle},
		{name: "pool/gone", dtype: safetensors.Int32, values: &p.Gone, optional: true},
		{name: "reliable/sample", dtype: safetensors.Int32, values: &c.Reliable},
		{name: "reliable/label", dtype: safetensors.Int32, values: &c.ReliableLabels},
	}
}

// write writes the checkpoint with the learner's weights and optimizer state.
func (c checkpoint) write(w io.Writer, params []nets.Param, s learner.State) error {
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
		add("weights/"+p.Name, safetensors.Float32, p.Shape, s.Weights[i])
		if p.Trained() {
			add("velocity/"+p.Name, safetensors.Float32, p.Shape, s.Velocity[trained])
			trained++
		}
	}
	for _, col := range c.columns() {
		v := reflect.ValueOf(col.values).Elem()
		if col.optional && v.Len() == 0 {
			continue
		}
		add(col.name, col.dtype, []int{v.Len()}, v.Interface())
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
	if err := c.decode(h); err != nil {
		return c, s, err
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
			return c, s, err
		}
		s.Weights = append(s.Weights, v)
		if p.Trained() {
			v, err := read("velocity/"+p.Name, p.Size())
			if err != nil {
				return c, s, err
			}
			s.Velocity = append(s.Velocity, v)
		}
	}
	return c, s, nil
}

// decode reads all but the weights.
func (c *checkpoint) decode(h *safetensors.Header) error {
	meta := []byte(h.Metadata[metadataKey])
	var form struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(meta, &form); err != nil {
		return fmt.Errorf("metadata %q: %w", metadataKey, err)
	}
	switch form.Format {
	case checkpointFormat:
	case 1:
		return c.decodeOld(meta)
	default:
		return fmt.Errorf("checkpoint format %d, want 1 or %d: another version of ledg wrote it", form.Format, checkpointFormat)
	}
	if err := result.Decode(meta, c); err != nil {
		return fmt.Errorf("metadata %q: %w", metadataKey, err)
	}
	for _, col := range c.columns() {
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
	if len(c.Reliable) != len(c.ReliableLabels) {
		return fmt.Errorf("%d reliable images with %d labels", len(c.Reliable), len(c.ReliableLabels))
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
