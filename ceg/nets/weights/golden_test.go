package weights

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/half"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// goldenTensor is a tensor in testdata/weights.json.
type goldenTensor struct {
	Shape  []int             `json:"shape"`
	DType  string            `json:"dtype"`
	Bits   []string          `json:"bits_hex"`
	Values []json.RawMessage `json:"values"`
}

// golden reads one group of tensors of testdata/weights.json.
func golden(t testing.TB, group string) map[string]goldenTensor {
	t.Helper()
	raw := fatal.Get(os.ReadFile("testdata/weights.json"))(t)
	var all map[string]json.RawMessage
	fatal.If(t, json.Unmarshal(raw, &all))
	var g map[string]goldenTensor
	fatal.If(t, json.Unmarshal(all[group], &g))
	return g
}

// checkGolden compares every element of every tensor, bit by bit.
func checkGolden(t *testing.T, sd StateDict, want map[string]goldenTensor) {
	t.Helper()
	if len(sd) != len(want) {
		t.Errorf("got tensors %v, want %d of them", sd.Names(), len(want))
	}
	for name, w := range want {
		got, ok := sd.Lookup(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		dtype := map[string]safetensors.DType{
			"float32": safetensors.Float32, "float16": safetensors.Float16, "int64": safetensors.Int64,
		}[w.DType]
		if got.DType != dtype || !slices.Equal(got.Shape, w.Shape) {
			t.Errorf("%s: got %s %v, want %s %v", name, got.DType, got.Shape, w.DType, w.Shape)
			continue
		}
		if err := got.check(); err != nil {
			t.Error(err)
			continue
		}
		for i := range got.Len() {
			var have, wish string
			switch dtype {
			case safetensors.Float32:
				have, wish = fmt.Sprintf("%08x", binary.LittleEndian.Uint32(got.Data[4*i:])), w.Bits[i]
			case safetensors.Float16:
				have, wish = fmt.Sprintf("%04x", binary.LittleEndian.Uint16(got.Data[2*i:])), w.Bits[i]
			case safetensors.Int64:
				have, wish = fmt.Sprint(int64(binary.LittleEndian.Uint64(got.Data[8*i:]))), string(w.Values[i])
			}
			if have != wish {
				t.Errorf("%s[%d]: got %s, want %s", name, i, have, wish)
			}
		}
		if dtype == safetensors.Int64 {
			continue
		}
		values := fatal.Get(got.Float32s())(t)
		for i, v := range values {
			var wish float64
			fatal.If(t, json.Unmarshal(w.Values[i], &wish))
			if float64(v) != wish || math.Signbit(float64(v)) != math.Signbit(wish) {
				t.Errorf("%s[%d]: got %v, want %v", name, i, v, wish)
			}
		}
	}
}

func TestOpenGolden(t *testing.T) {
	for _, c := range []struct {
		file, group string
		format      Format
		digest      string // sha256sum
		notes       []string
	}{
		{"tiny.pth", "tiny", TorchZip, "86f4b8992c96fdada7e113a5114d288d1176e91c86dd87aaf773486141edc7f8", nil},
		{"tiny_legacy.pth", "tiny", TorchPickles, "99f2895a4cf1f2171f41d575ff8a7790ed7418699cebf262b6437030e28294ff", nil},
		{"tiny.safetensors", "tiny", Safetensors, "e12b2519dc78c5c32c7e461bedcc476ee88ad780532eaf2f92f1d0f46ef14c1e", nil},
		{"tiny_views.pth", "tiny_views.state_dict", TorchZip, "f63f0d5cbbb849253019e7aed8a5c94695d607d98ec0b52327a679e7cde802cf",
			[]string{`state dict taken from the checkpoint's entry "state_dict"`}},
	} {
		t.Run(c.file, func(t *testing.T) {
			f := fatal.Get(Open(filepath.Join("testdata", c.file)))(t)
			if f.Name != c.file || f.Format != c.format || f.Digest != c.digest || !slices.Equal(f.Notes, c.notes) {
				t.Errorf("got %q, %q, %s, notes %q", f.Name, f.Format, f.Digest, f.Notes)
			}
			checkGolden(t, f.Tensors, golden(t, c.group))
		})
	}
}

// TestMisnamed: the content tells the format, whatever the name.
func TestMisnamed(t *testing.T) {
	for file, format := range map[string]Format{"tiny.pth": TorchZip, "tiny.safetensors": Safetensors} {
		b := fatal.Get(os.ReadFile(filepath.Join("testdata", file)))(t)
		for _, name := range []string{"a.safetensors", "a.pth", "a"} {
			if f, err := readBytes(b, name); err != nil || f.Format != format {
				t.Errorf("%s as %s: got %+v, %v", file, name, f, err)
			}
		}
	}
}

// TestOpenOrder: tensors come in the order of the dict, not of the storages.
func TestOpenOrder(t *testing.T) {
	want := []string{"features.conv.weight", "features.scale", "steps"}
	for _, file := range []string{"tiny.pth", "tiny_legacy.pth", "tiny.safetensors"} {
		f := fatal.Get(Open(filepath.Join("testdata", file)))(t)
		if got := f.Tensors.Names(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", file, got, want)
		}
	}
}

func TestFloat16(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x8000: math.Copysign(0, -1), 0x0001: 0x1p-24, 0x03ff: 0x3ffp-24, 0x0400: 0x1p-14,
		0x3c00: 1, 0xbc00: -1, 0x3555: 0x555p-12, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		got := float64(half.Float32(bits))
		if got != want || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("%04x: got %v, want %v", bits, got, want)
		}
	}
	if v := half.Float32(0x7e01); v == v {
		t.Errorf("7e01: got %v, want NaN", v)
	}
}

