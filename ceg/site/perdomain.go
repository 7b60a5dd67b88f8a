package site

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
)

// AdaptPerDomain is [Sources.Adapt] on features standardised separately for each domain, which
// needs no labels. The returned head takes unstandardised features of the site; its C is
// selected by leave-one-source-out. On PACS it gains 0.3 and 0.9 points over Adapt with 5% and
// 20% of the sources labelled, and nothing with fewer.
func (s *Sources) AdaptPerDomain(a Part, site head.Matrix) (*head.Linear, error) {
	own := momentsOf(site, nil)
	x := cluster.Join(s.Labelled.Features, a.Features)
	x.Data = slices.Clone(x.Data)
	n := s.Labelled.Len()
	all := Part{Features: cluster.Join(s.Labelled.Features, s.Others.Features), Domains: slices.Concat(s.Labelled.Domains, s.Others.Domains)}
	for d := range s.DomainNames {
		m := momentsOf(all.Features, func(i int) bool { return all.Domains[i] == d })
		for i, of := range s.Labelled.Domains {
			if of == d {
				m.standardise(Row(x, i))
			}
		}
	}
	for i := n; i < x.Rows; i++ {
		own.standardise(Row(x, i))
	}
	from := Sources{ClassNames: s.ClassNames, DomainNames: s.DomainNames,
		Labelled: Part{Features: head.Matrix{Rows: n, Cols: x.Cols, Stride: x.Stride, Data: x.Data[:n*x.Stride]}, Classes: s.Labelled.Classes, Domains: s.Labelled.Domains}}
	h, err := from.refit(Part{Features: head.Matrix{Rows: x.Rows - n, Cols: x.Cols, Stride: x.Stride, Data: x.Data[n*x.Stride:]}, Classes: a.Classes})
	if err != nil {
		return nil, err
	}
	if len(h.Weight) != len(h.Bias)*len(own.mean) {
		return nil, fmt.Errorf("adapting: %d weights of %d classes for %d features", len(h.Weight), len(h.Bias), len(own.mean))
	}
	for c := range h.Bias { // w (x - mean) / scale + b, of x as it is
		w := h.Weight[c*len(own.mean) : (c+1)*len(own.mean)]
		for j := range w {
			w[j] /= own.scale[j]
			h.Bias[c] -= w[j] * own.mean[j]
		}
	}
	return s.withOwn(h, a.Len()), nil
}

// moments are the mean and the deviation of every feature.
type moments struct{ mean, scale []float64 }

// momentsOf computes the moments of some rows, nil for all. Features that do not vary have the
// deviation 1.
func momentsOf(x head.Matrix, in func(i int) bool) moments {
	m, n := moments{make([]float64, x.Cols), make([]float64, x.Cols)}, 0.0
	rows := func(fn func(j int, v float64)) {
		for i := range x.Rows {
			if in == nil || in(i) {
				for j, v := range Row(x, i) {
					fn(j, float64(v))
				}
			}
		}
	}
	for i := range x.Rows {
		if in == nil || in(i) {
			n++
		}
	}
	rows(func(j int, v float64) { m.mean[j] += v / n })
	rows(func(j int, v float64) { m.scale[j] += (v - m.mean[j]) * (v - m.mean[j]) / n })
	for j, v := range m.scale {
		if m.scale[j] = math.Sqrt(v); v < 1e-12 {
			m.scale[j] = 1
		}
	}
	return m
}

func (m moments) standardise(x []float32) {
	for j, v := range x {
		x[j] = float32((float64(v) - m.mean[j]) / m.scale[j])
	}
}
