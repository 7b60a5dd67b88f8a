package objective

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

func TestMixUpIsBeta(t *testing.T) {
	data := fatal.Get(os.ReadFile("testdata/mixup_beta.json"))(t)
	var golden struct {
		Cases []struct {
			Alpha             float64
			Levels, Quantiles []float64
			Mean, Variance    float64
		}
	}
	fatal.If(t, json.Unmarshal(data, &golden))
	if len(golden.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range golden.Cases {
		var intra, inter []float64
		for i := range 20000 {
			m := drawMixUp(stream(uint64(i)), Dims{Domains: 3, PerDomain: 1}, c.Alpha)
			intra = append(intra, m.intra...)
			inter = append(inter, m.inter...)
		}
		for name, draws := range map[string][]float64{"intra": intra, "inter": inter} {
			n := float64(len(draws))
			slices.Sort(draws)
			for i, p := range c.Levels {
				above, _ := slices.BinarySearchFunc(draws, c.Quantiles[i], func(x, q float64) int {
					if x <= q {
						return -1
					}
					return 1
				})
				if share := float64(above) / n; !(math.Abs(share-p) <= 4*math.Sqrt(p*(1-p)/n)) {
					t.Errorf("%s, alpha %v: share %v of draws up to the quantile of level %v", name, c.Alpha, share, p)
				}
			}
			var sum, squares float64
			for _, x := range draws {
				if !(x >= 0 && x <= 1) {
					t.Fatalf("%s, alpha %v: draw %v", name, c.Alpha, x)
				}
				sum += x
				squares += (x - c.Mean) * (x - c.Mean)
			}
			if d := sum/n - c.Mean; math.Abs(d) > 4*math.Sqrt(c.Variance/n) {
				t.Errorf("%s, alpha %v: mean is off by %v", name, c.Alpha, d)
			}
			if v := squares / n; math.Abs(v/c.Variance-1) > 0.02 {
				t.Errorf("%s, alpha %v: variance %v, want %v", name, c.Alpha, v, c.Variance)
			}
		}
	}
}

func TestMixUpShape(t *testing.T) {
	for k, pairs := range []int{1: 0, 2: 1, 3: 3, 4: 6} {
		if k == 0 {
			continue
		}
		d := Dims{Domains: k, PerDomain: 5}
		m, again, other := drawMixUp(stream(7), d, 0.2), drawMixUp(stream(7), d, 0.2), drawMixUp(stream(8), d, 0.2)
		if !reflect.DeepEqual(m, again) {
			t.Errorf("K = %d: draws of one iteration differ", k)
		}
		if reflect.DeepEqual(m, other) {
			t.Errorf("K = %d: draws of two iterations are equal", k)
		}
		if len(m.intra) != k || len(m.inter) != pairs || len(m.partner) != 5*k {
			t.Errorf("K = %d: %d, %d and %d draws", k, len(m.intra), len(m.inter), len(m.partner))
		}
		for d := range k {
			own := slices.Sorted(slices.Values(m.partner[5*d : 5*(d+1)]))
			for i, p := range own {
				if int(p) != 5*d+i {
					t.Errorf("K = %d: partners of domain %d are %v", k, d, m.partner[5*d:5*(d+1)])
					break
				}
			}
		}
	}
}

func stream(iteration uint64) *rand.Rand { return seed.New(1, "mixup", 0, iteration) }
