package active

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

func matrix(cols int, v ...float32) Matrix {
	return Matrix{Rows: len(v) / cols, Cols: cols, Stride: cols, Data: v}
}

func query(t *testing.T, s Strategy, c *Candidates, n int, r *rand.Rand) []Pick {
	t.Helper()
	return fatal.Get(s.Query(c, n, r))(t)
}

// Row 0 is the most uncertain, the most representative and the most diverse.
func TestOneRowMustWin(t *testing.T) {
	c := &Candidates{
		IDs:              []string{"x", "y", "z"},
		Features:         matrix(2, 0, 1, 1, 0.1, 1, 0),
		ClassProbs:       matrix(2, 0.5, 0.5, 0.9, 0.1, 0.8, 0.2),
		DomainProbs:      matrix(2, 0.9, 0.1, 0.6, 0.4, 0.3, 0.7),
		LabelledFeatures: matrix(2, 2, 0),
		LabelledClasses:  []int{1}, LabelledDomains: []int{0},
	}
	w := Gammas(3, 0.5)
	picks := query(t, CEG{Weights: w}, c, 3, nil)
	want := []Pick{
		{Index: 0, ID: "x", Score: 0, Scored: true, Su: 1, Sr: float64(float32(0.9)), Sd: 1},
		{Index: 2, ID: "z", RankSu: 1, RankSr: 1, RankSd: 2, R: 5},
		{Index: 1, ID: "y", RankSu: 2, RankSr: 2, RankSd: 1, R: 8.5},
	}
	near(t, "S_r", picks[0].Sr, want[0].Sr, 1e-6)
	near(t, "S_u", picks[0].Su, want[0].Su, 1e-15)
	picks[0].Sr, picks[0].Su = want[0].Sr, want[0].Su
	if picks[0] != want[0] || math.Signbit(picks[0].Score) {
		t.Errorf("first pick %+v, want %+v", picks[0], want[0])
	}
	for k, p := range picks[1:] {
		if w := want[k+1]; p.Index != w.Index || p.RankSu != w.RankSu || p.RankSr != w.RankSr || p.RankSd != w.RankSd || p.R != w.R || p.Score != -w.R {
			t.Errorf("pick %d is %+v, want %+v", k+1, p, w)
		}
	}
	if got := IDs(picks); !slices.Equal(got, []string{"x", "z", "y"}) {
		t.Errorf("IDs %v", got)
	}
}

// Rows 0 and 1 are near-duplicates far from the centroid, row 2 is a little less
// wanted than both: CEG asks 0 and 1, BatchCEG 0 and 2.
func TestBatchCEGAvoidsDuplicates(t *testing.T) {
	c := &Candidates{
		IDs:              []string{"a", "a again", "b", "c"},
		Features:         matrix(3, 0, 1, 0, 0, 1, 0.01, 0.1, 0, 1, 1, 0, 0),
		ClassProbs:       matrix(2, 0.5, 0.5, 0.51, 0.49, 0.52, 0.48, 0.6, 0.4),
		DomainProbs:      matrix(1, 1, 1, 1, 1),
		LabelledFeatures: matrix(3, 1, 0, 0),
		LabelledClasses:  []int{0}, LabelledDomains: []int{0},
	}
	ceg := CEG{Weights: Gammas(0, 2)}
	if got := indices(query(t, ceg, c, 2, nil)); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("ceg picks %v, want [0 1]", got)
	}
	picks := query(t, BatchCEG{ceg}, c, 4, nil)
	if got := indices(picks); !slices.Equal(got, []int{0, 2, 1, 3}) {
		t.Errorf("ceg-batch picks %v, want [0 2 1 3]", got)
	}
	// Row 1 was asked as a near-copy of row 0.
	if p := picks[2]; p.Sd > 1e-4 {
		t.Errorf("third pick %+v, want hardly any diversity", p)
	}
}

// The incremental ranking of BatchCEG is that of ranking again from scratch.
func TestBatchCEGRanksAgain(t *testing.T) {
	_, c := exploration(t)
	s := BatchCEG{CEG{Weights: Gammas(1, 3)}}
	picks := query(t, s, c, 40, nil)
	if first := query(t, s.CEG, c, 1, nil)[0]; picks[0] != first {
		t.Errorf("first pick %+v, ceg's %+v", picks[0], first)
	}
	scores := fatal.Get(s.Score(c))(t)
	ties := Ties{IDs: c.IDs}
	u, r := must(t)(Ranks(scores.KeyU, ties)), must(t)(Ranks(scores.KeyR, ties))
	for k, p := range picks {
		if k > 0 {
			before := rowOf(c.Features, picks[k-1].Index)
			for i := range scores.Sd {
				var xy, xx, yy float64
				for j, v := range rowOf(c.Features, i) {
					x, y := float64(v), float64(before[j])
					xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
				}
				scores.Sd[i] = min(scores.Sd[i], 1-xy/math.Sqrt(xx*yy))
			}
			scores.Sd[picks[k-1].Index] = 0
		}
		d := must(t)(Ranks(scores.Sd, ties))
		if p.RankSu != u[p.Index] || p.RankSr != r[p.Index] || p.RankSd != d[p.Index] {
			t.Fatalf("pick %d: ranks %d, %d, %d of row %d, want %d, %d, %d", k, p.RankSu, p.RankSr, p.RankSd, p.Index, u[p.Index], r[p.Index], d[p.Index])
		}
		for i := range u {
			queried := slices.ContainsFunc(picks[:k+1], func(p Pick) bool { return p.Index == i })
			if R := s.Weights.Combine(u[i], r[i], d[i]); !queried && (R < p.R || R == p.R && ties.before(i, p.Index)) {
				t.Fatalf("pick %d is row %d with R %v, but row %d has %v", k, p.Index, p.R, i, R)
			}
		}
	}
}

