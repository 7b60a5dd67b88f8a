// Package evaluate measures accuracy: on source validation splits, on the target domain, and of
// pseudo-labels. Only this package and the simulated annotator of package campaign read the
// true classes of unlabelled examples.
package evaluate

import (
	"context"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// Evaluator compares predictions with the true classes, where known. Target is the index of the
// held-out domain, or -1.
type Evaluator struct {
	Data   *datasets.Dataset
	Truth  datasets.Truth
	Target int
}

// KnowsTarget reports whether any target image has a known class.
func (v Evaluator) KnowsTarget() bool {
	for i, e := range v.Data.Examples {
		if e.Domain == v.Target && v.Truth.Knows(i) {
			return true
		}
	}
	return false
}

// Each predicts examples of the data set, in order and in batches: fn receives the class logits
// [n, classes] of the next n of them, row-major.
type Each func(ctx context.Context, examples []int, fn func(n int, classLogits []float32)) error

// PseudoLabels adds the numbers of used and of correct pseudo-labels to sum.
func (v Evaluator) PseudoLabels(sum *result.PseudoLabel, examples []int, labels []int32, sure []bool) {
	for i, x := range examples {
		sum.Total++
		if sure[i] {
			sum.Accepted++
			switch v.Truth.Class(x) {
			case int(labels[i]):
				sum.Correct++
			case -1:
				sum.Unknown++
			}
		}
	}
}

// Reliable counts the correct pseudo-labels of a reliable set.
func (v Evaluator) Reliable(examples, labels []int) result.Tally {
	var t result.Tally
	for i, x := range examples {
		t.Count(labels[i], v.Truth.Class(x))
	}
	return t
}

// Accuracies measures accuracy on every source's validation and test splits and on the target
// domain, in the data set's order of domains. Images of unknown class are not predicted. With end, it
// also counts the confusion matrix on the target.
func (v Evaluator) Accuracies(ctx context.Context, each Each, end bool) ([]result.Accuracy, error) {
	var examples []int
	var list []result.Accuracy
	var slot []int
	at := map[datasets.Example]int{} // domain and split to their entry in list
	for i, e := range v.Data.Examples {
		split := result.ValSplit
		switch {
		case e.Domain == v.Target:
			split, e.Split = result.TestSplit, datasets.Test
		case e.Split == datasets.Train || e.Split == datasets.Test && v.Truth.Class(i) < 0:
			continue
		case e.Split == datasets.Test:
			split = result.HeldOutSplit
		}
		e.ID = ""
		j, ok := at[e]
		if !ok {
			j = len(list)
			at[e] = j
			list = append(list, result.NewAccuracy(v.Data.Domains[e.Domain], split, len(v.Data.Classes), end && e.Domain == v.Target))
		}
		if v.Truth.Class(i) < 0 {
			list[j].Tally.Unknown++
			continue
		}
		examples, slot = append(examples, i), append(slot, j)
	}
	i, classes := 0, len(v.Data.Classes)
	err := each(ctx, examples, func(n int, logits []float32) {
		for row := range n { // only correctness is stored
			list[slot[i]].Count(ArgMax(logits[row*classes:(row+1)*classes]), v.Truth.Class(examples[i]))
			i++
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Validation measures the accuracy on the sources' validation splits, over images of known
// class.
func (v Evaluator) Validation(ctx context.Context, each Each) (sum result.Tally, err error) {
	err = v.where(ctx, each, func(e datasets.Example) bool { return e.Domain != v.Target && e.Split == datasets.Val }, sum.Count)
	return sum, err
}

// OnTarget calls fn with the predicted and the true class of the target's images of known class, in the data set's order.
func (v Evaluator) OnTarget(ctx context.Context, each Each, fn func(predicted, class int)) error {
	return v.where(ctx, each, func(e datasets.Example) bool { return e.Domain == v.Target }, fn)
}

// where is OnTarget for other examples.
func (v Evaluator) where(ctx context.Context, each Each, of func(datasets.Example) bool, fn func(predicted, class int)) error {
	var examples []int
	for i, e := range v.Data.Examples {
		if of(e) && v.Truth.Class(i) >= 0 {
			examples = append(examples, i)
		}
	}
	i, classes := 0, len(v.Data.Classes)
	return each(ctx, examples, func(n int, logits []float32) {
		for row := range n {
			fn(ArgMax(logits[row*classes:(row+1)*classes]), v.Truth.Class(examples[i]))
			i++
		}
	})
}

// ValLabels counts the labelled images of the sources' validation splits.
func (v Evaluator) ValLabels() (n int) {
	for i, e := range v.Data.Examples {
		if e.Domain != v.Target && e.Split == datasets.Val && v.Truth.Class(i) >= 0 {
			n++
		}
	}
	return n
}

// ArgMax returns the index of the largest value, the first of equals.
func ArgMax[F float32 | float64](v []F) int {
	best := 0
	for i, x := range v {
		if x > v[best] {
			best = i
		}
	}
	return best
}
