package audit_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// The intervals of Newcombe, "Two-Sided Confidence Intervals for the Single Proportion",
// Statistics in Medicine 1998, table I, method 3.
func TestWilsonIsNewcombes(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		got := audit.Wilson(result.Tally{Correct: c.k, Total: c.n})
		if math.Abs(got.Low-c.low) > 6e-5 || math.Abs(got.High-c.high) > 6e-5 || got.Share != float64(c.k)/float64(c.n) {
			t.Errorf("%d of %d: %+v, want %v to %v", c.k, c.n, got, c.low, c.high)
		}
	}
	if got := audit.Wilson(result.Tally{}); got.Low != 0 || got.High != 1 {
		t.Errorf("without images: %+v", got)
	}
	if got := audit.Wilson(result.Tally{Correct: 33, Total: 60}).String(); got != "55%, 42 to 67" {
		t.Errorf("33 of 60 reads %q", got)
	}
}

func TestGainByHand(t *testing.T) {
	p := audit.Paired{Both: 30, Lost: 2, Won: 10, Neither: 8}
	got := audit.Gain(p)
	// 11/52 - 3/52, and 1.96 sqrt((14/52 - (8/52)^2) / 52).
	if math.Abs(got.Share-0.16) > 1e-12 || math.Abs(got.Low-(8./52-0.134690)) > 1e-6 || math.Abs(got.High-(8./52+0.134690)) > 1e-6 {
		t.Errorf("gain %+v", got)
	}
	if p.Before() != (result.Tally{Correct: 32, Total: 50}) || p.After() != (result.Tally{Correct: 40, Total: 50}) {
		t.Errorf("before %v, after %v", p.Before(), p.After())
	}
	if got := audit.Gain(audit.Paired{}); got.Low != -1 || got.High != 1 {
		t.Errorf("without images: %+v", got)
	}
}

func TestForHalf(t *testing.T) {
	for _, c := range []result.Tally{{Correct: 30, Total: 50}, {Correct: 50, Total: 50}, {Correct: 1, Total: 1}} {
		n, half := audit.ForHalf(c), audit.Wilson(c).HalfWidth()/2
		width := func(n int) float64 {
			m := float64(n)
			return 1.96 / (m + 1.96*1.96) * math.Sqrt(c.Share()*(1-c.Share())*m+1.96*1.96/4)
		}
		if width(n) > half+1e-12 || width(n-1) <= half {
			t.Errorf("%v: %d labels give +-%v, one less +-%v, want %v", c, n, width(n), width(n-1), half)
		}
	}
}

func TestLooksEveryTen(t *testing.T) {
	for labels, want := range map[int]int{0: 30, 29: 30, 30: 40, 35: 40, 40: 50} {
		if got := audit.Next(labels); got != want {
			t.Errorf("after %d answers the next look is at %d, want %d", labels, got, want)
		}
	}
}

// Audits of a site of 400 images: both intervals hold the truth of the images outside A in at
// least 93% of 2,000.
func TestCoverage(t *testing.T) {
	const sites, audits = 400, 2000
	ids := names(sites)
	for _, before := range []float64{0.25, 0.5, 0.8, 0.9} {
		for _, m := range []int{20, 50, 100} {
			r := seed.New(1, "coverage", uint64(100*before), uint64(m))
			right, later, truth, gain := map[string]bool{}, map[string]bool{}, 0.0, 0.0
			for _, id := range ids[10:] {
				right[id] = r.Float64() < before
				later[id] = r.Float64() < 0.1 || right[id] && r.Float64() < 0.9
				truth += share(right[id])
				gain += share(later[id]) - share(right[id])
			}
			truth, gain = truth/float64(sites-10), gain/float64(sites-10)
			held, heldGain := 0, 0
			for k := range audits {
				sample := fatal.Get(audit.Draw(ids[10:], m, uint64(k)))(t)
				var p audit.Paired
				for _, id := range sample {
					p.Add(right[id], later[id])
				}
				if w := audit.Wilson(p.Before()); w.Low <= truth && truth <= w.High {
					held++
				}
				if g := audit.Gain(p); g.Low <= gain && gain <= g.High {
					heldGain++
				}
			}
			if held < audits*93/100 || heldGain < audits*93/100 {
				t.Errorf("accuracy %v, %d labels: of %d audits Wilson's interval holds in %d, the gain's in %d", truth, m, audits, held, heldGain)
			}
		}
	}
}

