package active

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// Matrix is a row-major float32 matrix with one sample a row; Stride equals Cols.
type Matrix = cluster.Matrix

// Candidates are the unlabelled samples that a strategy selects from, with network outputs and
// metadata. Arrays that a strategy does not need (see [Strategy.Needs]) may be empty.
type Candidates struct {
	// IDs names the candidates; they are distinct and not empty.
	IDs []string
	// Domains holds the domain index of each candidate.
	Domains []int
	// Features is [candidates, D], computed by the backbone in evaluation mode.
	Features Matrix
	// ClassLogits is [candidates, C] with C >= 2, DomainLogits [candidates, K]. Without logits,
	// ClassProbs and DomainProbs hold their softmax, each row summing to 1. Probabilities
	// resolve less: the smallest float32 is 1e-45, about 100 between two logits.
	ClassLogits, DomainLogits Matrix
	ClassProbs, DomainProbs   Matrix
	// LabelledFeatures is [labelled, D], in labelling order; row i has class LabelledClasses[i]
	// in [0, C) and domain LabelledDomains[i] in [0, K).
	LabelledFeatures                 Matrix
	LabelledClasses, LabelledDomains []int
	// LabelledClassLogits is [labelled, C]; without it, LabelledClassProbs holds the class
	// probabilities of the labelled samples.
	LabelledClassLogits, LabelledClassProbs Matrix
	// Groups holds the group of each candidate, LabelledGroups the groups of the labelled
	// samples, in any order. Only [Grouped] reads them.
	Groups, LabelledGroups []int
}

// Arrays is a set of the arrays in [Candidates].
type Arrays uint16

const (
	Features Arrays = 1 << iota
	// ClassProbs and DomainProbs stand for logits or probabilities.
	ClassProbs
	DomainProbs
	LabelledFeatures
	// LabelledCells stands for LabelledClasses and LabelledDomains, with the ranges of
	// ClassProbs and DomainProbs.
	LabelledCells
	Domains
	// LabelledClasses and LabelledDomains each stand for one of the two, with any non-negative
	// values.
	LabelledClasses
	LabelledDomains
	// LabelledProbs stands for LabelledClassLogits or LabelledClassProbs.
	LabelledProbs
)

// Has reports whether a contains all of b.
func (a Arrays) Has(b Arrays) bool { return a&b == b }

