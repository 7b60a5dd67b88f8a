package examples

import (
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// The weak and strong views are the stored ones of those kinds; without any, the strong
// one drops some features and keeps the mean of the others.
func TestVectorViews(t *testing.T) {
	for views, wantDropout := range map[int]bool{1: true, 2: true, 4: false} {
		d, _ := fatal.Get2(datasets.Open("features", embeddingtest.Glyphs(t, views), datasets.Options{}))(t)
		f, _ := d.Features()
		x := fatal.Get(openVectors(t.Context(), f, "", t.TempDir(), nil))(t)
		v := x.Source.(*vectors)
		fatal.If(t, v.standardise(t.Context(), []int{0, 1, 2, 3, 4, 5}))
		if v.dropout != wantDropout {
			t.Errorf("%d views: dropout %v", views, v.dropout)
		}
		if err := v.Check(augment.View{Name: "tiles"}); err == nil {
			t.Error("a view of pixels is taken")
		}
		x.Close()
	}
	const n = 80000
	ones := slices.Repeat([]float32{1}, n)
	dropOut(ones, seed.New(1, t.Name()))
	zeros, sum := 0, 0.0
	for _, v := range ones {
		if v == 0 {
			zeros++
		}
		sum += float64(v)
	}
	if math.Abs(float64(zeros)/n-0.3) > 0.01 || math.Abs(sum/n-1) > 0.02 {
		t.Errorf("%v are dropped, and the mean is %v", float64(zeros)/n, sum/n)
	}
}

// TestRows holds the vector instructions to the plain loops, on lengths that are and are not
// multiples of their width: equal to the bit, zeros without a sign.
func TestRows(t *testing.T) {
	r := seed.New(1, t.Name())
	for _, n := range []int{0, 1, 7, 8, 9, 255, 256, 257, 1280, 1283} {
		x, mean := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], mean[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
		}
		got, want := make([]float32, n), make([]float32, n)
		standardiseRow(got, x, mean, 0.7)
		standardiseRowGeneric(want, x, mean, 0.7)
		sameBits(t, "standardiseRow", got, want)
		a, b := seed.New(uint64(n), "rows"), seed.New(uint64(n), "rows")
		dropOut(got, a)
		dropOutGeneric(want, b)
		sameBits(t, "dropOut", got, want)
		if a.Uint64() != b.Uint64() {
			t.Errorf("dropOut of %d features does not draw as many numbers", n)
		}
	}
	// By the definition, too: a feature is dropped if its byte is below 77 of 256.
	x := slices.Repeat([]float32{-2}, 16)
	bits := seed.New(3, "rows")
	first, second := bits.Uint64(), bits.Uint64()
	dropOut(x, seed.New(3, "rows"))
	for k, y := range x {
		want := float32(-2 * keptFactor)
		if word := []uint64{first, second}[k/8]; byte(word>>(8*(k%8))) < 77 {
			want = 0
		}
		if math.Float32bits(y) != math.Float32bits(want) {
			t.Errorf("feature %d is %v, want %v", k, y, want)
		}
	}
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s of %d features: feature %d is %v, want %v", what, len(want), i, got[i], want[i])
		}
	}
}
