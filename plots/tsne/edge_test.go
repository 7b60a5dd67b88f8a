package tsne

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestDegenerateData(t *testing.T) {
	same := func(n, d int, v float32) blas32.General {
		x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
		for i := range x.Data {
			x.Data[i] = v
		}
		return x
	}
	line := same(50, 1, 0)
	for i := range line.Data {
		line.Data[i] = float32(i)
	}
	pairs := gaussians(3, 60, 4)
	copy(pairs.Data[:20*4], slices.Repeat([]float32{90, 0, 0, 0}, 20)) // 20 equal points, far away
	for _, c := range []struct {
		name string
		x    blas32.General
	}{
		{"all equal", same(40, 3, 2)},
		{"one feature", line},
		{"twenty duplicates", pairs},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := fatal.Get(Embed(t.Context(), c.x, 5, 0))(t)
			if slices.ContainsFunc(y.Data, func(v float32) bool { return v != v || math.IsInf(float64(v), 0) }) {
				t.Error("coordinates are not finite")
			}
			lo, hi := y.Data[1], y.Data[1]
			for i := range y.Rows {
				lo, hi = min(lo, row(y, i)[1]), max(hi, row(y, i)[1])
			}
			if hi-lo < 1e-3 {
				t.Errorf("the map is a line: second coordinate from %v to %v", lo, hi)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	good := gaussians(1, 40, 3)
	spoiled := func(v float32) blas32.General {
		x := gaussians(1, 40, 3)
		x.Data[3*7+2] = v
		return x
	}
	for _, c := range []struct {
		name       string
		x          blas32.General
		perplexity float64
		want       string
	}{
		{"NaN", spoiled(float32(math.NaN())), 5, "x[7, 2] is NaN"},
		{"infinity", spoiled(float32(math.Inf(1))), 5, "x[7, 2] is +Inf"},
		{"overflow", spoiled(3e38), 5, "exceeds float32"},
		{"few points", gaussians(1, 30, 3), 30, "below the number of points, 30"},
		{"no points", blas32.General{}, 30, "below the number of points, 0"},
		{"low perplexity", good, 1, "perplexity is 1,"},
		{"perplexity", good, math.NaN(), "perplexity is NaN"},
		{"short data", blas32.General{Rows: 40, Cols: 3, Stride: 3, Data: good.Data[:100]}, 5, "holds 100 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Embed(t.Context(), c.x, c.perplexity, 0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Embed(ctx, good, 5, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// Panels give the same bits as rows.
func TestPanels(t *testing.T) {
	for _, n := range []int{17, 300, 523} {
		rows := fatal.Get(newAffinities(t.Context(), gaussians(1, n, 12), 5))(t)
		panels := &affinities{n: n, p: slices.Clone(rows.p)}
		panels.interleave()
		y := fatal.Get(start(gaussians(2, n, 2), 1))(t)
		for k := range y {
			for i := range y[k] {
				y[k][i] *= 1e5
			}
		}
		var got, want [2][]float32
		for k := range y {
			got[k], want[k] = make([]float32, n), make([]float32, n)
		}
		fatal.If(t, panels.gradient(t.Context(), y, 2, got))
		fatal.If(t, rows.gradient(t.Context(), y, 2, want))
		a, b := fatal.Get(panels.divergence(t.Context(), y, 2))(t), fatal.Get(rows.divergence(t.Context(), y, 2))(t)
		if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) || a != b {
			t.Errorf("n = %d: panels have the gradient %v..., divergence %v; rows %v..., %v", n, got[0][:3], a, want[0][:3], b)
		}
	}
}
