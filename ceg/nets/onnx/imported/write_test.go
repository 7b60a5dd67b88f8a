package imported

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// A network that was read to be trained goes out with a head as the network that it was: its
// features equal the file's.
func TestWritten(t *testing.T) {
	back := backend(t)
	on := func(n *Network, r datasets.Reading) (*Exec, error) { return n.Exec(back, 32, r) }
	for _, c := range []struct{ file, output, pool string }{
		{"train/resnet", "", ""}, {"train/mobilenet", "", ""}, {"train/convnext", "", ""}, {"train/vit", "", ""}, {"train/small", "", ""},
		{"vit", "tokens", datasets.ClassToken}, {"vit", "tokens", datasets.MeanToken}, {"vit", "tokens", datasets.PatchTokens},
		{"outside", "pooled", ""},
	} {
		t.Run(c.file+" "+c.pool, func(t *testing.T) {
			from := "testdata/" + c.file + ".onnx"
			n := fatal.Get(OpenTrainable(from, c.output, c.pool, "", 32))(t)
			to := write(t, n)
			r := datasets.Reading{Std: [3]float64{1, 1, 1}} // the file normalises
			got := featuresOf(t, on, open(t, to, onnx.FeaturesOutput), r)
			if c.file == "train/small" { // as it was exported nothing else reads it
				return
			}
			r = given
			r.Pool = c.pool
			want := featuresOf(t, on, open(t, from, c.output), r)
			for k := range want {
				v := make([]float64, len(want[k]))
				for i := range v {
					v[i] = float64(want[k][i])
				}
				near(t, got[k], v)
			}
		})
	}
}

// write writes a network with a head of three classes.
func write(t *testing.T, n *Trainable) (path string) {
	t.Helper()
	params, features := fatal.Get2(n.Params(32))(t)
	values := fatal.Get(n.Values())(t)
	out := onnx.Network{Backbone: nets.OfGraph("test", n, nets.Pixels{}), ImageSize: 32, Name: "test", Mean: given.Mean, Std: given.Std}
	for _, p := range append(params, nets.LinearParams(nets.ClassHead, features, 3)...) {
		v, ok := values[p.Name]
		if !ok {
			v = p.Init(1)
		}
		out.Params, out.Values = append(out.Params, p), append(out.Values, v)
	}
	path = filepath.Join(t.TempDir(), "out.onnx")
	if dir := os.Getenv("LEDG_WRITTEN"); dir != "" { // for testdata/train/written.py
		path = filepath.Join(dir, filepath.Base(t.Name())+".onnx")
	}
	f, err := os.Create(path)
	if err == nil {
		if err = out.Write(f); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
