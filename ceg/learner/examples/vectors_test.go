package examples

import (
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/predict/embedding/embeddingtest"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// The weak and strong views are the stored ones of those kinds; without any, the strong
// one drops some features and keeps the mean of the others.
func TestVectorViews(t *testing.T) {
	for views, wantDropout := range map[int]bool{1: true, 2: true, 4: false} {
		d, _, err := datasets.Open("features", embeddingtest.Glyphs(t, views), datasets.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, _ := d.Features()
		x, err := openVectors(t.Context(), f, "", t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		v := x.Source.(*vectors)
		if err := v.standardise(t.Context(), []int{0, 1, 2, 3, 4, 5}); err != nil {
			t.Fatal(err)
		}
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
