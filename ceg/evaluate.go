package ceg

import (
	"context"

	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// judge knows the true classes and counts right answers. Nothing else in a run but
// the oracle does.
type judge struct {
	data   *datasets.Dataset
	truth  datasets.Truth
	target int
}

// pseudoLabels adds up how many pseudo-labels were kept, and were right.
func (v judge) pseudoLabels(sum *result.PseudoLabel, examples []int, labels []int32, sure []bool) {
	for i, x := range examples {
		sum.Total++
		if sure[i] {
			sum.Kept++
			if v.truth.Class(x) == int(labels[i]) {
				sum.Correct++
			}
		}
	}
}

// reliable counts the right pseudo-labels of a reliable set.
func (v judge) reliable(set reliableSet) result.Tally {
	t := result.Tally{Total: len(set.examples)}
	for i, x := range set.examples {
		if v.truth.Class(x) == set.labels[i] {
			t.Correct++
		}
	}
	return t
}

// accuracies measures the networks on every source's validation split and on
// the whole target domain, in the data set's order of domains.
func (v judge) accuracies(ctx context.Context, t *trainer) ([]result.Accuracy, error) {
	var examples []int
	var list []result.Accuracy
	var slot []int
	at := map[int]int{} // domain to its entry in list
	for i, e := range v.data.Examples {
		if e.Domain != v.target && e.Split != datasets.Val {
			continue
		}
		j, ok := at[e.Domain]
		if !ok {
			j = len(list)
			at[e.Domain] = j
			split := result.ValSplit
			if e.Domain == v.target {
				split = result.TestSplit
			}
			list = append(list, result.Accuracy{Domain: v.data.Domains[e.Domain], Split: split})
		}
		examples, slot = append(examples, i), append(slot, j)
	}
	i, classes := 0, len(v.data.Classes)
	err := t.each(ctx, examples, func(n int, out learner.Prediction) {
		for row := range n { // nothing is kept but whether it was right
			t := &list[slot[i]].Tally
			t.Total++
			if argMax(out.ClassLogits[row*classes:(row+1)*classes]) == v.truth.Class(examples[i]) {
				t.Correct++
			}
			i++
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// valLabels counts the labels of the sources' validation splits.
func (v judge) valLabels() (n int) {
	for _, e := range v.data.Examples {
		if e.Domain != v.target && e.Split == datasets.Val {
			n++
		}
	}
	return n
}

// argMax returns the index of the largest value, the first of equals.
func argMax(v []float32) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}
