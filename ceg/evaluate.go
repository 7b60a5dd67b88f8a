package ceg

import (
	"context"

	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// judge knows the true classes, as far as anybody does, and counts right answers.
// Nothing else in a run but the oracle does.
type judge struct {
	data  *datasets.Dataset
	truth datasets.Truth
	// target is -1 if there is none.
	target int
}

// pseudoLabels adds up how many pseudo-labels were kept, and were right.
func (v judge) pseudoLabels(sum *result.PseudoLabel, examples []int, labels []int32, sure []bool) {
	for i, x := range examples {
		sum.Total++
		if sure[i] {
			sum.Kept++
			switch v.truth.Class(x) {
			case int(labels[i]):
				sum.Correct++
			case -1:
				sum.Unknown++
			}
		}
	}
}

// reliable counts the right pseudo-labels of a reliable set.
func (v judge) reliable(set reliableSet) result.Tally {
	var t result.Tally
	for i, x := range set.examples {
		t.Count(set.labels[i], v.truth.Class(x))
	}
	return t
}

// accuracies measures the networks on every source's validation split and on
// the whole target domain, in the data set's order of domains. They are not asked
// about images whose class nobody knows.
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
		if v.truth.Class(i) < 0 {
			list[j].Tally.Unknown++
			continue
		}
		examples, slot = append(examples, i), append(slot, j)
	}
	i, classes := 0, len(v.data.Classes)
	err := t.each(ctx, examples, func(n int, out learner.Prediction) {
		for row := range n { // nothing is kept but whether it was right
			list[slot[i]].Tally.Count(argMax(out.ClassLogits[row*classes:(row+1)*classes]), v.truth.Class(examples[i]))
			i++
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// validation measures the networks on the sources' validation splits, as far as classes
// are known.
func (v judge) validation(ctx context.Context, t *trainer) (sum result.Tally, err error) {
	var examples []int
	for i, e := range v.data.Examples {
		if e.Domain != v.target && e.Split == datasets.Val && v.truth.Class(i) >= 0 {
			examples = append(examples, i)
		}
	}
	i, classes := 0, len(v.data.Classes)
	err = t.each(ctx, examples, func(n int, out learner.Prediction) {
		for row := range n {
			sum.Count(argMax(out.ClassLogits[row*classes:(row+1)*classes]), v.truth.Class(examples[i]))
			i++
		}
	})
	return sum, err
}

// valLabels counts the labels of the sources' validation splits.
func (v judge) valLabels() (n int) {
	for i, e := range v.data.Examples {
		if e.Domain != v.target && e.Split == datasets.Val && v.truth.Class(i) >= 0 {
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
