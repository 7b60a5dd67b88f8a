package active

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// noise is rows of features that say nothing of their classes.
func noise(rows, cols int) (Matrix, []int) {
	r := seed.New(1, "noise")
	m, classes := Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}, make([]int, rows)
	for i := range m.Data {
		m.Data[i] = float32(r.NormFloat64())
	}
	for i := range classes {
		classes[i] = i % 4
	}
	return m, classes
}

// On the labels that it was fitted on a head is never too sure, so that the temperature
// is that of labels which it has not seen.
func TestTemperatureIsOfHeldOutLabels(t *testing.T) {
	m, classes := noise(80, 60)
	got := fatal.Get(heldOutTemperature(m, classes, 4))(t)
	h := fatal.Get(fitHead(m, classes, 4))(t)
	var logits [][]float64
	for i := range m.Rows {
		logits = append(logits, h.LogitsOf(make([]float64, 4), rowOf(m, i)))
	}
	own, _ := coolest(logits, classes, 4)
	if own != 1 || got < 2 {
		t.Errorf("temperature %v by held-out labels, %v by its own, want 2 or more and 1", got, own)
	}
	for _, n := range []int{1, 3} { // 30% of these round to zero
		if got, err := heldOutTemperature(firstRows(m, n), classes[:n], 4); got != 1 || err != nil {
			t.Errorf("%d labels: temperature %v, error %v", n, got, err)
		}
	}
}

// A strategy that looks at a part of the pool looks at the same part in whatever order
// the rows are, and asks of the others only when it has no more.
func TestPartOfThePool(t *testing.T) {
	ties := Ties{3, numbered(10)}
	first := func(rows []int, own Ties, n int) (picks []Pick) {
		for k := range n {
			if own.IDs[k] != ties.IDs[rows[k]] {
				t.Errorf("place %d is of row %d, with the ID %s", k, rows[k], own.IDs[k])
			}
			picks = append(picks, Pick{Index: k})
		}
		return picks
	}
	all := IDs(ties.subsample(4, 10, first))
	if slices.Sort(all); !slices.Equal(all, slices.Sorted(slices.Values(ties.IDs))) {
		t.Errorf("all of a pool of ten: %v", all)
	}
	part := IDs(ties.subsample(4, 4, first))
	back := Ties{3, slices.Clone(ties.IDs)}
	slices.Reverse(back.IDs)
	ties = back
	again := IDs(back.subsample(4, 4, first))
	if slices.Sort(part); !slices.Equal(part, slices.Sorted(slices.Values(again))) {
		t.Errorf("looks at %v, of the pool in reverse at %v", part, again)
	}
	for _, s := range Strategies(Options{Classes: 4}) {
		l, ok := s.(Limited)
		if !ok {
			continue
		}
		if note := l.Limits(5, 1000, 10); note != "" {
			t.Errorf("%s: of a small pool it says %q", s.Name(), note)
		}
		if note := l.Limits(5, 50_000, 10); !strings.Contains(note, "of the 50000 candidates it looks at ") {
			t.Errorf("%s: of a large pool it says %q", s.Name(), note)
		}
	}
}

// Above the numbers up to which all rows are used, clusters are still found, and the
// picks of one that is large are members of it.
func TestLargePools(t *testing.T) {
	const n = trainRows + 5000
	r := seed.New(1, "large")
	c := &Candidates{IDs: numbered(n), Features: Matrix{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}}
	at := func(i int) int { return i % 4 % 3 } // half of them in the first group
	for i := range n {
		x, y := []float32{1, 0, -1}[at(i)], []float32{0, 1, -1}[at(i)]
		c.Features.Data[2*i], c.Features.Data[2*i+1] = x+float32(r.NormFloat64()/50), y+float32(r.NormFloat64()/50)
	}
	for _, s := range []Strategy{KMeans{}, TypiClust{}} {
		var groups []int
		for _, p := range query(t, s, c, 3, seed.New(2, "large")) {
			groups = append(groups, at(p.Index))
		}
		if slices.Sort(groups); !slices.Equal(groups, []int{0, 1, 2}) {
			t.Errorf("%s: picks of the groups %v, want one of each", s.Name(), groups)
		}
	}
}
