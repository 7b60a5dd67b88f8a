package active

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
)

// measures are the scores and their keys by name, and the plain score, which
// saturates.
var measures = []struct {
	name  string
	m     Measure
	plain func(p []float64) float64
}{
	{"entropy", MaxEntropy, Entropy},
	{"margin", MinMargin, margin},
	{"confidence", MinConfidence, leastConfidence},
}

// margin is 1 - (p1 - p2), the two largest, and leastConfidence 1 - p1.
func margin(p []float64) float64 {
	p = slices.Sorted(slices.Values(p))
	return 1 - (p[len(p)-1] - p[len(p)-2])
}

func leastConfidence(p []float64) float64 { return 1 - slices.Max(p) }

// Where nothing saturates, scores are the plain ones and keys have their order.
func TestKeysHaveTheOrderOfTheScores(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, x := range measures {
		for _, twice := range []bool{false, true} {
			for _, n := range []int{2, 3, 7, 65} {
				type scored struct{ plain, key float64 }
				var all []scored
				for range 300 {
					z := make([]float64, n)
					scale := math.Exp(3 * r.NormFloat64())
					for j := range z {
						z[j] = min(scale, 10) * r.NormFloat64()
					}
					var row Row
					row.Set(z)
					score, key := row.score(x.m, twice)
					head.Softmax(z, z)
					if twice {
						head.Softmax(z, z)
					}
					plain := x.plain(z)
					near(t, fmt.Sprintf("%s of %d, twice %v", x.name, n, twice), score, plain, 1e-14*float64(n))
					all = append(all, scored{plain, key})
				}
				for _, a := range all {
					for _, b := range all {
						if a.plain-b.plain > 1e-13 && !(a.key > b.key) {
							t.Fatalf("%s of %d, twice %v: scores %v and %v have the keys %v and %v", x.name, n, twice, a.plain, b.plain, a.key, b.key)
						}
					}
				}
			}
		}
	}
}

// However confident a head is, slightly higher confidence is distinguished: also where a key
// changes from one formula to the other, at ln s = -40, and where exp underflows.
func TestKeysNeverSaturate(t *testing.T) {
	for _, x := range measures {
		for _, twice := range []bool{false, true} {
			for _, n := range []int{2, 3, 65} {
				before, gapBefore := math.Inf(1), 0.0
				for _, gap := range gaps() {
					z := make([]float64, n)
					for j := range z[1:] {
						z[j+1] = -gap - 0.01*float64(j)
					}
					var row Row
					row.Set(z)
					_, key := row.score(x.m, twice)
					if !(key < before) || math.IsNaN(key) {
						t.Fatalf("%s of %d, twice %v: gaps %v and %v have the keys %v and %v", x.name, n, twice, gapBefore, gap, before, key)
					}
					before, gapBefore = key, gap
				}
			}
		}
	}
}

// gaps are from 1e-6 to 10,000, dense where the formulas change.
func gaps() (list []float64) {
	for g := 1e-6; g < 30; g *= 1.1 {
		list = append(list, g)
	}
	for g := 30.0; g < 50; g += 0.001 {
		list = append(list, g)
	}
	for g := 50.0; g < 10_000; g += 7 {
		list = append(list, g)
	}
	return list
}

// Values from mpmath with 60 digits, of rows that saturate in float64 and not.
func TestKeysAreExact(t *testing.T) {
	for _, x := range keyCases {
		var row Row
		row.Set(x.z)
		for k, got := range []float64{row.entropy(), row.margin(), row.lnS, row.entropyTwice(), row.marginTwice(), -row.confidenceTwice()} {
			if want := x.want[k]; math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("key %d of %v is %v, want %v", k, x.z, got, want)
			}
		}
	}
}