// How often the intervals hold the truth, summed over all audits instead of simulated: Wilson's
// of 50 images and more in at least 93% where 10 to 90% are right (of 20 in 92.7%), the gain's in
// at least 93.9% (94.5% of 50) wherever two networks differ on at least 5%.
func TestCoverageIsSummed(t *testing.T) {
	for m, want := range map[int][2]float64{20: {0.927, 0.939}, 50: {0.93, 0.945}, 100: {0.93, 0.945}} {
		lowest := [2]float64{1, 1}
		for share := 0.1; share <= 0.9; share += 0.005 {
			held := 0.0
			for k := range m + 1 {
				if w := audit.Wilson(result.Tally{Correct: k, Total: m}); w.Low <= share && share <= w.High {
					held += trinomial(m, k, 0, share, 0)
				}
			}
			lowest[0] = min(lowest[0], held)
		}
		for _, lose := range []float64{0.01, 0.03, 0.05, 0.1, 0.2} {
			for win := 0.05; win <= 0.5; win += 0.01 {
				held := 0.0
				for won := range m + 1 {
					for lost := range m + 1 - won {
						if g := audit.Gain(audit.Paired{Both: m - won - lost, Won: won, Lost: lost}); g.Low <= win-lose && win-lose <= g.High {
							held += trinomial(m, won, lost, win, lose)
						}
					}
				}
				lowest[1] = min(lowest[1], held)
			}
		}
		if lowest[0] < want[0] || lowest[1] < want[1] {
			t.Errorf("%d images: Wilson's interval holds in %v, the gain's in %v, want %v", m, lowest[0], lowest[1], want)
		}
	}
}

// trinomial is the probability of two counts among n.
func trinomial(n, a, b int, p, q float64) float64 {
	ways := func(n float64) float64 { v, _ := math.Lgamma(n + 1); return v }
	v := ways(float64(n)) - ways(float64(a)) - ways(float64(b)) - ways(float64(n-a-b))
	for _, x := range []struct {
		n int
		p float64
	}{{a, p}, {b, q}, {n - a - b, 1 - p - q}} {
		if x.n > 0 {
			v += float64(x.n) * math.Log(x.p)
		}
	}
	return math.Exp(v)
}

// An audit that goes on until +-5 points holds the truth, too, although it looks at its answers.
func TestCoverageOfTheSequentialRule(t *testing.T) {
	const audits = 2000
	for _, p := range []float64{0.3, 0.5, 0.7, 0.9} {
		held := 0
		for k := range audits {
			r := seed.New(2, "sequential", uint64(100*p), uint64(k))
			var a result.Tally
			for a.Total == 0 || audit.Wilson(a).HalfWidth() > 0.05 {
				for next := audit.Next(a.Total); a.Total < next; a.Total++ {
					if r.Float64() < p {
						a.Correct++
					}
				}
			}
			if w := audit.Wilson(a); w.Low <= p && p <= w.High {
				held++
			}
		}
		if held < audits*93/100 {
			t.Errorf("accuracy %v: the interval holds in %d of %d audits", p, held, audits)
		}
	}
}

func share(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// The exact interval covers at least 95% for every accuracy, by sums over all counts.
func TestExactCovers(t *testing.T) {
	for _, n := range []int{5, 12, 50} {
		for share := 0.005; share < 1; share += 0.005 {
			covered := 0.0
			for k := range n + 1 {
				if i := audit.Exact(result.Tally{Correct: k, Total: n}); i.Low <= share && share <= i.High {
					covered += distuv.Binomial{N: float64(n), P: share}.Prob(float64(k))
				}
			}
			if covered < 0.95 {
				t.Errorf("n = %d, accuracy %.3f: coverage %.3f", n, share, covered)
			}
		}
	}
	// By hand: 10 of 10 has the lower end 0.025^(1/10).
	if i := audit.Exact(result.Tally{Correct: 10, Total: 10}); math.Abs(i.Low-math.Pow(0.025, 0.1)) > 1e-9 || i.High != 1 || i.Share != 1 {
		t.Errorf("10 of 10: %v", i)
	}
}
