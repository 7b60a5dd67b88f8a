package arrays

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What pandas wrote is read back, block by block and with rows in two groups.
func TestParquetOfPandas(t *testing.T) {
	f := openFile(t, "testdata/pandas.parquet")
	ctx := context.Background()
	for _, c := range []struct {
		name      string
		dtype     Type
		shape     []int
		at        func(i int) []float64
		tolerance float64
	}{
		{"features", Float32, []int{6, 3}, func(i int) []float64 { return []float64{float64(i), float64(float32(i) / 3), -float64(i)} }, 0},
		{"double", Float64, []int{6, 2}, func(i int) []float64 { return []float64{float64(i), 0.1} }, 0},
		{"half", Float16, []int{6, 2}, func(i int) []float64 { return []float64{float64(i), float64(i) / 3} }, 1e-3},
	} {
		a := array(t, f, c.name)
		if a.Type() != c.dtype || !slices.Equal(a.Shape(), c.shape) {
			t.Errorf("%s: %s %v, want %s %v", c.name, a.Type(), a.Shape(), c.dtype, c.shape)
		}
		got := fatal.Get(ReadAll[float64](ctx, a))(t)
		for i := range 6 {
			for j, want := range c.at(i) {
				if v := got[i*c.shape[1]+j]; math.Abs(v-want) > c.tolerance {
					t.Errorf("%s[%d, %d] is %v, want %v", c.name, i, j, v, want)
				}
			}
		}
		if a.ReaderAt() != nil {
			t.Errorf("%s: can be read at random", c.name)
		}
	}
	for name, want := range map[string][]string{
		"id":     {"photo/0.jpg", "Zeichnung/ö1.png", "photo/2.jpg", "Zeichnung/ö3.png", "photo/4.jpg", "Zeichnung/ö5.png"},
		"domain": {"photo", "sketch", "photo", "sketch", "photo", "sketch"},
	} {
		if got, err := Strings(array(t, f, name)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := Ints(array(t, f, "labels")); err != nil || !slices.Equal(got, []int{0, 1, 0, -1, 1, 0}) {
		t.Errorf("labels: %v, %v", got, err)
	}
	if got, err := Strings(array(t, f, "label")); err != nil || !slices.Equal(got, []string{"cat", "dog", "cat", "", "dog", "cat"}) {
		t.Errorf("label: %q, %v", got, err)
	}
	for name, want := range map[string]string{
		"ragged": "ragged: row 1 has 2 numbers, want 1 as row 0",
		"holes":  "holes: row 1 is empty, or has a null",
	} {
		if _, err := ReadAll[float32](ctx, array(t, f, name)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}

	f = openFile(t, "testdata/views.parquet")
	a := array(t, f, "features")
	if !slices.Equal(a.Shape(), []int{5, 2, 3}) || !slices.Equal(a.Rows().Shape(), []int{5, 6}) {
		t.Fatalf("shape %v", a.Shape())
	}
	got := fatal.Get(ReadAll[float32](ctx, a.Rows()))(t)
	if want := []float32{4, 1, 2, 4, -1, 0.5}; !slices.Equal(got[24:], want) {
		t.Errorf("the last row is %v, want %v", got[24:], want)
	}
	for v, want := range [][]float32{{0, 1, 2, 1, 1, 2, 2, 1, 2, 3, 1, 2, 4, 1, 2}, {0, -1, 0.5, 1, -1, 0.5, 2, -1, 0.5, 3, -1, 0.5, 4, -1, 0.5}} {
		if got, err := ReadAll[float32](ctx, a.View(v)); err != nil || !slices.Equal(got, want) {
			t.Errorf("view %d is %v, %v", v, got, err)
		}
	}
}

// Half precision and random access, of .npz and of .safetensors alike.
func TestHalf(t *testing.T) {
	f := openFile(t, "testdata/stored.npz")
	a := array(t, f, "half")
	all := fatal.Get(ReadAll[float32](context.Background(), a))(t)
	_, cols, _ := a.Matrix()
	row := make([]float32, cols)
	var scratch []byte
	if err := ReadAt(a, len(all)-cols, row, &scratch); err != nil || !slices.Equal(row, all[len(all)-cols:]) {
		t.Errorf("the last row is %v, %v; want %v", row, err, all[len(all)-cols:])
	}
	if err := ReadAt(a, len(all)-cols+1, row, &scratch); err == nil {
		t.Error("read beyond the end")
	}
	if got, err := Strings(array(t, f, "text")); err != nil || len(got) == 0 {
		t.Errorf("text: %q, %v", got, err)
	}
}
