// Package activetest tests that a query strategy keeps the contract of [active.Strategy]. Call
// it from the test of a new strategy; active.NewScored makes one of a scoring function:
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
	"github.com/ledg-go/ledg/ceg/active/head"
)

const (
	candidates = 60
	labelled   = 9
	dim        = 5
	classes    = 4
	domains    = 3
)

// Run tests the strategy, one subtest for each property. Its weights and options must be valid.
func Run(t *testing.T, s active.Strategy) {
	t.Helper()
	for _, check := range []struct {
		name string
		run  func(*testing.T, active.Strategy)
	}{
		{"picks are distinct candidates", distinct},
		{"a pool may be tiny", tiny},
		{"the same stream gives the same picks", reproducible},
		{"inputs are not written to", untouched},
		{"only the needed arrays are looked at", needed},
		{"ties do not go by rows", ties},
		{"picks follow the IDs, not the rows", reversed},
		{"logits and their softmax give the same picks", logits},
		{"saturated outputs are told apart", saturated},
		{"wrong numbers are errors", numbers},
		{"NaN is an error that names the row", nan},
		{"wrong shapes are errors", shapes},
		{"wrong IDs are errors", wrongIDs},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(t, s) })
	}
}

func stream() *rand.Rand { return rand.New(rand.NewPCG(7, 11)) }

// sample fills all arrays with random values, without ties, and with probabilities.
func sample() *active.Candidates {
	c := sampleLogits()
	c.ClassProbs, c.DomainProbs = head.SoftmaxRows(c.ClassLogits), head.SoftmaxRows(c.DomainLogits)
	c.LabelledClassProbs = head.SoftmaxRows(c.LabelledClassLogits)
	c.ClassLogits, c.DomainLogits, c.LabelledClassLogits = active.Matrix{}, active.Matrix{}, active.Matrix{}
	return c
}

