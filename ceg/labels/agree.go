package labels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Agreement is the inter-annotator agreement of two annotators on the images that both have
// labelled, except undone labels.
type Agreement struct {
	// A and B are their names, A first in byte order.
	A, B string
	// Both is the number of images labelled by both, Equal the number with equal classes.
	Both, Equal int
	// Kappa is Cohen's kappa, (p_o - p_e) / (1 - p_e), with the share p_o of equal classes and
	// the share p_e expected by chance from the annotators' class frequencies: Cohen, "A
	// Coefficient of Agreement for Nominal Scales", Educational and Psychological Measurement 20
	// (1960). It is NaN if both used a single class, or without common images.
	Kappa float64
}

// String describes the agreement in one line.
func (a Agreement) String() string {
	kappa := "not defined, for there is one class"
	if !math.IsNaN(a.Kappa) {
		kappa = fmt.Sprintf("%.3f", a.Kappa)
	}
	return fmt.Sprintf("%s and %s: %d of %d equal, Cohen's kappa %s", a.A, a.B, a.Equal, a.Both, kappa)
}

// Opinion is one annotator's current label of an image.
type Opinion struct {
	By    string `json:"by"`
	Class string `json:"class,omitempty"`
	Kind  Kind   `json:"event"`
	N     int64  `json:"n"`
}

// Disagreement is an image with conflicting labels: different classes, or bad by one annotator
// only.
type Disagreement struct {
	ID string
	// Opinions are the annotators' current labels, newest first.
	Opinions []Opinion
	// Settled is the outcome by the rule or a correction; its Status is IsDisputed if neither
	// decides.
	Settled Image
}

// String describes the disagreement in one line.
func (d Disagreement) String() string {
	var list []string
	for _, o := range d.Opinions {
		what := cmp.Or(o.Class, string(o.Kind))
		list = append(list, o.By+" says "+what)
	}
	settled := cmp.Or(d.Settled.Class, d.Settled.Status.String())
	return d.ID + ": " + strings.Join(list, ", ") + "; it is " + settled
}

// Opinions returns each annotator's current label of an image, newest first, including those
// before a correction.
func (s *State) Opinions(id string) []Opinion {
	k, ok := s.index[id]
	if !ok {
		return nil
	}
	var list []Opinion
	for _, i := range s.everyOpinion(&s.images[k]) {
		r := &s.records[i]
		list = append(list, Opinion{s.names.list[r.by], s.names.list[r.class], kinds[r.kind], int64(i) + 1})
	}
	return list
}

// everyOpinion is opinions across corrections.
func (s *State) everyOpinion(im *image) (list []int32) {
	for i := im.last; i >= 0; i = s.records[i].before {
		r := &s.records[i]
		if !r.undone && !r.is(Queried, Skipped, Later) && !slices.ContainsFunc(list, func(j int32) bool { return s.records[j].by == r.by }) {
			list = append(list, i)
		}
	}
	return list
}

// Agreements returns the agreement of every two annotators with common images, and the images
// with conflicting labels, in the order of their first events.
func (s *State) Agreements() ([]Agreement, []Disagreement) {
	type pair struct{ a, b string }
	type table map[[2]int32]int
	tables := make(map[pair]table)
	var differ []Disagreement
	for k := range s.images {
		list := s.everyOpinion(&s.images[k])
		votes := make(map[int32]bool)
		for n, i := range list {
			if v, ok := s.vote(i); ok {
				votes[v] = true
			}
			x := &s.records[i]
			for _, j := range list[n+1:] {
				y := &s.records[j]
				if x.class == 0 || y.class == 0 {
					continue
				}
				p, cell := pair{s.names.list[x.by], s.names.list[y.by]}, [2]int32{x.class, y.class}
				if p.a > p.b {
					p, cell = pair{p.b, p.a}, [2]int32{y.class, x.class}
				}
				if tables[p] == nil {
					tables[p] = make(table)
				}
				tables[p][cell]++
			}
		}
		if len(votes) > 1 {
			id := s.images[k].id
			differ = append(differ, Disagreement{id, s.Opinions(id), s.show(int32(k))})
		}
	}
	var list []Agreement
	for p, t := range tables {
		both, equal, chance := kappaCounts(t)
		a := Agreement{A: p.a, B: p.b, Both: both, Equal: equal, Kappa: math.NaN()}
		if n := float64(both); chance < both*both {
			po, pe := float64(equal)/n, float64(chance)/(n*n)
			a.Kappa = (po - pe) / (1 - pe)
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(x, y Agreement) int { return strings.Compare(x.A+"\x00"+x.B, y.A+"\x00"+y.B) })
	return list, differ
}

// kappaCounts returns the sum of a table of pairs of classes, of its diagonal, and of
// the products of its margins.
func kappaCounts(t map[[2]int32]int) (both, equal, chance int) {
	rows, cols := make(map[int32]int), make(map[int32]int)
	for c, n := range t {
		both += n
		rows[c[0]] += n
		cols[c[1]] += n
		if c[0] == c[1] {
			equal += n
		}
	}
	for c, n := range rows {
		chance += n * cols[c]
	}
	return both, equal, chance
}