func TestFloat32s(t *testing.T) {
	le := binary.LittleEndian
	bf16 := Tensor{Name: "b", DType: safetensors.BFloat16, Shape: []int{2}, Data: []byte{0xc0, 0x3f, 0x80, 0xff}}
	if v, err := bf16.Float32s(); err != nil || v[0] != 1.5 || !math.IsInf(float64(v[1]), -1) {
		t.Errorf("bfloat16: got %v, %v", v, err)
	}
	f64 := Tensor{Name: "d", DType: safetensors.Float64, Shape: []int{3}}
	for _, x := range []float64{0.1, 1e300, 1 + 0x1p-24} { // the last is half-way: rounds to even
		f64.Data = le.AppendUint64(f64.Data, math.Float64bits(x))
	}
	if v, err := f64.Float32s(); err != nil || v[0] != 0.1 || !math.IsInf(float64(v[1]), 1) || v[2] != 1 {
		t.Errorf("float64: got %v, %v", v, err)
	}
	if _, err := (Tensor{Name: "i", DType: safetensors.Int64, Shape: []int{1}, Data: make([]byte, 8)}).Float32s(); err == nil {
		t.Error("int64 accepted")
	}
	if _, err := (Tensor{Name: "s", DType: safetensors.Float32, Shape: []int{2}, Data: make([]byte, 7)}).Float32s(); err == nil {
		t.Error("short data accepted")
	}
}

func TestCheckFinite(t *testing.T) {
	if err := CheckFinite("w", []float32{0, -1, math.MaxFloat32, math.SmallestNonzeroFloat32}); err != nil {
		t.Error(err)
	}
	nan := float32(math.NaN())
	if err := CheckFinite("w", []float32{0, nan, nan}); err == nil || err.Error() != `tensor "w": element 1 is NaN, want a finite number` {
		t.Errorf("got %v", err)
	}
	if err := CheckFinite("w", []float32{float32(math.Inf(-1))}); err == nil {
		t.Error("-Inf accepted")
	}
}
