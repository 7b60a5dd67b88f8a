// Package activetest checks that a query strategy keeps to the contract of
// [active.Strategy]. A new strategy is done when it passes:
//
//	func TestMine(t *testing.T) { activetest.Run(t, Mine{}) }
package activetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
)

const (
	candidates = 60
	labelled   = 9
	dim        = 5
	classes    = 4
	domains    = 3
)

// Run runs every check as a subtest. The strategy's weights and options are its
// own; they must be valid.
func Run(t *testing.T, s active.Strategy) {
	t.Helper()
	for _, check := range []struct {
		name string
		run  func(*testing.T, active.Strategy)
	}{
		{"picks are distinct candidates", distinct},
		{"the same stream gives the same picks", reproducible},
		{"inputs are not written to", untouched},
		{"only the needed arrays are looked at", needed},
		{"ties go to the lower index", ties},
		{"picks follow the IDs, not the rows", reversed},
		{"wrong numbers are errors", numbers},
		{"NaN is an error that names the row", nan},
		{"wrong shapes are errors", shapes},
		{"wrong IDs are errors", wrongIDs},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(t, s) })
	}
}

func stream() *rand.Rand { return rand.New(rand.NewPCG(7, 11)) }

// sample fills all arrays with random values, without ties.
func sample() *active.Candidates {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(rows, cols int) active.Matrix {
		m := active.Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
		return m
	}
	probs := func(rows, cols int) active.Matrix {
		m := normal(rows, cols)
		for i := range rows {
			p := make([]float64, cols)
			for j := range p {
				p[j] = float64(m.Data[i*cols+j])
			}
			active.Softmax(p, p)
			for j := range p {
				m.Data[i*cols+j] = float32(p[j])
			}
		}
		return m
	}
	c := &active.Candidates{
		Features:         normal(candidates, dim),
		ClassProbs:       probs(candidates, classes),
		DomainProbs:      probs(candidates, domains),
		LabelledFeatures: normal(labelled, dim),
	}
	for i := range candidates {
		c.IDs = append(c.IDs, fmt.Sprintf("sample-%02d", i))
		c.Domains = append(c.Domains, i%domains)
	}
	for i := range labelled {
		c.LabelledClasses = append(c.LabelledClasses, i%classes)
		c.LabelledDomains = append(c.LabelledDomains, i%domains)
	}
	return c
}

func query(t *testing.T, s active.Strategy, c *active.Candidates, n int) []active.Pick {
	t.Helper()
	picks, err := s.Query(c, n, stream())
	if err != nil {
		t.Fatalf("%d of %d: %v", n, len(c.IDs), err)
	}
	return picks
}

func distinct(t *testing.T, s active.Strategy) {
	for _, n := range []int{0, 1, 2, 13, candidates - 1, candidates} {
		c := sample()
		picks := query(t, s, c, n)
		if len(picks) != n {
			t.Fatalf("%d picks, want %d", len(picks), n)
		}
		seen := map[int]bool{}
		for _, p := range picks {
			if p.Index < 0 || p.Index >= candidates || seen[p.Index] {
				t.Fatalf("n=%d: index %d is not a candidate or is picked twice", n, p.Index)
			}
			seen[p.Index] = true
			if p.ID != c.IDs[p.Index] {
				t.Errorf("index %d has ID %q, want %q", p.Index, p.ID, c.IDs[p.Index])
			}
			for _, v := range []float64{p.Score, p.Su, p.Sr, p.Sd, p.R} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("index %d has the score %v", p.Index, v)
				}
			}
		}
	}
}

