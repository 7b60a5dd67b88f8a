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
func Duplicates(ctx context.Context, features head.Matrix, progress func(share float64)) ([]Pair, error) {
	n, d := features.Rows, features.Cols
	if n > MaxRows {
		return nil, fmt.Errorf("review: %d rows, at most %d are compared with each other", n, MaxRows)
	}
	const block = 256
	blocks := (n + block - 1) / block
	lengths := make([]float64, n)
	packed := make([]*dot.Packed, blocks)
	if err := dot.Each(blocks, 1, func(b, _ int) error {
		for i := b * block; i < min(n, (b+1)*block); i++ {
			lengths[i] = math.Sqrt(dot.Square(features.Data[i*d : (i+1)*d]))
		}
		packed[b] = dot.Pack(features.Data[b*block*d:min(n, (b+1)*block)*d], d)
		return ctx.Err()
	}); err != nil {
		return nil, context.Cause(ctx)
	}
	var mu sync.Mutex
	var done int
	var spare []*search
	var all []*search
	take := func() *search {
		mu.Lock()
		defer mu.Unlock()
		if len(spare) == 0 {
			all = append(all, &search{near: make([]nearest, n)})
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
		for o := b; o < blocks; o++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			columns := packed[o].Len()
			s.products = slices.Grow(s.products[:0], packed[b].Len()*columns)[:packed[b].Len()*columns]
			dot.Products(s.products, packed[b], packed[o])
			for x := b * block; x < min(n, (b+1)*block); x++ {
				for y := max(x+1, o*block); y < o*block+columns; y++ {
					if lengths[x] == 0 || lengths[y] == 0 {
						continue
					}
					away := max(0, 1-s.products[(x-b*block)*columns+y-o*block]/(lengths[x]*lengths[y]))
					s.near[x].add(neighbour{y, away})
					s.near[y].add(neighbour{x, away})
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
	near     []nearest
	products []float64
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
