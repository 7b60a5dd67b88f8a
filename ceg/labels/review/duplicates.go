package review

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Pair is two near-duplicate rows, A before B.
type Pair struct {
	A, B int
	// Distance is the cosine distance of their features.
	Distance float64
}

const (
	// neighbours is up to which of its nearest neighbours a row is compared.
	neighbours = 10
	// nearShare is which share of the distances to their tenth neighbours two rows may be
	// apart to be nearly the same. Of 100 PACS photos that were compressed, cropped,
	// mirrored, brightened or scaled down, among 400 others, it finds 98, and no other
	// pair, by features of EfficientNet-Lite0 at 224 pixels (n = 1 draw).
	nearShare = 0.3
	// MaxRows is the largest number of rows that are compared; time is quadratic.
	MaxRows = 20000
)

// Duplicates returns pairs of near-duplicate rows [rows, D], nearest first. Their distance is at
// most 0.3 times the geometric mean of both rows' distances to the tenth nearest neighbour, or
// to the last if there are fewer. The threshold thus adapts to the local density of the pool and
// to the network. Groups of more than ten near-duplicates give only few pairs. A zero row has no
// duplicates. progress, which may be nil, is called with the share done, in (0, 1].
//
// Distances are estimated in float32 in blocks of matrix products. Those that may be among the
// ten smallest of a row, within the error bound of the estimate, are computed in float64.
func Duplicates(ctx context.Context, features head.Matrix, progress func(share float64)) ([]Pair, error) {
	n, d := features.Rows, features.Cols
	if n > MaxRows {
		return nil, fmt.Errorf("review: %d rows, at most %d are compared with each other", n, MaxRows)
	}
	const block = 256
	blocks := (n + block - 1) / block
	row := func(i int) []float32 { return features.Data[i*d : (i+1)*d] }
	lengths := make([]float64, n)
	panels := make([]*dot.Panels, blocks) // of rows of unit length
	units := func(dst []float64, b int) []float64 {
		dst = dst[:0]
		for i := b * block; i < min(n, (b+1)*block); i++ {
			for _, v := range row(i) {
				dst = append(dst, float64(v)/max(lengths[i], math.SmallestNonzeroFloat64))
			}
		}
		return dst
	}
	if err := dot.Each(blocks, 1, func(b, _ int) error {
		for i := b * block; i < min(n, (b+1)*block); i++ {
			lengths[i] = math.Sqrt(dot.Square(row(i)))
		}
		panels[b] = dot.NewPanels(units(make([]float64, 0, block*d), b), d)
		return ctx.Err()
	}); err != nil {
		return nil, context.Cause(ctx)
	}
	slack := dot.EstimateError(d) + 1e-9 // float64 and float32 underflow are within 1e-9
	var mu sync.Mutex
	var done int
	var spare []*search
	var all []*search
	take := func() *search {
		mu.Lock()
		defer mu.Unlock()
		if len(spare) == 0 {
			all = append(all, newSearch(n))
			spare = append(spare, all[len(all)-1])
		}
		s := spare[len(spare)-1]
		spare = spare[:len(spare)-1]
		return s
	}
	give := func(s *search, compared int) {
		mu.Lock()
		defer mu.Unlock()
		spare = append(spare, s)
		if done += compared; progress != nil {
			progress(float64(done) / float64(blocks*(blocks+1)/2))
		}
	}
	err := dot.Each(blocks, 1, func(b, _ int) error {
		s := take()
		defer give(s, blocks-b)
		s.units = units(s.units, b)
		dot.SetStrips(&s.strips, s.units, d)
		for o := b; o < blocks; o++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			size, stride := dot.EstimateSize(s.strips.Len(), panels[o].Len())
			s.estimates = slices.Grow(s.estimates[:0], size)[:size]
			dot.Estimate(s.estimates, &s.strips, panels[o])
			for x := b * block; x < min(n, (b+1)*block); x++ {
				if lengths[x] == 0 {
					continue
				}
				var v dot.Vector
				known := false
				first := max(x+1, o*block)
				estimates := s.estimates[(x-b*block)*stride+first-o*block:]
				for y := first; y < min(n, (o+1)*block); y++ {
					if e := estimates[y-first]; e < min(s.least[x], s.least[y]) || lengths[y] == 0 {
						continue
					}
					if !known {
						v, known = dot.NewVector(row(x)), true
					}
					away := max(0, 1-dot.Product(row(y), v)/(lengths[x]*lengths[y]))
					s.add(x, neighbour{y, away}, slack)
					s.add(y, neighbour{x, away}, slack)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	near := make([]nearest, n)
	for _, s := range all {
		for i, list := range s.near {
			for _, v := range list {
				near[i].add(v)
			}
		}
	}
	var pairs []Pair
	for a, list := range near {
		for _, v := range list {
			b := v.row
			if reach := math.Sqrt(list[len(list)-1].away * near[b][len(near[b])-1].away); v.away <= nearShare*reach {
				pairs = append(pairs, Pair{min(a, b), max(a, b), v.away})
			}
		}
	}
	slices.SortFunc(pairs, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(p.Distance, q.Distance), cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B))
	})
	return slices.Compact(pairs), nil
}

// search is what one goroutine has found.
type search struct {
	near []nearest
	// least is the smallest estimated cosine of each row at which a row may still be among the
	// nearest.
	least     []float32
	units     []float64
	strips    dot.Strips
	estimates []float32
}

func newSearch(n int) *search {
	s := &search{near: make([]nearest, n), least: make([]float32, n)}
	for i := range s.least {
		s.least[i] = float32(math.Inf(-1))
	}
	return s
}

// add adds a neighbour of a row. slack bounds the error of an estimated cosine.
func (s *search) add(row int, v neighbour, slack float64) {
	s.near[row].add(v)
	if list := s.near[row]; len(list) == neighbours {
		s.least[row] = math.Nextafter32(float32(1-list[neighbours-1].away-slack), -2)
	}
}

// Groups clusters near-duplicate rows and returns the group of each, which is a row of it. Rows
// that share a known group stay together; known may be nil. progress is that of [Duplicates].
func Groups(ctx context.Context, features head.Matrix, known []int, progress func(share float64)) ([]int, error) {
	groups := make([]int, features.Rows)
	for i := range groups {
		groups[i] = i
	}
	root := func(i int) int {
		for groups[i] != i {
			i = groups[i]
		}
		return i
	}
	join := func(a, b int) { groups[max(root(a), root(b))] = min(root(a), root(b)) }
	first := make(map[int]int)
	for i, g := range known {
		if k, ok := first[g]; ok {
			join(k, i)
		} else {
			first[g] = i
		}
	}
	pairs, err := Duplicates(ctx, features, progress)
	for _, p := range pairs {
		join(p.A, p.B)
	}
	for i := range groups {
		groups[i] = root(i)
	}
	return groups, err
}

// neighbour is another row and how far it is away.
type neighbour struct {
	row  int
	away float64
}

// nearest are the nearest neighbours of a row, the nearest first; among equally near ones the
// lower rows.
type nearest []neighbour

func (l *nearest) add(v neighbour) {
	if len(*l) == neighbours && v.compare((*l)[neighbours-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(*l, v, neighbour.compare)
	if len(*l) == neighbours {
		*l = (*l)[:neighbours-1]
	}
	*l = slices.Insert(*l, at, v)
}

func (v neighbour) compare(w neighbour) int {
	return cmp.Or(cmp.Compare(v.away, w.away), cmp.Compare(v.row, w.row))
}