// String lists the arrays, "none" for none.
func (a Arrays) String() string {
	var names []string
	for i, name := range []string{"Features", "ClassProbs", "DomainProbs", "LabelledFeatures", "LabelledClasses and LabelledDomains", "Domains",
		"LabelledClasses", "LabelledDomains", "LabelledClassProbs"} {
		if a.Has(1 << i) {
			names = append(names, name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// sumTolerance is the largest allowed difference between 1 and the sum of a row of
// probabilities.
const sumTolerance = 1e-3

// Check returns an error for the first invalid value in the needed arrays, and for an n below 0
// or above the number of candidates.
func (c *Candidates) Check(needs Arrays, n int) error {
	total := len(c.IDs)
	if n < 0 || n > total {
		return fmt.Errorf("%d samples queried from %d candidates", n, total)
	}
	seen := make(map[string]int, total)
	for i, id := range c.IDs {
		if first, twice := seen[id]; twice || id == "" {
			if id == "" {
				return fmt.Errorf("candidate %d has no ID", i)
			}
			return fmt.Errorf("candidates %d and %d have the same ID %q", first, i, id)
		}
		seen[id] = i
	}
	if (c.Domains != nil || needs.Has(Domains)) && len(c.Domains) != total {
		return fmt.Errorf("%d domains of %d candidates", len(c.Domains), total)
	}
	for _, check := range []struct {
		of  Arrays
		run func() error
	}{
		{Features, func() error { return checkFeatures("features", c.Features, total, 1, c.IDs) }},
		{ClassProbs, func() error { return checkHead("class", "", c.class(), 2, total, c.IDs) }},
		{DomainProbs, func() error { return checkHead("domain", "", c.domain(), 1, total, c.IDs) }},
		{LabelledFeatures, func() error {
			return checkFeatures("labelled features", c.LabelledFeatures, c.LabelledFeatures.Rows, 1, nil)
		}},
		{LabelledFeatures | Features, func() error {
			if c.LabelledFeatures.Cols != c.Features.Cols {
				return fmt.Errorf("labelled features have %d columns, features %d", c.LabelledFeatures.Cols, c.Features.Cols)
			}
			return nil
		}},
		{LabelledCells, c.checkCells},
		{LabelledClasses, func() error { return c.checkLabelled("class", "classes", c.LabelledClasses) }},
		{LabelledDomains, func() error { return c.checkLabelled("domain", "domains", c.LabelledDomains) }},
		{LabelledProbs, c.checkLabelledHead},
	} {
		if needs.Has(check.of) {
			if err := check.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCold is Check for strategies that can do without labelled samples: where there
// are none, their number of columns does not matter.
func (c *Candidates) checkCold(needs Arrays, n int) error {
	if m := c.LabelledFeatures; m.Rows == 0 && len(m.Data) == 0 {
		needs &^= LabelledFeatures
	}
	return c.Check(needs, n)
}

// checkDraw is checkCold for strategies that draw from a random stream.
func (c *Candidates) checkDraw(needs Arrays, n int, r *rand.Rand) error {
	if r == nil {
		return errNoStream
	}
	return c.checkCold(needs, n)
}

// checkLabelled checks the classes or domains of the labelled samples by themselves.
func (c *Candidates) checkLabelled(one, many string, of []int) error {
	if n := c.LabelledFeatures.Rows; len(of) != n {
		return fmt.Errorf("%d labelled features with %d %s", n, len(of), many)
	}
	for i, v := range of {
		if v < 0 {
			return fmt.Errorf("labelled row %d: %s %d, want 0 or more", i, one, v)
		}
	}
	return nil
}

// checkLabelledHead checks what the class head says about the labelled samples.
func (c *Candidates) checkLabelledHead() error {
	h, n := c.labelledClass(), c.LabelledFeatures.Rows
	if n == 0 && h.Rows == 0 {
		return nil
	}
	if want := c.class().cols(); want > 0 && h.Cols != want {
		return fmt.Errorf("class probabilities of labelled samples have %d columns, those of candidates %d", h.Cols, want)
	}
	return checkHead("class", "labelled ", h, 2, n, nil)
}

func (c *Candidates) checkCells() error {
	n, classes, domains := c.LabelledFeatures.Rows, c.class().cols(), c.domain().cols()
	if len(c.LabelledClasses) != n || len(c.LabelledDomains) != n {
		return fmt.Errorf("%d labelled features with %d classes and %d domains", n, len(c.LabelledClasses), len(c.LabelledDomains))
	}
	for i := range n {
		if h := c.LabelledClasses[i]; h < 0 || h >= classes {
			return fmt.Errorf("labelled row %d: class %d, want 0 to %d", i, h, classes-1)
		}
		if k := c.LabelledDomains[i]; k < 0 || k >= domains {
			return fmt.Errorf("labelled row %d: domain %d, want 0 to %d", i, k, domains-1)
		}
	}
	return nil
}

func checkLayout(name string, m Matrix, rows, minCols int) error {
	if m.Rows != rows || m.Cols < minCols || m.Stride != m.Cols || len(m.Data) != m.Rows*m.Cols {
		return fmt.Errorf("%s: %d x %d with stride %d and %d elements, want %d rows of at least %d without gaps",
			name, m.Rows, m.Cols, m.Stride, len(m.Data), rows, minCols)
	}
	return nil
}

func checkFeatures(name string, m Matrix, rows, minCols int, ids []string) error {
	if err := checkLayout(name, m, rows, minCols); err != nil {
		return err
	}
	for i := range m.Rows {
		for j, v := range rowOf(m, i) {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("%s: row %d%s: column %d is %v", name, i, called(ids, i), j, v)
			}
		}
	}
	return nil
}

// checkHead checks the logits of a head, or its probabilities, for some rows.
func checkHead(name, of string, h outputs, minCols, rows int, ids []string) error {
	m := h.Matrix
	if h.logits {
		return checkFeatures(of+name+" logits", m, rows, minCols, ids)
	}
	name = of + name + " probabilities"
	if err := checkLayout(name, m, rows, minCols); err != nil {
		return err
	}
	p := make([]float64, m.Cols)
	for i := range m.Rows {
		if err := CheckProbs(widen(p, rowOf(m, i))); err != nil {
			return fmt.Errorf("%s: row %d%s: %w", name, i, called(ids, i), err)
		}
	}
	return nil
}

// CheckProbs returns an error for a value outside [0, 1], or a sum that differs from 1 by more
// than sumTolerance.
func CheckProbs(p []float64) error {
	sum := 0.0
	for j, v := range p {
		if !(v >= 0 && v <= 1+sumTolerance) {
			return fmt.Errorf("column %d is %v, want a probability", j, v)
		}
		sum += v
	}
	if math.Abs(sum-1) > sumTolerance {
		return fmt.Errorf("probabilities sum to %v, want 1", sum)
	}
	return nil
}

func called(ids []string, i int) string {
	if ids == nil {
		return ""
	}
	return fmt.Sprintf(" (%q)", ids[i])
}

func rowOf(m Matrix, i int) []float32 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// widen copies v to dst, of equal length, and returns dst.
func widen(dst []float64, v []float32) []float64 {
	for j, x := range v {
		dst[j] = float64(x)
	}
	return dst
}