func reproducible(t *testing.T, s active.Strategy) {
	first := query(t, s, sample(), 13)
	if again := query(t, s, sample(), 13); !slices.Equal(first, again) {
		t.Errorf("picks %v, then %v", first, again)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if single := query(t, s, sample(), 13); !slices.Equal(first, single) {
		t.Errorf("picks %v, on one processor %v", first, single)
	}
}

func untouched(t *testing.T, s active.Strategy) {
	c := sample()
	query(t, s, c, 13)
	if !reflect.DeepEqual(c, sample()) {
		t.Error("the candidates have changed")
	}
}

func needed(t *testing.T, s active.Strategy) {
	c := sample()
	want := query(t, s, c, 13)
	for _, a := range arrays {
		if !s.Needs().Has(a.bit) {
			a.clear(c)
		}
	}
	c.Domains = nil
	if got := query(t, s, c, 13); !slices.Equal(got, want) {
		t.Errorf("with only %v: picks %v, want %v", s.Needs(), got, want)
	}
	for _, a := range arrays {
		if !s.Needs().Has(a.bit) || a.bit == active.LabelledFeatures {
			continue // some do without labelled samples
		}
		c := sample()
		a.clear(c)
		if _, err := s.Query(c, 1, stream()); err == nil {
			t.Errorf("no error without %v", a.bit)
		}
	}
}

// arrays are the arrays that a strategy may need.
var arrays = []struct {
	bit    active.Arrays
	clear  func(c *active.Candidates)
	matrix func(c *active.Candidates) *active.Matrix
}{
	{active.Features, func(c *active.Candidates) { c.Features = active.Matrix{} },
		func(c *active.Candidates) *active.Matrix { return &c.Features }},
	{active.ClassProbs, func(c *active.Candidates) { c.ClassProbs = active.Matrix{} },
		func(c *active.Candidates) *active.Matrix { return &c.ClassProbs }},
	{active.DomainProbs, func(c *active.Candidates) { c.DomainProbs = active.Matrix{} },
		func(c *active.Candidates) *active.Matrix { return &c.DomainProbs }},
	{active.LabelledFeatures, func(c *active.Candidates) { c.LabelledFeatures = active.Matrix{} },
		func(c *active.Candidates) *active.Matrix { return &c.LabelledFeatures }},
	{active.LabelledCells, func(c *active.Candidates) { c.LabelledClasses, c.LabelledDomains = nil, nil }, nil},
}

func ties(t *testing.T, s active.Strategy) {
	c := sample()
	for _, m := range []active.Matrix{c.Features, c.ClassProbs, c.DomainProbs} {
		for i := range candidates {
			copy(m.Data[i*m.Cols:(i+1)*m.Cols], m.Data[:m.Cols])
		}
	}
	query(t, s, c, candidates) // equal candidates can all be picked
	picks, err := s.Query(c, 13, nil)
	if err != nil {
		return // it draws
	}
	for k, p := range picks {
		if p.Index != k {
			t.Fatalf("pick %d of equal candidates is %d", k, p.Index)
		}
	}
}

func reversed(t *testing.T, s active.Strategy) {
	c := sample()
	picks, err := s.Query(c, 13, nil)
	if err != nil {
		t.Skip("the strategy draws by row")
	}
	want := picks
	slices.Reverse(c.IDs)
	for _, m := range []active.Matrix{c.Features, c.ClassProbs, c.DomainProbs} {
		for i := range candidates / 2 {
			a, b := m.Data[i*m.Cols:(i+1)*m.Cols], m.Data[(candidates-1-i)*m.Cols:(candidates-i)*m.Cols]
			for j := range a {
				a[j], b[j] = b[j], a[j]
			}
		}
	}
	for k, p := range query(t, s, c, 13) {
		if p.ID == want[k].ID {
			continue
		}
		// Scores have no ties, but weighted sums of ranks may; what comes after
		// such a tie can differ.
		if !p.Scored || p.R != want[k].R {
			t.Errorf("pick %d is %+v, of the reversed candidates %+v", k, want[k], p)
		}
		return
	}
}

func numbers(t *testing.T, s active.Strategy) {
	for _, n := range []int{-1, candidates + 1} {
		if picks, err := s.Query(sample(), n, stream()); err == nil || picks != nil {
			t.Errorf("%d of %d candidates: %d picks, error %v", n, candidates, len(picks), err)
		}
	}
	if _, err := s.Query(&active.Candidates{}, 1, stream()); err == nil {
		t.Error("no error for a pool that is exhausted")
	}
}

func nan(t *testing.T, s active.Strategy) {
	for _, a := range arrays {
		if !s.Needs().Has(a.bit) || a.matrix == nil {
			continue
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			c := sample()
			m := a.matrix(c)
			m.Data[5*m.Cols+1] = float32(bad)
			_, err := s.Query(c, 2, stream())
			if err == nil || !strings.Contains(err.Error(), "row 5") || !strings.Contains(err.Error(), fmt.Sprint(bad)) {
				t.Errorf("%v in row 5 of %v: error %v", bad, a.bit, err)
			}
		}
	}
}

func shapes(t *testing.T, s active.Strategy) {
	for _, a := range arrays {
		if !s.Needs().Has(a.bit) || a.matrix == nil {
			continue
		}
		c := sample()
		m := a.matrix(c)
		m.Data = m.Data[:len(m.Data)-1]
		if _, err := s.Query(c, 2, stream()); err == nil {
			t.Errorf("no error for %v without its last element", a.bit)
		}
		c = sample()
		m = a.matrix(c)
		m.Stride++
		if _, err := s.Query(c, 2, stream()); err == nil {
			t.Errorf("no error for %v with gaps", a.bit)
		}
	}
}

func wrongIDs(t *testing.T, s active.Strategy) {
	c := sample()
	c.IDs[3] = c.IDs[1]
	if _, err := s.Query(c, 2, stream()); err == nil || !strings.Contains(err.Error(), c.IDs[1]) {
		t.Errorf("two candidates of one ID: error %v", err)
	}
	c.IDs[3] = ""
	if _, err := s.Query(c, 2, stream()); err == nil {
		t.Error("no error for a candidate without ID")
	}
}
