package imported

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/nets"
)

// cubics are ONNX Runtime's values, by testdata/cubic.py.
func cubics(t *testing.T) (c struct {
	Cases []struct {
		Place         string
		Exclude       int
		A             float64
		Scales        []float64
		Height, Width int
		Values        []float64
	}
	Features [2][]float64
}) {
	t.Helper()
	b, err := os.ReadFile("testdata/cubic.json")
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The matrices of a cubic Resize give ONNX Runtime's values.
func TestCubicMatrices(t *testing.T) {
	const height, width = 5, 7
	var x [height * width]float64
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	for _, c := range cubics(t).Cases {
		t.Run(fmt.Sprint(c.Place, c.Exclude, c.A, c.Scales, c.Height, c.Width), func(t *testing.T) {
			r := resizing{{mode: "cubic", in: height, out: c.Height}, {mode: "cubic", in: width, out: c.Width}}
			for i := range r {
				r[i].place, r[i].a, r[i].exclude = c.Place, float32(c.A), c.Exclude != 0
				if r[i].scale = float32(r[i].out) / float32(r[i].in); len(c.Scales) > 0 {
					r[i].scale = float32(c.Scales[i])
				}
			}
			rows, columns := r[0].matrix(), r[1].matrix()
			got := make([]float32, c.Height*c.Width)
			for i := range got {
				for j, v := range x {
					got[i] += float32(v) * rows[j/width*c.Height+i/c.Width] * columns[j%width*c.Width+i%c.Width]
				}
			}
			near(t, got, c.Values)
		})
	}
}

// A network with cubic Resizes, of places to a size that it computes and of maps by a scale, has
// ONNX Runtime's features, as it is and in training.
func TestCubic(t *testing.T) {
	want := cubics(t).Features
	few := func(v []float32) (list []float32) {
		for i := 0; i < len(v); i += 7 {
			list = append(list, v[i])
		}
		return list
	}
	n, err := Open("testdata/cubic.onnx", "", "")
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range featuresOf(t, onGo(t), n, plain) {
		near(t, few(v), want[k])
	}
	on := backend(t)
	if _, err := n.Exec(on, 64, plain); err == nil || !strings.Contains(err.Error(), "its Resize was prepared for images of 32 pixels a side, not 64") {
		t.Errorf("of another size: error %v", err)
	}

	trainable, err := OpenTrainable("testdata/cubic.onnx", "y", "", "", 32)
	if err != nil {
		t.Fatal(err)
	}
	values, err := trainable.Values()
	if err != nil {
		t.Fatal(err)
	}
	images := tensors.FromFlatDataAndDimensions(append(image(0), image(1)...), 2, 32, 32, 3)
	for _, train := range []bool{false, true} {
		out, err := graph.CallOnce(on.Compute, func(x *graph.Node) *graph.Node {
			params := map[string]*graph.Node{}
			for _, p := range trainable.params {
				params[p.Name] = graph.Reshape(graph.Const(x.Graph(), values[p.Name]), p.Shape...)
			}
			return trainable.Build(params, []nets.Pass{{Images: nets.Normalise(x, plain.Mean, plain.Std)}}, train).Passes[0]
		}, images)
		if err != nil {
			t.Fatal(err)
		}
		v, err := tensors.CopyFlatData[float32](out)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			near(t, few(v[k*len(v)/2:(k+1)*len(v)/2]), want[k])
		}
	}
}

// Cubic ones that are computed otherwise are refused in one line.
func TestCubicRefused(t *testing.T) {
	on := backend(t)
	text := func(name, s string) attr { return attr{name: name, kind: stringAttr, s: s} }
	resize := func(scales []float32, attrs ...attr) *content {
		by := floats(scales)
		by.name = "by"
		x := one("Resize", append(attrs, text("mode", "cubic"))...)
		x.in, x.name = []string{"pixels", "", "by"}, "wide"
		g := net(18, []int64{-1, 3, -1, -1}, &node{op: "Constant", name: "by", out: []string{"by"}, attrs: []attr{{name: "value", kind: tensorAttr, t: by}}}, x)
		return g
	}
	computed := resize([]float32{1, 1, 2, 2})
	computed.nodes = append(computed.nodes[:1:1], &node{op: "Relu", name: "r", in: []string{"by"}, out: []string{"more"}}, computed.nodes[1])
	computed.nodes[2].in[2] = "more"
	for want, g := range map[string]*content{
		"a Resize of mode cubic (half_pixel_symmetric) is not supported": resize([]float32{1, 1, 2, 2}, text("coordinate_transformation_mode", "half_pixel_symmetric")),
		"a Resize of mode cubic (half_pixel) is not supported":           resize([]float32{1, 1, 2, 2}, attr{name: "antialias", kind: intAttr, i: 1}),
		"is taken along the last two of four axes alone":                 resize([]float32{1, 2, 2, 2}),
		"it has no constant scales: export the network for one":          computed,
		`node "wide" (Resize): it makes 0.032 pixels of 32`:              resize([]float32{1, 1, 0.001, 2}),
		`node "wide" (Resize): it makes 3.2e+11 pixels of 32`:            resize([]float32{1, 1, 1e10, 2}),
	} {
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, g.encode(), 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Exec(on, 32, plain); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %s", err, want)
		}
	}
}
