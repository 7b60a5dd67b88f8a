package review_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/labels/review"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Two classes, thresholds (0.9+0.8+0.1)/3 = 0.6 and (0.7+0.6)/2 = 0.65: row 2, which was
// given class 0 at 0.1, reaches that of class 1 alone, and so is counted off the diagonal.
// Row 3, which was given class 1 at 0.7, is the only one of its order. One label is likely
// wrong.
func TestSuspiciousByHand(t *testing.T) {
	p := []float64{0.9, 0.1, 0.8, 0.2, 0.1, 0.9, 0.3, 0.7, 0.4, 0.6}
	list := fatal.Get(review.Suspicious(p, []int{0, 0, 0, 1, 1}, 2))(t)
	var rows []int
	for i, s := range list {
		rows = append(rows, s.Row)
		if s.Likely != (i == 0) {
			t.Errorf("%+v", s)
		}
	}
	if !slices.Equal(rows, []int{2, 4, 3, 1, 0}) || list[0].Class != 1 || list[0].Own != 0.1 || list[0].Other != 0.9 {
		t.Errorf("the order is %v, the first %+v", rows, list[0])
	}
	for _, c := range []struct {
		p       []float64
		labels  []int
		classes int
	}{
		{p, []int{0, 0, 0, 1}, 2}, {p, []int{0, 0, 0, 1, 2}, 2}, {p, []int{0, 0, 0, 1, -1}, 2}, {p, nil, 1},
		{[]float64{1.5, -0.5}, []int{0}, 2},
	} {
		if list, err := review.Suspicious(c.p, c.labels, c.classes); err == nil {
			t.Errorf("%+v gives %v", c, list)
		}
	}
}

// precision is the average precision of an order, in which some rows are right.
func precision(order []int, right []bool) float64 {
	found, sum := 0, 0.0
	for i, row := range order {
		if right[row] {
			found++
			sum += float64(found) / float64(i+1)
		}
	}
	return sum / float64(found)
}

// The order and the probable errors equal cleanlab's on the same probabilities, and no order of
// cleanlab finds changed labels with higher average precision.
func TestSuspiciousAgainstCleanlab(t *testing.T) {
	data := fatal.Get(os.ReadFile("testdata/cleanlab.json"))(t)
	var cases []struct {
		Classes       int
		Probabilities []float64
		Labels        []int `json:"given"`
		Flipped       []bool
		Ranked        []int
		Likely        []int
		Precision     map[string]float64
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) != 5 {
		t.Fatal(len(cases), err)
	}
	mean := make(map[string]float64)
	for k, c := range cases {
		list := fatal.Get(review.Suspicious(c.Probabilities, c.Labels, c.Classes))(t)
		var rows, likely []int
		for _, s := range list {
			if rows = append(rows, s.Row); s.Likely {
				likely = append(likely, s.Row)
			}
		}
		if !slices.Equal(rows, c.Ranked) {
			t.Errorf("case %d: the order is %v, cleanlab's %v", k, rows, c.Ranked)
		}
		want := slices.DeleteFunc(c.Likely, func(i int) bool { // cleanlab's may be the most probable all the same
			p := c.Probabilities[i*c.Classes : (i+1)*c.Classes]
			return slices.Max(p) == p[c.Labels[i]]
		})
		if !slices.Equal(likely, want) {
			t.Errorf("case %d: likely are %v, cleanlab's %v", k, likely, want)
		}
		mean["own"] += precision(rows, c.Flipped)
		for name, v := range c.Precision {
			mean[name] += v
		}
	}
	for name, v := range mean {
		if v > mean["own"]+1e-9 {
			t.Errorf("by %s cleanlab has the average precision %.4f, this order %.4f", name, v/5, mean["own"]/5)
		}
	}
}

// Of three clouds a row that was given another's class is judged by heads that have not seen
// it; rows of one group are never judged by each other.
func TestOutOfSample(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, d, classes = 60, 8, 3
	m := head.Matrix{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	labels := make([]int, n)
	for i := range n {
		labels[i] = i % classes
		for j := range d {
			m.Data[i*d+j] = float32(0.5 * r.NormFloat64())
		}
		m.Data[i*d+labels[i]] += 3
	}
	labels[7], labels[20] = 2, 0 // were 1 and 2
	p := fatal.Get(review.OutOfSample(m, labels, classes, nil, rand.New(rand.NewPCG(3, 4))))(t)
	list := fatal.Get(review.Suspicious(p, labels, classes))(t)
	first := []int{list[0].Row, list[1].Row}
	slices.Sort(first)
	if !slices.Equal(first, []int{7, 20}) || !list[0].Likely || !list[1].Likely || list[2].Likely {
		t.Errorf("the most suspicious are %+v", list[:3])
	}
	for i := range n {
		sum := 0.0
		for _, v := range p[i*classes : (i+1)*classes] {
			sum += v
		}
		if sum < 1-1e-9 || sum > 1+1e-9 {
			t.Errorf("row %d: the probabilities have the sum %v", i, sum)
		}
	}
	// Eight copies of one image, all with the wrong class: among themselves they agree, in one
	// group nobody else does.
	groups := make([]int, n)
	for i := range groups {
		groups[i] = i
	}
	for i := range 8 {
		copy(m.Data[(n-1-i)*d:(n-i)*d], m.Data[:d]) // of class 0
		labels[n-1-i], groups[n-1-i] = 1, n
	}
	own := func(groups []int) float64 {
		p := fatal.Get(review.OutOfSample(m, labels, classes, groups, rand.New(rand.NewPCG(3, 4))))(t)
		return p[(n-1)*classes+1]
	}
	if apart, together := own(nil), own(groups); apart < 0.5 || together > 0.1 {
		t.Errorf("copies give their own class %v each by itself, and %v in a group", apart, together)
	}
	if _, err := review.OutOfSample(m, labels[1:], classes, nil, r); err == nil {
		t.Error("a row without a class is taken")
	}
}
