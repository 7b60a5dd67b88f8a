package tsne

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/npztest"
	"gonum.org/v1/gonum/blas/blas32"
)

// digits is what testdata/ holds; its README says where it comes from.
type digits struct {
	x, y, scores blas32.General
	row0         []float32
	Perplexity   float64
	Runs         []struct {
		KL float64 `json:"kl_recomputed"`
	}
	KLStored float64 `json:"kl_of_stored_sklearn_Y"`
	PCA      struct {
		Variance []float64
		Total    float64 `json:"total_variance"`
	}
}

func readDigits(t testing.TB) digits {
	t.Helper()
	var d digits
	b := fatal.Get(os.ReadFile("testdata/tsne.json"))(t)
	fatal.If(t, json.Unmarshal(b, &d))
	f := npztest.Open(t, "testdata/tsne.npz")
	d.x, d.y, d.scores = f.Matrix("X", 64), f.Matrix("sklearn_Y", 2), f.Matrix("pca_scores", 2)
	d.row0 = f.Floats("P_row0")
	return d
}

func TestAffinitiesMatchScikitLearn(t *testing.T) {
	d := readDigits(t)
	a := fatal.Get(newAffinities(t.Context(), d.x, d.Perplexity))(t)
	for j, want := range d.row0 {
		if got := a.p[j]; math.Abs(float64(got-want)) > 1e-6 {
			t.Fatalf("affinity of points 0 and %d is %v, want %v", j, got, want)
		}
	}
	var sum float64
	for i := range d.x.Rows {
		for j := range d.x.Rows {
			if a.p[i*a.n+j] != a.p[j*a.n+i] {
				t.Fatalf("affinities of %d and %d differ by direction", i, j)
			}
			sum += float64(a.p[i*a.n+j])
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("affinities sum to %v, want 1", sum)
	}
	if kl := klOf(t, a, d.y); math.Abs(kl-d.KLStored) > 1e-4 {
		t.Errorf("divergence of the stored map is %v, want %v", kl, d.KLStored)
	}
}

// klOf is the divergence of a map.
func klOf(t *testing.T, a *affinities, y blas32.General) float64 {
	t.Helper()
	var at [2][]float32
	for i := range y.Rows {
		at[0], at[1] = append(at[0], row(y, i)[0]), append(at[1], row(y, i)[1])
	}
	return fatal.Get(a.divergence(t.Context(), at, 1))(t)
}

func TestPCAMatchesScikitLearn(t *testing.T) {
	d := readDigits(t)
	scores, variances, total, err := pca(d.x, 2)
	if err != nil || math.Abs(total-d.PCA.Total) > 1e-3*d.PCA.Total {
		t.Errorf("total variance %v, %v, want %v", total, err, d.PCA.Total)
	}
	for k, want := range d.PCA.Variance {
		if math.Abs(variances[k]-want) > 1e-3*want {
			t.Errorf("variance %d is %v, want %v", k, variances[k], want)
		}
		sign := float32(1)
		if scores[k][0]*row(d.scores, 0)[k] < 0 {
			sign = -1
		}
		for i, got := range scores[k] {
			if want := row(d.scores, i)[k]; math.Abs(float64(sign*got-want)) > 1e-2 {
				t.Fatalf("score %d of point %d is %v, want %v", k, i, sign*got, want)
			}
		}
	}
}

// TestPCAOfFewPoints compares both ways to the components.
func TestPCAOfFewPoints(t *testing.T) {
	d := readDigits(t)
	wide := blas32.General{Rows: 40, Cols: 64, Stride: 64, Data: d.x.Data[:40*64]}
	padded := blas32.General{Rows: 80, Cols: 64, Stride: 64, Data: append(slices.Clone(wide.Data), wide.Data...)}
	scores, variances, _, err := pca(wide, 3)
	fatal.If(t, err)
	twice, twiceVariances, _, err := pca(padded, 3) // every point twice: the same axes
	fatal.If(t, err)
	for k := range 3 {
		if got, want := variances[k]*39/40, twiceVariances[k]*79/80; math.Abs(got-want) > 1e-9*want {
			t.Errorf("variance %d is %v with fewer points than features, %v otherwise", k, got, want)
		}
		for i := range 40 {
			if got, want := scores[k][i], twice[k][i]; math.Abs(float64(got-want)) > 1e-4 {
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
	a := fatal.Get(newAffinities(t.Context(), d.x, d.Perplexity))(t)
	before := slices.Clone(d.x.Data)
	y := fatal.Get(Embed(t.Context(), d.x, d.Perplexity, 0))(t)
	if kl := klOf(t, a, y); !(kl <= 1.1*worst) {
		t.Errorf("divergence %.4f, want at most 1.1 x %.4f", kl, worst)
	}
	if !slices.Equal(before, d.x.Data) {
		t.Error("the input has changed")
	}
}

func TestRunIsTheSameOnAnyNumberOfCores(t *testing.T) {
	x := gaussians(1, 100, 8)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var maps [][]float32
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		maps = append(maps, fatal.Get(Embed(t.Context(), x, 30, 0))(t).Data)
	}
	if !slices.Equal(maps[0], maps[1]) || !slices.Equal(maps[0], maps[2]) {
		t.Error("the map depends on GOMAXPROCS")
	}
}

// TestGradient compares the gradient with finite differences of the divergence.
func TestGradient(t *testing.T) {
	a := fatal.Get(newAffinities(t.Context(), gaussians(1, 12, 5), 4))(t)
	var y [2][]float32
	for k := range y {
		y[k] = gaussians(uint64(2+k), 12, 1).Data
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
					s -= exaggeration * float64(a.p[i*a.n+j]) * math.Log(w)
					z += w
				}
			}
			return s + math.Log(z)
		}
		grad := [2][]float32{make([]float32, 12), make([]float32, 12)}
		fatal.If(t, a.gradient(t.Context(), y, exaggeration, grad))
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
