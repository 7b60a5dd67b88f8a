package tsne

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/internal/fatal"
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
		name         string
		x            blas32.General
		uncalibrated int
	}{
		{"all equal", same(40, 3, 2), 40},
		{"one feature", line, 0},
		{"twenty duplicates", pairs, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := fatal.Get(Embed(t.Context(), c.x, Config{Perplexity: 5, Iterations: 300}, nil))(t)
			if err := checkMatrix("map", res.Y, c.x.Rows, 2); err != nil {
				t.Error(err)
			}
			if res.Uncalibrated != c.uncalibrated {
				t.Errorf("%d points uncalibrated, want %d", res.Uncalibrated, c.uncalibrated)
			}
			lo, hi := res.Y.Data[1], res.Y.Data[1]
			for i := range res.Y.Rows {
				lo, hi = min(lo, row(res.Y, i)[1]), max(hi, row(res.Y, i)[1])
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
		name string
		x    blas32.General
		cfg  Config
		want string
	}{
		{"NaN", spoiled(float32(math.NaN())), Config{Perplexity: 5}, "x[7, 2] is NaN"},
		{"infinity", spoiled(float32(math.Inf(1))), Config{Perplexity: 5}, "x[7, 2] is +Inf"},
		{"overflow", spoiled(3e38), Config{Perplexity: 5}, "exceeds float32"},
		{"few points", gaussians(1, 30, 3), Config{}, "below the number of points, 30"},
		{"no points", blas32.General{}, Config{}, "below the number of points, 0"},
		{"low perplexity", good, Config{Perplexity: 1}, "perplexity is 1,"},
		{"perplexity", good, Config{Perplexity: math.NaN()}, "perplexity is NaN"},
		{"learning rate", good, Config{Perplexity: 5, LearningRate: -1}, "learning rate is -1"},
		{"infinite rate", good, Config{Perplexity: 5, LearningRate: math.Inf(1)}, "learning rate is +Inf"},
		{"exploding rate", good, Config{Perplexity: 5, LearningRate: 1e38}, "diverged"},
		{"exaggeration", good, Config{Perplexity: 5, EarlyExaggeration: 0.5}, "early exaggeration is 0.5"},
		{"iterations", good, Config{Perplexity: 5, Iterations: -1}, "-1 iterations"},
		{"start", good, Config{Perplexity: 5, Start: 9}, "unknown start 9"},
		{"short data", blas32.General{Rows: 40, Cols: 3, Stride: 3, Data: good.Data[:100]}, Config{Perplexity: 5}, "holds 100 values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Embed(t.Context(), c.x, c.cfg, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	p := fatal.Get(NewAffinities(t.Context(), good, 5))(t)
	if _, err := p.KL(good); err == nil {
		t.Error("a map with three columns has a divergence")
	}
	for _, k := range []int{0, 4} {
		if _, err := PCA(good, k); err == nil {
			t.Errorf("%d components of 3 features are no error", k)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Embed(ctx, gaussians(1, 100, 3), Config{}, func(done, _ int) {
		if done == 3 {
			cancel()
		}
		if done > 3 {
			t.Errorf("iteration %d after cancelling", done)
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}
