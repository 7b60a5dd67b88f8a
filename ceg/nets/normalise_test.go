package nets_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/npztest"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// The networks see the values that torchvision's ToTensor and Normalize give, of images
// of package augment's golden data; those are rounded to float32 in another order.
func TestNormaliseMatchesTorchvision(t *testing.T) {
	dir := filepath.Join("..", "objective", "augment", "testdata")
	data := fatal.Get(os.ReadFile(filepath.Join(dir, "index.json")))(t)
	var golden struct {
		Normalise []struct {
			From, File string
			Cut        *struct{ X0, X1, Y0, Y1 int } `json:"cutout_before_normalising"`
		}
		Mean, Std [3]float64
	}
	fatal.If(t, json.Unmarshal(data, &golden))
	p := nets.Pixels{}.OrDefault()
	if p.Mean != golden.Mean || p.Std != golden.Std || len(golden.Normalise) == 0 {
		t.Fatalf("%d images of mean %v and deviation %v, want %v and %v", len(golden.Normalise), p.Mean, p.Std, golden.Mean, golden.Std)
	}
	b := enginetest.Open(t)
	for _, c := range golden.Normalise {
		t.Run(c.File, func(t *testing.T) {
			f := fatal.Get(os.Open(filepath.Join(dir, c.From)))(t)
			defer f.Close()
			m := fatal.Get(rgb.Decode(f))(t)
			if b := c.Cut; b != nil {
				for y := b.Y0; y < b.Y1; y++ {
					clear(m.Pix[3*(y*m.Width+b.X0) : 3*(y*m.Width+b.X1)])
				}
			}
			exec := graph.MustNewExec(b.Compute, func(x *graph.Node) *graph.Node { return nets.Normalise(x, p.Mean, p.Std) })
			defer exec.Finalize()
			out := exec.MustCall(tensors.FromFlatDataAndDimensions(m.Pix, 1, m.Height, m.Width, 3))[0]
			got := tensors.MustCopyFlatData[float32](out)
			want := npztest.Open(t, filepath.Join(dir, c.File)).Floats("") // channel first
			if len(got) != len(want) {
				t.Fatalf("%d values, want %d", len(got), len(want))
			}
			plane := m.Width * m.Height
			for i := range got {
				if w := want[i%3*plane+i/3]; !(math.Abs(float64(got[i])-float64(w)) <= 1e-5) {
					t.Fatalf("pixel %d, channel %d is %v, want %v", i/3, i%3, got[i], w)
				}
			}
		})
	}
}
