package tsne

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/datasets/arrays/npztest"
	"github.com/ledg-go/ledg/internal/fatal"
	"gonum.org/v1/gonum/blas/blas32"
)

// digits is what testdata/ holds; its README says where it comes from.
type digits struct {
	x, y, scores blas32.General
	betas, row0  []float32
	Perplexity   float64
	Runs         []struct {
		KL float64 `json:"kl_recomputed"`
	}
	KLStored float64 `json:"kl_of_stored_sklearn_Y"`
	PCA      struct {
		Variance []float64
		Share    []float64 `json:"variance_ratio"`
		Total    float64   `json:"total_variance"`
	}
}

func readDigits(t testing.TB) digits {
	t.Helper()
	var d digits
	b := fatal.Get(os.ReadFile("testdata/tsne.json"))(t)
	fatal.If(t, json.Unmarshal(b, &d))
	f := npztest.Open(t, "testdata/tsne.npz")
	d.x, d.y, d.scores = f.Matrix("X", 64), f.Matrix("sklearn_Y", 2), f.Matrix("pca_scores", 2)
	d.betas, d.row0 = f.Floats("betas"), f.Floats("P_row0")
	return d
}

func TestAffinitiesMatchScikitLearn(t *testing.T) {
	d := readDigits(t)
	p := fatal.Get(NewAffinities(t.Context(), d.x, d.Perplexity))(t)
	for i, beta := range p.Betas() {
		if want := float64(d.betas[i]); math.Abs(beta-want) > 1e-3*want {
			t.Fatalf("precision of point %d is %v, want %v", i, beta, want)
		}
	}
	for j, want := range d.row0 {
		if got := p.At(0, j); math.Abs(got-float64(want)) > 1e-6 {
			t.Fatalf("affinity of points 0 and %d is %v, want %v", j, got, want)
		}
	}
	var sum float64
	for i := range d.x.Rows {
		for j := range d.x.Rows {
			if p.At(i, j) != p.At(j, i) {
				t.Fatalf("affinities of %d and %d differ by direction", i, j)
			}
			sum += p.At(i, j)
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("affinities sum to %v, want 1", sum)
	}
	kl := fatal.Get(p.KL(d.y))(t)
	if math.Abs(kl-d.KLStored) > 1e-4 {
		t.Errorf("divergence of the stored map is %v, want %v", kl, d.KLStored)
	}
}

func TestPCAMatchesScikitLearn(t *testing.T) {
	d := readDigits(t)
	c := fatal.Get(PCA(d.x, 2))(t)
	if math.Abs(c.Total-d.PCA.Total) > 1e-3*d.PCA.Total {
		t.Errorf("total variance %v, want %v", c.Total, d.PCA.Total)
	}
	for k, want := range d.PCA.Variance {
		if math.Abs(c.Variances[k]-want) > 1e-3*want {
			t.Errorf("variance %d is %v, want %v", k, c.Variances[k], want)
		}
		if got := c.Variances[k] / c.Total; math.Abs(got-d.PCA.Share[k]) > 1e-3*d.PCA.Share[k] {
			t.Errorf("share %d is %v, want %v", k, got, d.PCA.Share[k])
		}
		sign := float32(1)
		if row(c.Scores, 0)[k]*row(d.scores, 0)[k] < 0 {
			sign = -1
		}
		for i := range d.x.Rows {
			got, want := sign*row(c.Scores, i)[k], row(d.scores, i)[k]
			if math.Abs(float64(got-want)) > 1e-2 {
				t.Fatalf("score %d of point %d is %v, want %v", k, i, got, want)
			}
		}
	}
}

// TestPCAOfFewPoints compares both ways to the components.
func TestPCAOfFewPoints(t *testing.T) {
	d := readDigits(t)
	wide := blas32.General{Rows: 40, Cols: 64, Stride: 64, Data: d.x.Data[:40*64]}
	c := fatal.Get(PCA(wide, 3))(t)
	padded := blas32.General{Rows: 80, Cols: 64, Stride: 64, Data: append(slices.Clone(wide.Data), wide.Data...)}
	twice := fatal.Get(PCA(padded, 3))(t) // every point twice: the same axes
	for k := range 3 {
		if got, want := c.Variances[k]*39/40, twice.Variances[k]*79/80; math.Abs(got-want) > 1e-9*want {
			t.Errorf("variance %d is %v with fewer points than features, %v otherwise", k, got, want)
		}
		for i := range 40 {
			if got, want := row(c.Scores, i)[k], row(twice.Scores, i)[k]; math.Abs(float64(got-want)) > 1e-4 {
				t.Fatalf("score %d of point %d is %v with fewer points than features, %v otherwise", k, i, got, want)
			}
		}
	}
}

func TestRunReachesScikitLearn(t *testing.T) {
	d := readDigits(t)
	worst := 0.0
	for _, r := range d.Runs {
		worst = max(worst, r.KL)
	}
	p := fatal.Get(NewAffinities(t.Context(), d.x, d.Perplexity))(t)
	before := slices.Clone(d.x.Data)
	for name, cfg := range map[string]Config{
		"pca":      {},
		"random 1": {Start: StartRandom, Seed: 1},
		"random 2": {Start: StartRandom, Seed: 2},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			res := fatal.Get(Embed(t.Context(), d.x, cfg, func(done, total int) {
				calls++
				if done != calls || total != 1000 {
					t.Fatalf("call %d reports %d of %d iterations", calls, done, total)
				}
			}))(t)
			if res.KL > 1.1*worst {
				t.Errorf("divergence %.4f after %d iterations, want at most 1.1 x %.4f", res.KL, res.Iterations, worst)
			}
			if kl, err := p.KL(res.Y); err != nil || math.Abs(kl-res.KL) > 1e-9 {
				t.Errorf("divergence of the map is %v (%v), the result says %v", kl, err, res.KL)
			}
			if calls != res.Iterations {
				t.Errorf("%d calls of progress for %d iterations", calls, res.Iterations)
			}
		})
	}
	if !slices.Equal(before, d.x.Data) {
		t.Error("the input has changed")
	}
}