func must(t *testing.T) func([]int, error) []int {
	return func(v []int, err error) []int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestCoreSetWithoutLabels(t *testing.T) {
	c := &Candidates{IDs: []string{"a", "b", "c", "d"}, Features: matrix(1, 0, 1, 10, 10)}
	if _, err := (CoreSet{}).Query(c, 2, nil); err == nil {
		t.Error("no error without labels and without a stream")
	}
	picks := query(t, CoreSet{}, c, 4, seed.New(1, "coreset"))
	if picks[0].Score != 0 {
		t.Errorf("the drawn pick has score %v", picks[0].Score)
	}
	if second := picks[1].Index; picks[0].Index < 2 && second < 2 || picks[0].Index >= 2 && second != 0 {
		t.Errorf("picks %v: the second is not the farthest", indices(picks))
	}
	if last := picks[3]; last.Score != 0 && picks[2].Score != 0 {
		t.Errorf("picks %+v: the copy is not at distance 0", picks)
	}
}

// Two tight groups of unequal size and one outlier: one sample each.
func TestKMeansFindsGroups(t *testing.T) {
	c := &Candidates{Features: matrix(1, 0, 0.1, 0.2, 50, 10, 10.1, 10.2, 10.3, 10.1)}
	c.IDs = numbered(9)
	for s := range uint64(20) {
		picks := query(t, KMeans{Raw: true}, c, 3, seed.New(s, "kmeans"))
		// Rows 5 and 8 are copies.
		if got := indices(picks); !slices.Equal(got, []int{5, 1, 3}) && !slices.Equal(got, []int{8, 1, 3}) {
			// k-means++ may start badly, but then does not lose the outlier.
			if !slices.Contains(got, 3) {
				t.Errorf("seed %d: picks %v without the outlier", s, got)
			}
			continue
		}
		if picks[0].Score != 5 || picks[1].Score != 3 || picks[2].Score != 1 {
			t.Errorf("cluster sizes %v, %v, %v, want 5, 3, 1", picks[0].Score, picks[1].Score, picks[2].Score)
		}
		return
	}
	t.Error("no seed finds the groups")
}

// Where only copies are left, each is still picked once.
func TestCopies(t *testing.T) {
	c := &Candidates{IDs: numbered(6), Features: matrix(1, 1, 1, 1, 1, 2, 2), ClassProbs: matrix(2, .6, .4, .6, .4, .6, .4, .6, .4, .6, .4, .6, .4)}
	for _, s := range []Strategy{KMeans{Raw: true}, BADGE{}, CoreSet{}} {
		got := indices(query(t, s, c, 6, seed.New(3, "copies")))
		first := slices.Clone(got[:2])
		slices.Sort(got)
		if !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("%s: picks %v", s.Name(), got)
		}
		if c.Features.Data[first[0]] == c.Features.Data[first[1]] {
			t.Errorf("%s: the first picks %v are copies", s.Name(), first)
		}
	}
}

// Draws follow the squared distances: 1, 4, 0 and 5 out of 10.
func TestSeedingDraws(t *testing.T) {
	s := &seeding{ties: Ties{IDs: numbered(4)}, least: []float64{1, 4, 0, 5}, chosen: []bool{false, false, true, false}}
	r := seed.New(1, "draws")
	const draws = 20000
	counts := make([]int, 4)
	for range draws {
		counts[s.draw(r)]++
	}
	for i, p := range []float64{0.1, 0.4, 0, 0.5} {
		// Four standard deviations of a binomial.
		near(t, "share", float64(counts[i])/draws, p, 4*math.Sqrt(p*(1-p)/draws))
	}
	s = &seeding{ties: Ties{IDs: numbered(3)}, least: make([]float64, 3), chosen: []bool{true, false, false}}
	if got := s.draw(r); got < 1 || s.ties.before(3-got, got) {
		t.Errorf("with nothing but copies left, row %d is drawn", got)
	}
}

func TestUniformIsUniform(t *testing.T) {
	c := &Candidates{IDs: numbered(5)}
	counts := make([]int, 5)
	const draws = 20000
	r := seed.New(1, "uniform")
	for range draws {
		for _, p := range query(t, Uniform{}, c, 2, r) {
			counts[p.Index]++
		}
	}
	for i, n := range counts {
		near(t, "share of row "+c.IDs[i], float64(n)/draws, 0.4, 4*math.Sqrt(0.4*0.6/draws))
	}
}
