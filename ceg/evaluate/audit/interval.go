package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/ledg-go/ledg/ceg/result"
)

// z is the quantile of the normal distribution for intervals of 95%.
const z = 1.96

// Interval is a share with its 95% confidence interval.
type Interval struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// HalfWidth returns (High - Low) / 2.
func (i Interval) HalfWidth() float64 { return (i.High - i.Low) / 2 }

// String returns whole percentages: "55%, 41 to 68".
func (i Interval) String() string {
	return fmt.Sprintf("%.0f%%, %.0f to %.0f", 100*i.Share, 100*i.Low, 100*i.High)
}

// Wilson returns Wilson's score interval of a proportion ("Probable Inference, the Law of
// Succession, and Statistical Inference", JASA 1927). With k of n correct it is centred at (k +
// z^2/2)/(n + z^2). An empty tally gives [0, 1].
func Wilson(t result.Tally) Interval {
	if t.Total == 0 {
		return Interval{Low: 0, High: 1}
	}
	k, n := float64(t.Correct), float64(t.Total)
	centre := (k + z*z/2) / (n + z*z)
	half := z / (n + z*z) * math.Sqrt(k*(n-k)/n+z*z/4)
	return Interval{Share: k / n, Low: max(centre-half, 0), High: min(centre+half, 1)}
}

// Exact returns the interval of Clopper and Pearson ("The Use of Confidence or Fiducial Limits",
// Biometrika 1934), which covers at least 95% for every accuracy. Parts of an audit use it:
// with some ten images of a class and an accuracy near 1, Wilson's covered 83%
// (notebooks/results/new-site.md). An empty tally gives [0, 1].
func Exact(t result.Tally) Interval {
	i := Interval{Low: 0, High: 1}
	k, n := float64(t.Correct), float64(t.Total)
	if t.Total > 0 {
		i.Share = k / n
	}
	if t.Correct > 0 {
		i.Low = mathext.InvRegIncBeta(k, n-k+1, 0.025)
	}
	if t.Correct < t.Total {
		i.High = mathext.InvRegIncBeta(k+1, n-k, 0.975)
	}
	return i
}

// ForHalf returns the number of labels that would halve the interval of a tally, at the same
// share s: the least n with z/(n + z^2) sqrt(s (1-s) n + z^2/4) at most half of its half width.
func ForHalf(t result.Tally) int {
	if t.Total == 0 {
		return 0
	}
	h, s := Wilson(t).HalfWidth()/2, t.Share()
	a, b, c := h*h, 2*h*h*z*z-z*z*s*(1-s), h*h*z*z*z*z-z*z*z*z/4
	return int(math.Ceil((-b + math.Sqrt(b*b-4*a*c)) / (2 * a)))
}

// Paired counts images by the correctness of two networks.
type Paired struct {
	// Both, Lost, Won and Neither count images that both networks classify correctly, only the
	// first, only the second, and neither.
	Both    int `json:"both"`
	Lost    int `json:"lost"`
	Won     int `json:"won"`
	Neither int `json:"neither"`
}

// Add counts an image.
func (p *Paired) Add(before, after bool) {
	switch {
	case before && after:
		p.Both++
	case before:
		p.Lost++
	case after:
		p.Won++
	default:
		p.Neither++
	}
}

// Before returns the tally of the first network.
func (p Paired) Before() result.Tally { return result.Tally{Correct: p.Both + p.Lost, Total: p.n()} }

// After returns the tally of the second network.
func (p Paired) After() result.Tally { return result.Tally{Correct: p.Both + p.Won, Total: p.n()} }

func (p Paired) n() int { return p.Both + p.Lost + p.Won + p.Neither }

// Gain returns the difference in accuracy, after minus before, on the same images, with the
// interval of Bonett and Price, which adds one image to each of the two discordant counts.
// ("Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired
// Data", Journal of Educational and Behavioral Statistics 2012.) With 50 images its coverage is at
// least 94.5% if the networks differ on at least 5% (TestCoverageIsSummed). Agresti and Min's,
// which adds half an image, fell to 90.2% in notebooks/results/new-site.md. Share is the observed
// difference; the interval is centred at the difference of the adjusted counts. Without images it
// is [-1, 1].
func Gain(p Paired) Interval {
	if p.n() == 0 {
		return Interval{Low: -1, High: 1}
	}
	n := float64(p.n()) + 2
	won, lost := (float64(p.Won)+1)/n, (float64(p.Lost)+1)/n
	d, half := won-lost, z*math.Sqrt((won+lost-(won-lost)*(won-lost))/n)
	return Interval{Share: float64(p.Won-p.Lost) / float64(p.n()), Low: max(d-half, -1), High: min(d+half, 1)}
}

// OverNames says whether labels pay, by what they gain over class names alone; empty for a significant gain.
func (i Interval) OverNames() string {
	switch {
	case i.High < 0:
		return "warning: names alone are better here"
	case i.Low <= 0 && i.Share <= 0:
		return "names alone are as good here; labels do not pay yet"
	case i.Low <= 0:
		return "not significant"
	}
	return ""
}

// The looks of the sequential stopping rule of an audit: at fewestLooked labels and after every
// further looksEvery. It stops when the half width of [Wilson]'s interval is small enough.
const (
	fewestLooked = 30
	looksEvery   = 10
)

// Next returns the number of labels at the next look of an audit.
func Next(labels int) int {
	if labels < fewestLooked {
		return fewestLooked
	}
	return labels/looksEvery*looksEvery + looksEvery
}