// sampleLogits is sample before softmax.
func sampleLogits() *active.Candidates {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(rows, cols int) active.Matrix {
		m := active.Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
		return m
	}
	c := &active.Candidates{
		Features:         normal(candidates, dim),
		ClassLogits:      normal(candidates, classes),
		DomainLogits:     normal(candidates, domains),
		LabelledFeatures: normal(labelled, dim),

		LabelledClassLogits: normal(labelled, classes),
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

// tiny queries pools that are smaller than the number of classes, where nothing is labelled, too.
func tiny(t *testing.T, s active.Strategy) {
	for rows := 1; rows < classes; rows++ {
		for _, clear := range []func(*active.Candidates){
			func(*active.Candidates) {},
			func(c *active.Candidates) {
				c.LabelledFeatures, c.LabelledClassProbs = active.Matrix{}, active.Matrix{}
				c.LabelledClasses, c.LabelledDomains = nil, nil
			},
		} {
			c := sample()
			clear(c)
			c.IDs, c.Domains = c.IDs[:rows], c.Domains[:rows]
			for _, m := range []*active.Matrix{&c.Features, &c.ClassProbs, &c.DomainProbs} {
				m.Rows, m.Data = rows, m.Data[:rows*m.Cols]
			}
			for n := range rows + 1 {
				if picks, err := s.Query(c, n, stream()); err == nil && len(picks) != n {
					t.Errorf("%d picks of %d, want %d", len(picks), rows, n)
				} else if err != nil && c.LabelledFeatures.Rows > 0 {
					t.Errorf("%d of %d: %v", n, rows, err)
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
		// A strategy that needs the cells needs both parts of them.
		if part := active.LabelledClasses | active.LabelledDomains; !s.Needs().Has(a.bit) &&
			!(s.Needs().Has(active.LabelledCells) && part.Has(a.bit)) &&
			!(a.bit == active.LabelledCells && s.Needs()&part != 0) {
			a.clear(c)
		}
	}
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
		func(c *active.Candidates) *active.Matrix { return firstNonNil(&c.ClassLogits, &c.ClassProbs) }},
	{active.DomainProbs, func(c *active.Candidates) { c.DomainProbs = active.Matrix{} },
		func(c *active.Candidates) *active.Matrix { return firstNonNil(&c.DomainLogits, &c.DomainProbs) }},
	{active.LabelledFeatures, func(c *active.Candidates) { c.LabelledFeatures = active.Matrix{} },
		func(c *active.Candidates) *active.Matrix { return &c.LabelledFeatures }},
	{active.LabelledCells, func(c *active.Candidates) { c.LabelledClasses, c.LabelledDomains = nil, nil }, nil},
	{active.Domains, func(c *active.Candidates) { c.Domains = nil }, nil},
	{active.LabelledClasses, func(c *active.Candidates) { c.LabelledClasses = nil }, nil},
	{active.LabelledDomains, func(c *active.Candidates) { c.LabelledDomains = nil }, nil},
	{active.LabelledProbs, func(c *active.Candidates) {
		c.LabelledClassLogits, c.LabelledClassProbs = active.Matrix{}, active.Matrix{}
	}, func(c *active.Candidates) *active.Matrix {
		return firstNonNil(&c.LabelledClassLogits, &c.LabelledClassProbs)
	}},
}

// firstNonNil returns the logits if there are any.
func firstNonNil(logits, probs *active.Matrix) *active.Matrix {
	if logits.Cols > 0 {
		return logits
	}
	return probs
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
	want := active.IDs(picks)
	reverse(c)
	if got := active.IDs(query(t, s, c, 13)); !slices.Equal(got, want) {
		t.Errorf("of equal candidates %v are picked, of the same in reverse %v", want, got)
	}
	slices.Sort(want)
	if want[12] == "sample-12" {
		t.Errorf("of equal candidates those with the lowest IDs are picked: %v", want)
	}
}

// reverse turns round the rows of the candidates.
func reverse(c *active.Candidates) {
	slices.Reverse(c.IDs)
	slices.Reverse(c.Domains)
	for _, m := range []active.Matrix{c.Features, c.ClassLogits, c.DomainLogits, c.ClassProbs, c.DomainProbs} {
		for i := range m.Rows / 2 {
			a, b := m.Data[i*m.Cols:(i+1)*m.Cols], m.Data[(m.Rows-1-i)*m.Cols:(m.Rows-i)*m.Cols]
			for j := range a {
				a[j], b[j] = b[j], a[j]
			}
		}
	}
}

func reversed(t *testing.T, s active.Strategy) {
	c := sample()
	picks, err := s.Query(c, 13, nil)
	if err != nil {
		t.Skip("the strategy draws by row")
	}
	reverse(c)
	if got, want := active.IDs(query(t, s, c, 13)), active.IDs(picks); !slices.Equal(got, want) {
		t.Errorf("picks %v, of the reversed candidates %v", want, got)
	}
}

func logits(t *testing.T, s active.Strategy) {
	want, got := active.IDs(query(t, s, sample(), 13)), active.IDs(query(t, s, sampleLogits(), 13))
	if !slices.Equal(got, want) {
		t.Errorf("picks %v by probabilities, %v by the logits", want, got)
	}
}

// saturated gives logits so far apart that the largest probability is 1 in float32,
// and mostly in float64, of every candidate. The surer a head is the less uncertain
// and the more representative is the candidate, with one softmax and with two.
func saturated(t *testing.T, s active.Strategy) {
	_, byScores := s.(active.Scored)
	for _, scale := range []float64{0.5, 2.5, 30} {
		c := sampleLogits()
		r := rand.New(rand.NewPCG(3, 4))
		gaps := func(m active.Matrix) []float64 {
			gaps := make([]float64, m.Rows)
			for i, k := range r.Perm(m.Rows) {
				gaps[i] = 18 + scale*float64(k)
				top := r.IntN(m.Cols)
				for j := range m.Cols {
					v := 7 - gaps[i] - float64(j)
					if j == top {
						v = 7
					} else if top == 0 {
						v++ // of the others the first is always that far away
					}
					m.Data[i*m.Cols+j] = float32(v)
				}
			}
			return gaps
		}
		class, domain := gaps(c.ClassLogits), gaps(c.DomainLogits)
		picks := query(t, s, c, candidates)
		for k, p := range picks {
			for _, q := range picks[:k] { // picked before p
				switch i, j := p.Index, q.Index; {
				case p.Scored && s.Needs().Has(active.Domains) && c.Domains[i] != c.Domains[j]:
				case p.Scored && (class[i] < class[j]) != (p.RankSu < q.RankSu):
					t.Fatalf("gaps of %v between classes have the ranks %d, %d", []float64{class[i], class[j]}, p.RankSu, q.RankSu)
				case p.Scored && (domain[i] > domain[j]) != (p.RankSr < q.RankSr):
					t.Fatalf("gaps of %v between domains have the ranks %d, %d", []float64{domain[i], domain[j]}, p.RankSr, q.RankSr)
				case s.Needs() == active.ClassProbs && !byScores && class[i] < class[j]:
					t.Fatalf("of gaps of %v the larger is picked first", []float64{class[i], class[j]})
				}
			}
		}
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
			for _, c := range []*active.Candidates{sample(), sampleLogits()} {
				m := a.matrix(c)
				m.Data[5*m.Cols+1] = float32(bad)
				_, err := s.Query(c, 2, stream())
				if err == nil || !strings.Contains(err.Error(), "row 5") || !strings.Contains(err.Error(), fmt.Sprint(bad)) {
					t.Errorf("%v in row 5 of %v: error %v", bad, a.bit, err)
				}
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
