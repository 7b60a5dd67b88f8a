package examples

import (
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

func TestNormalisation(t *testing.T) {
	for _, c := range []struct {
		n    config.Normalisation
		want []float32
	}{
		{"", []float32{9, -16, 0, 144}},
		{config.RootFeatures, []float32{3, -4, 0, 12}},
		{config.RootUnitFeatures, []float32{3. / 13, -4. / 13, 0, 12. / 13}},
		{config.UnitFeatures, []float32{9 / 145.1654, -16 / 145.1654, 0, 144 / 145.1654}},
	} {
		x := []float32{9, -16, 0, 144}
		scaler.Normalise(c.n, x)
		for j, v := range x {
			if math.Abs(float64(v-c.want[j])) > 1e-6 {
				t.Errorf("%q makes %v, want %v", c.n, x, c.want)
				break
			}
		}
	}
	zeros := []float32{0, 0}
	scaler.Normalise(config.RootUnitFeatures, zeros)
	if zeros[0] != 0 || zeros[1] != 0 {
		t.Errorf("zeros become %v", zeros)
	}
}

// Vectors are normalised before the pool's mean is taken off.
func TestNormalisedVectors(t *testing.T) {
	path := embeddingtest.Glyphs(t, 3)
	d, _ := fatal.Get2(datasets.Open("features", path, datasets.Options{}))(t)
	f, _ := d.Features()
	x := fatal.Get(openVectors(t.Context(), f, config.RootUnitFeatures, t.TempDir(), nil))(t)
	defer x.Close()
	stored, _ := fatal.Get2(datasets.Open("features", path, datasets.Options{}))(t)
	f, _ = stored.Features()
	asStored := fatal.Get(f.Open(t.Context(), t.TempDir()))(t)
	defer asStored.Close()
	v := x.Source.(*vectors)
	plain := make([][]float32, 4)
	var scratch []byte
	for i := range plain {
		plain[i] = make([]float32, v.Dim)
		fatal.If(t, asStored.Read(i, 0, plain[i], &scratch))
		scaler.Normalise(config.RootUnitFeatures, plain[i])
	}
	fatal.If(t, v.standardise(t.Context(), []int{0, 1, 2, 3}))
	got := make([]float32, v.Dim)
	for i := range plain {
		r := v.Reader()
		row := make([]byte, feed.RowBytes(v))
		fatal.If(t, r.Read(i))
		fatal.If(t, r.View(augment.PlainView, row, nil))
		copy(got, feed.Values(v.DType(), row).([]float32))
		for j := range got {
			mean := 0.0
			for _, p := range plain {
				mean += float64(p[j]) / 4
			}
			if want := (float64(plain[i][j]) - mean) * float64(v.scale); math.Abs(float64(got[j])-want) > 1e-4 {
				t.Fatalf("feature %d of example %d is %v, want %v", j, i, got[j], want)
			}
		}
	}
}
