package objectivetest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/sbinet/npyio/npz"

	"github.com/ledg-go/ledg/ceg/learner"
)

// arrays are those of a fixture.
type arrays struct{ z *npz.Reader }

func (a arrays) has(name string) bool { return slices.Contains(a.z.Keys(), name+".npy") }

func (a arrays) shape(name string) []int { return a.z.Header(name + ".npy").Descr.Shape }

func (a arrays) floats(t *testing.T, name string) []float32 {
	t.Helper()
	return values[float32](t, a, name)
}

func values[T any](t *testing.T, a arrays, name string) (v []T) {
	t.Helper()
	if err := a.z.Read(name+".npy", &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// tensor reads an array as steps want it: images with their channels last, integers
// of 32 bits, bytes that are not images as float32.
func (a arrays) tensor(t *testing.T, name string) *tensors.Tensor {
	t.Helper()
	shape := a.shape(name)
	switch kind := a.z.Header(name + ".npy").Descr.Type; kind {
	case "<f4":
		v, shape := channelsLast(a.floats(t, name), shape)
		return tensors.FromFlatDataAndDimensions(v, shape...)
	case "|u1":
		if len(shape) != 4 { // yes or no, not pixels
			return tensors.FromFlatDataAndDimensions(converted(values[uint8](t, a, name)), shape...)
		}
		v, shape := channelsLast(values[uint8](t, a, name), shape)
		return tensors.FromFlatDataAndDimensions(v, shape...)
	case "<i8":
		var v []int32
		for _, x := range values[int64](t, a, name) {
			v = append(v, int32(x))
		}
		return tensors.FromFlatDataAndDimensions(v, shape...)
	default:
		t.Fatalf("%s has type %s", name, kind)
		return nil
	}
}

// likeTensor reads an array as the numbers of its tensor.
func (a arrays) likeTensor(t *testing.T, name string) []float32 {
	t.Helper()
	return floats(a.tensor(t, name))
}

// channelsLast turns images [n, 3, h, w], and maps, into [n, h, w, 3].
func channelsLast[T any](v []T, shape []int) ([]T, []int) {
	if len(shape) != 4 {
		return v, shape
	}
	n, c, hw := shape[0], shape[1], shape[2]*shape[3]
	out := make([]T, len(v))
	for i := range n {
		for k := range c {
			for p := range hw {
				out[(i*hw+p)*c+k] = v[(i*c+k)*hw+p]
			}
		}
	}
	return out, []int{n, shape[2], shape[3], c}
}

// floats returns the numbers of a tensor.
func floats(x *tensors.Tensor) []float32 {
	switch x.DType() {
	case dtypes.Float32:
		return tensors.MustCopyFlatData[float32](x)
	case dtypes.Uint8:
		return converted(tensors.MustCopyFlatData[uint8](x))
	default:
		return converted(tensors.MustCopyFlatData[int32](x))
	}
}

func converted[T uint8 | int32](v []T) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// passes compares what a view gave with the array of that name, or with those of
// its parts, NAME_0, NAME_1 and so on, one after the other. Views that the fixture
// does not know are left alone.
func (a arrays) passes(t *testing.T, name string, got *tensors.Tensor, tolerance float64) {
	t.Helper()
	if a.has(name) {
		near(t, name, floats(got), a.likeTensor(t, name), tolerance, 0)
		return
	}
	var want []float32
	for k := 0; a.has(fmt.Sprint(name, "_", k)); k++ {
		want = append(want, a.likeTensor(t, fmt.Sprint(name, "_", k))...)
	}
	if len(want) > 0 {
		near(t, name, floats(got), want, tolerance, 0)
	}
}

// near fails unless every value is within abs + rel*|want| of its golden one.
func near(t *testing.T, name string, got, want []float32, abs, rel float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d values, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= abs+rel*math.Abs(float64(want[i]))) {
			t.Errorf("%s[%d] = %v, want %v", name, i, got[i], want[i])
			return
		}
	}
}

// start gives the learner the fixture's weights.
func (f fixture) start(t *testing.T, l *learner.Learner, c Case) {
	t.Helper()
	n := f.Nets[c.Net]
	start := map[string][]float32{}
	for _, w := range n.Weights {
		start[w.Name] = Weights(w.Name, w.Shape, n.WeightSeed, w.Gain)
	}
	for prefix, b := range f.Blend {
		for _, w := range n.Weights {
			student, ok := strings.CutPrefix(w.Name, prefix)
			if !ok {
				continue
			}
			own, from := start[w.Name], start[student]
			mixed := make([]float32, len(own))
			for i := range own {
				mixed[i] = float32((1-b.Own)*float64(from[i]) + b.Own*float64(own[i]))
			}
			start[w.Name] = mixed
		}
	}
	for _, w := range n.Weights {
		if got := crc(start[w.Name]); got != w.CRC32 {
			t.Fatalf("starting values of %s have the CRC-32 %d, want %d (first %v, want %v)", w.Name, got, w.CRC32, start[w.Name][0], w.First4[0])
		}
	}
	state, err := l.State()
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for i, p := range l.Params() {
		if v, ok := start[p.Name]; ok {
			state.Weights[i] = v
			known++
		} else if c.Others != nil {
			state.Weights[i] = c.Others(p.Name, p.Shape)
		}
	}
	if known != len(n.Weights) {
		t.Fatalf("the learner has %d of the fixture's %d parameters", known, len(n.Weights))
	}
	if err := l.SetState(state); err != nil {
		t.Fatal(err)
	}
}

// Weights returns the starting values of a parameter from its name.
func Weights(name string, shape []int, seed uint32, gain float64) []float32 {
	fmix := func(h uint32) uint32 {
		h ^= h >> 16
		h *= 0x85EBCA6B
		h ^= h >> 13
		h *= 0xC2B2AE35
		return h ^ h>>16
	}
	h := uint32(0x811C9DC5)
	for _, b := range []byte(name) {
		h = (h ^ uint32(b)) * 0x01000193
	}
	s := fmix(h + 0x9E3779B9*seed)
	n, fanIn := 1, 1
	for i, d := range shape {
		n *= d
		if i > 0 {
			fanIn *= d
		}
	}
	out := make([]float32, n)
	for i := range out {
		v := float64(2*int64(fmix(fmix(uint32(i)+1)^s)>>8)+1-(1<<24)) / (1 << 24)
		switch {
		case strings.HasSuffix(name, "running_mean"):
			v *= 0.1
		case strings.HasSuffix(name, "running_var"):
			v = 2 + 0.5*v
		case strings.HasSuffix(name, "bias"):
			v *= 0.1
		case len(shape) == 1:
			v = 1 + 0.25*v
		default:
			v *= math.Sqrt(6 / float64(fanIn))
		}
		out[i] = float32(float64(float32(v)) * gain)
	}
	return out
}

func crc(v []float32) uint32 {
	b := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(x))
	}
	return crc32.ChecksumIEEE(b)
}
