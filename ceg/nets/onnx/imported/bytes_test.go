package imported

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/datasets"
)

// raw is the preset Raw.
func raw() datasets.Reading {
	return Presets[slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == Raw })].Reading
}

// ofBytes writes a network of bytes with its preprocessing inside: it divides by 255 and averages.
func ofBytes(t *testing.T, more ...*node) string {
	t.Helper()
	to := attr{name: "to", kind: intAttr, i: float32Type}
	c := net(17, []int64{-1, -1, -1, 3}, append(more,
		do("Transpose", "turned", []string{"pixels"}, permuted(0, 3, 1, 2)...),
		do("Cast", "numbers", []string{"turned"}, to),
		do("Constant", "most", nil, attr{name: "value", kind: tensorAttr, t: floats([]float32{255})}),
		do("Div", "scaled", []string{"numbers", "most"}),
		do("GlobalAveragePool", "y", []string{"scaled"}))...)
	c.inputs[0].kind = uint8Type
	path := filepath.Join(t.TempDir(), "bytes.onnx")
	if err := os.WriteFile(path, c.encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A network of bytes gets the pixels as they are.
func TestBytes(t *testing.T) { testBytes(t, onGo(t)) }

func TestRuntimeBytes(t *testing.T) { testBytes(t, onRuntime(t)) }

func testBytes(t *testing.T, open opener) {
	n, err := Open(ofBytes(t), "", "")
	if err != nil || !n.Bytes() {
		t.Fatal(n, err)
	}
	for k, v := range featuresOf(t, open, n, raw()) {
		want := make([]float64, 3)
		for i, b := range image(k) {
			want[i%3] += float64(b) / 255 / 32 / 32
		}
		near(t, v, want)
	}
}

// Strings matter only for an output that needs them.
func TestStrings(t *testing.T) {
	t.Parallel()
	const strings8 = 8
	var text message
	text.text(6, "cat")
	names := attr{name: "value", kind: tensorAttr, t: &tensor{name: "names", kind: strings8, dims: []int64{1}, rest: text}}
	c := net(17, []int64{-1, 3, -1, -1}, do("GlobalAveragePool", "y", []string{"pixels"}), do("Constant", "names", nil, names), do("Identity", "labels", []string{"names"}))
	c.outputs = append(c.outputs, value{name: "labels", kind: strings8})
	path := filepath.Join(t.TempDir(), "n.onnx")
	if err := os.WriteFile(path, c.encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	n, err := Open(path, "y", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(featuresOf(t, onGo(t), n, plain)) == 0 {
		t.Error("no features")
	}
	if _, err := Open(path, "labels", ""); err == nil || !strings.Contains(err.Error(), `weights "names" are of type 8`) {
		t.Errorf("error %v", err)
	}
}
