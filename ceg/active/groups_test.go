package active_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/activetest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// inGroups gives every candidate the group of its place: the contract holds for a strategy
// whose groups are of one candidate each, or of several.
type inGroups struct {
	active.Strategy
	size int
}

func (s inGroups) Query(c *active.Candidates, n int, r *rand.Rand) ([]active.Pick, error) {
	own := *c
	own.Groups = make([]int, len(c.IDs))
	for i, id := range c.IDs {
		k := 0
		fmt.Sscanf(id, "sample-%d", &k)
		own.Groups[i] = k / s.size
	}
	return active.Grouped{Strategy: s.Strategy, TieSeed: 3}.Query(&own, n, r)
}

func TestGroupedKeepsTheContract(t *testing.T) {
	o := active.Options{Weights: active.Gammas(3, 1), Classes: 4, TieSeed: 5}
	for _, name := range []string{"ceg", "ceg-balanced", "uniform", "bvsb", "coreset", "typiclust", "badge"} {
		s := fatal.Get(active.ByName(name, o))(t)
		sizes := []int{1, 4}
		if s.Needs().Has(active.ClassProbs) && name != "badge" { // it compares two that would be of one group
			sizes = sizes[:1]
		}
		for _, size := range sizes {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) { activetest.Run(t, inGroups{s, size}) })
		}
	}
}

// Candidates in bursts of five near-duplicates: every strategy queries one of each burst before a
// second, and bursts with labels last. Without groups the scores of bursts put several into one
// query.
func TestGrouped(t *testing.T) {
	const groups, size, classes, domains, dim = 12, 5, 3, 2, 6
	r := rand.New(rand.NewPCG(1, 2))
	near := func(rows, per, cols int) active.Matrix {
		m := active.Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range rows {
			for j := range cols {
				if i%per == 0 {
					m.Data[i*cols+j] = float32(r.NormFloat64())
				} else {
					m.Data[i*cols+j] = m.Data[(i-1)*cols+j] + 1e-3*float32(r.NormFloat64())
				}
			}
		}
		return m
	}
	const n = groups * size
	c := &active.Candidates{Features: near(n, size, dim), ClassLogits: near(n, size, classes), DomainLogits: near(n, size, domains),
		LabelledFeatures: near(6, 1, dim), LabelledClassLogits: near(6, 1, classes), LabelledGroups: []int{0, 1, 1, groups, groups + 1, groups + 1}}
	for i := range n {
		c.IDs, c.Domains, c.Groups = append(c.IDs, fmt.Sprintf("%02d-%d", i/size, i%size)), append(c.Domains, i/size%domains), append(c.Groups, i/size)
	}
	for i := range 6 {
		c.LabelledClasses, c.LabelledDomains = append(c.LabelledClasses, i%classes), append(c.LabelledDomains, i%domains)
	}
	leaks := 0
	for _, s := range active.Strategies(active.Options{Weights: active.Gammas(3, 1), Classes: classes, TieSeed: 5}) {
		for _, d := range []active.Division{active.Pooled, active.ByStratum} {
			s := fatal.Get(active.Divide(s, d))(t)
			stream := func() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }
			plain := fatal.Get(s.Query(c, groups, stream()))(t)
			seen := map[int]bool{}
			for _, p := range plain {
				if seen[c.Groups[p.Index]] {
					leaks++
					break
				}
				seen[c.Groups[p.Index]] = true
			}
			for _, n := range []int{0, 1, groups - 2, groups, 3 * groups, n} {
				picks, err := active.Grouped{Strategy: s, TieSeed: 9}.Query(c, n, stream())
				if err != nil || len(picks) != n {
					t.Fatalf("%s: %d picks of %d: %v", s.Name(), len(picks), n, err)
				}
				queried := map[int]int{0: 1, 1: 2}
				for _, p := range picks {
					least := size + 1
					for g := range groups {
						if rest := size + map[int]int{0: 1, 1: 2}[g] - queried[g]; rest > 0 {
							least = min(least, queried[g])
						}
					}
					g := c.Groups[p.Index]
					if queried[g] != least || c.IDs[p.Index] != p.ID {
						t.Fatalf("%s, %s: %s is number %d of its group, and there are groups with %d", s.Name(), d, p.ID, queried[g]+1, least)
					}
					queried[g]++
				}
				slices.SortFunc(picks, func(a, b active.Pick) int { return a.Index - b.Index })
				for i := 1; i < len(picks); i++ {
					if picks[i].Index == picks[i-1].Index {
						t.Fatalf("%s: %s twice", s.Name(), picks[i].ID)
					}
				}
			}
		}
	}
	if leaks < 10 {
		t.Errorf("without groups %d queries ask twice about a group: the test shows nothing", leaks)
	}
	if _, err := (active.Grouped{Strategy: active.Uniform{}}).Query(&active.Candidates{IDs: []string{"a"}}, 1, nil); err == nil {
		t.Error("no groups: no error")
	}
}
