package active

import (
	"fmt"
	"math/rand/v2"

	linear "github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// DropQuery selects samples whose predicted class changes under feature dropout (Gupte et al.
// 2024, "Revisiting Active Learning in the Era of Vision Foundation Models"). Three dropout
// passes with rate 0.75 classify each candidate by a logistic regression on the labelled
// features. Candidates that change class in more than one pass are eligible; if these are fewer
// than 25 n, those that change in at least one. [KMeans] picks n of them. Too few are all taken
// and filled up at random.
type DropQuery struct {
	head *linear.Linear // if it is fitted already
	// TieSeed orders candidates of equal distance; see [Ties].
	TieSeed uint64
}

const (
	dropPasses     = 3
	dropRate       = 0.75
	dropCandidates = 25 // for each queried label
)

func (DropQuery) Name() string { return "dropquery" }

func (DropQuery) Needs() Arrays { return Features | LabelledFeatures | LabelledClasses }

// Query returns n candidates. The score of each is the size of its cluster, 0 for a random one.
func (s DropQuery) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkDraw(s.Needs(), n, r); err != nil {
		return nil, failed(s, err)
	}
	if n == 0 {
		return []Pick{}, nil
	}
	f, err := s.fit(c)
	if err != nil {
		return nil, failed(s, err)
	}
	h := f.(DropQuery).head
	clean, passes := dropped(h, c.Features, r)
	_, rows := unsteady(mismatches(passes, clean), make([]bool, len(c.IDs)), n, dropPasses)
	ties := Ties{s.TieSeed, c.IDs}
	if len(rows) < n {
		return withOthers(rows, ties, n, r), nil
	}
	picks := representatives(unitRows(c.Features, rows), ties.of(rows), n, r)
	for k := range picks {
		picks[k].Index = rows[picks[k].Index]
	}
	return picks, nil
}

// fit fits the head, unless it is there.
func (s DropQuery) fit(c *Candidates) (Strategy, error) {
	if s.head != nil {
		return s, nil
	}
	classes := 0
	for _, h := range c.LabelledClasses {
		classes = max(classes, h+1)
	}
	if classes == 0 {
		return nil, fmt.Errorf("no labelled samples to fit a head on: begin with kmeans")
	}
	var err error
	s.head, err = fitHead(c.LabelledFeatures, c.LabelledClasses, classes)
	return s, err
}

// fitHead fits the head of strategies that need one of their own.
func fitHead(features Matrix, classes []int, n int) (*linear.Linear, error) {
	return linear.Fit(features, classes, n, linear.Options{Cs: []float64{1}})
}

// dropped returns the class that a head predicts for each row, and in each pass.
func dropped(h *linear.Linear, features Matrix, r *rand.Rand) (clean []int, passes [dropPasses][]int) {
	n, d := features.Rows, features.Cols
	var seeds [2]uint64
	seeds[0], seeds[1] = r.Uint64(), r.Uint64()
	clean = h.Predict(features)
	for k := range passes {
		passes[k] = make([]int, n)
		_ = dot.Each(n, chunkRows, func(first, last int) error {
			m := Matrix{Rows: last - first, Cols: d, Stride: d, Data: make([]float32, (last-first)*d)}
			draw := rand.NewPCG(seeds[0]+uint64(k), seeds[1]+uint64(first))
			var bits uint64
			for i, v := range features.Data[first*d : last*d] {
				if i%32 == 0 {
					bits = draw.Uint64()
				}
				if bits&3 == 0 { // one in four
					m.Data[i] = v / (1 - dropRate)
				}
				bits >>= 2
			}
			copy(passes[k][first:last], h.Predict(m))
			return nil
		})
	}
	return clean, passes
}

// mismatches returns in how many passes the class of each row is not the clean one.
func mismatches[T ~[]int](passes [dropPasses]T, clean []int) []int {
	n := make([]int, len(clean))
	for _, pass := range passes {
		for i, class := range pass {
			if class != clean[i] {
				n[i]++
			}
		}
	}
	return n
}

// unsteady returns the rows that are not labelled whose mismatches are above a
// threshold, which starts at half of the passes and goes down while they are fewer
// than 25 n.
func unsteady(mismatch []int, labelled []bool, n, passes int) (threshold int, rows []int) {
	for threshold = passes / 2; ; threshold-- {
		rows = nil
		for i, m := range mismatch {
			if m > threshold && !labelled[i] {
				rows = append(rows, i)
			}
		}
		if threshold == 0 || len(rows) >= dropCandidates*n {
			return threshold, rows
		}
	}
}

// withOthers returns rows, in the order of ties, and others drawn, n in all.
func withOthers(rows []int, ties Ties, n int, r *rand.Rand) []Pick {
	taken := make([]bool, len(ties.IDs))
	for _, i := range rows {
		taken[i] = true
	}
	ties.sort(rows)
	var rest []int
	for i, done := range taken {
		if !done {
			rest = append(rest, i)
		}
	}
	r.Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
	picks := make([]Pick, 0, n)
	for _, i := range append(rows, rest...)[:n] {
		picks = append(picks, Pick{Index: i, ID: ties.IDs[i]})
	}
	return picks
}