func TestRunIsTheSameOnAnyNumberOfCores(t *testing.T) {
	d := readDigits(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var maps [][]float32
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		res := fatal.Get(Embed(t.Context(), d.x, Config{Iterations: 60}, nil))(t)
		maps = append(maps, res.Y.Data)
	}
	if !slices.Equal(maps[0], maps[1]) || !slices.Equal(maps[0], maps[2]) {
		t.Error("the map depends on GOMAXPROCS")
	}
	other := fatal.Get(Embed(t.Context(), d.x, Config{Iterations: 60, Start: StartRandom, Seed: 1}, nil))(t)
	if slices.Equal(maps[0], other.Y.Data) {
		t.Error("another start gives the same map")
	}
}

// TestGradient compares the gradient with finite differences of the divergence.
func TestGradient(t *testing.T) {
	x := gaussians(1, 12, 5)
	p := fatal.Get(NewAffinities(t.Context(), x, 4))(t)
	y := fatal.Get(start(x, Config{Start: StartRandom}))(t)
	for k := range y {
		for i := range y[k] {
			y[k][i] *= 1e4
		}
	}
	for _, exaggeration := range []float64{1, 12} {
		// e p - q makes the gradient of sum e p ln(1/w) + ln sum w, which is
		// KL(P || Q) up to a constant when e is 1.
		objective := func() float64 {
			var s, z float64
			for i := range 12 {
				for j := range 12 {
					if i == j {
						continue
					}
					d0, d1 := float64(y[0][i])-float64(y[0][j]), float64(y[1][i])-float64(y[1][j])
					w := 1 / (1 + d0*d0 + d1*d1)
					s -= exaggeration * p.At(i, j) * math.Log(w)
					z += w
				}
			}
			return s + math.Log(z)
		}
		grad := [2][]float32{make([]float32, 12), make([]float32, 12)}
		fatal.If(t, p.gradient(t.Context(), y, exaggeration, grad))
		for k := range y {
			for i := range y[k] {
				at, h := y[k][i], float32(1.0/256)
				y[k][i] = at + h
				up := objective()
				y[k][i] = at - h
				down := objective()
				y[k][i] = at
				if want := (up - down) / float64(2*h); math.Abs(float64(grad[k][i])-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("exaggeration %v: gradient of coordinate %d of point %d is %v, want %v", exaggeration, k, i, grad[k][i], want)
				}
			}
		}
	}
}
