package head

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// checkFolds returns an error for settings of folds that are not of n samples.
func (o Options) checkFolds(n int) error {
	switch {
	case o.Domains != nil && len(o.Domains) != n:
		return fmt.Errorf("%d domains of %d labelled samples", len(o.Domains), n)
	case o.Groups != nil && len(o.Groups) != n:
		return fmt.Errorf("%d groups of %d labelled samples", len(o.Groups), n)
	case o.Folds < 0 || o.Folds == 1:
		return fmt.Errorf("%d folds, want at least 2", o.Folds)
	}
	return nil
}

// folds returns which samples are left out together.
func (o Options) folds(classes []int) [][]int {
	if f := domainFolds(o.Domains); f != nil {
		return f
	}
	n := o.Folds
	if n == 0 {
		n = 5
	}
	order := make([]int, len(classes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return classes[a] - classes[b] })
	fold := Deal(order, o.Groups, n)
	list := make([][]int, slices.Max(fold)+1)
	for _, i := range order {
		list[fold[i]] = append(list[fold[i]], i)
	}
	return list
}

// Deal assigns samples, in the given order, to at most n folds in turn, and returns each
// sample's fold, from 0. With groups, whole groups are assigned, each at the position of its
// first sample.
func Deal(order, groups []int, n int) []int {
	fold, of := make([]int, len(order)), make(map[int]int)
	for _, i := range order {
		g := i
		if groups != nil {
			g = groups[i]
		}
		k, ok := of[g]
		if !ok {
			k = len(of) % n
			of[g] = k
		}
		fold[i] = k
	}
	return fold
}

// domainFolds leaves out one domain at a time, nil if there are fewer than two.
func domainFolds(domains []int) [][]int {
	byDomain := map[int][]int{}
	for i, d := range domains {
		byDomain[d] = append(byDomain[d], i)
	}
	if len(byDomain) < 2 {
		return nil
	}
	var list [][]int
	for _, d := range slices.Sorted(maps.Keys(byDomain)) {
		list = append(list, byDomain[d])
	}
	return list
}

// without returns the samples that a fold leaves in, which are none of the groups that it
// leaves out, and their classes.
func without(classes, groups, fold []int) (in, own []int) {
	out, with := make([]bool, len(classes)), make(map[int]bool)
	for _, i := range fold {
		out[i] = true
		if groups != nil {
			with[groups[i]] = true
		}
	}
	for i, left := range out {
		if !left && (groups == nil || !with[groups[i]]) {
			in, own = append(in, i), append(own, classes[i])
		}
	}
	return in, own
}

// compare returns the accuracy and the loss of each C on the held-out folds: means
// over folds. Fits go from the weakest to the strongest, each from the one before.
func (p problem) compare(cs []float64, folds [][]int) []Score {
	order := slices.Sorted(slices.Values(cs))
	right, losses := make([][]float64, len(folds)), make([][]float64, len(folds))
	_ = dot.Each(len(folds), 1, func(f, _ int) error {
		in, classes := without(p.classes, p.groups, folds[f])
		if len(in) == 0 { // a single sample
			right[f], losses[f] = make([]float64, len(order)), make([]float64, len(order))
			return nil
		}
		own := problem{x: p.x.take(in), classes: classes, n: p.n}
		if p.weights != nil {
			for _, i := range in {
				own.weights = append(own.weights, p.weights[i])
			}
		}
		known := make([]bool, p.n)
		for _, class := range classes {
			known[class] = true
		}
		m := newMinimiser(own)
		for _, c := range order {
			m.minimise(c, 1e-9)
			w := m.weights()
			hits, seen, sum := 0, 0, 0.0
			for _, i := range folds[f] {
				class, loss := p.predict(w, i)
				if class == p.classes[i] {
					hits++
				}
				if known[p.classes[i]] {
					seen++
					sum += loss
				}
			}
			right[f] = append(right[f], float64(hits)/float64(len(folds[f])))
			losses[f] = append(losses[f], sum/float64(max(seen, 1)))
		}
		return nil
	})
	scores := make([]Score, len(order))
	for k, c := range order {
		scores[k].Value = c
		for f := range folds {
			scores[k].Accuracy += right[f][k] / float64(len(folds))
			scores[k].Loss += losses[f][k] / float64(len(folds))
		}
	}
	return scores
}

// predict returns the class of row i, and the cross-entropy of its own.
func (p problem) predict(w []float64, i int) (class int, loss float64) {
	z := make([]float64, p.n)
	x := dot.NewVector(p.x.row(i))
	for c := range z {
		z[c] = w[p.n*p.x.d+c] + dot.Product(w[c*p.x.d:(c+1)*p.x.d], x)
		if z[c] > z[class] {
			class = c
		}
	}
	Softmax(z, z)
	return class, -math.Log(max(z[p.classes[i]], math.SmallestNonzeroFloat64))
}
