package ceg

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// evalBatch is the number of images in a prediction batch.
const evalBatch = 128

// predictions are what the networks say about a list of examples, row by row,
// in evaluation mode on unaugmented images.
type predictions struct {
	features, classLogits, domainLogits blas32.General
}

// predict runs the networks over examples of the data set.
func predict(ctx context.Context, l *learner.Learner, images feed.Images, examples []int, classes, domains int) (predictions, error) {
	rows := len(examples)
	matrix := func(cols int) blas32.General {
		return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float32, 0, rows*cols)}
	}
	p := predictions{matrix(l.FeatureDim()), matrix(classes), matrix(domains)}
	err := eachPrediction(ctx, l, images, examples, func(n int, out learner.Prediction) {
		add := func(m *blas32.General, v []float32) { m.Data = append(m.Data, v[:n*m.Cols]...) }
		add(&p.features, out.Features)
		add(&p.classLogits, out.ClassLogits)
		add(&p.domainLogits, out.DomainLogits)
	})
	return p, err
}

// eachPrediction calls fn with what the networks say about batches of the examples,
// in order; the first n rows of out are those of the next n examples.
func eachPrediction(ctx context.Context, l *learner.Learner, images feed.Images, examples []int, fn func(n int, out learner.Prediction)) error {
	for b, err := range feed.EvalBatches(ctx, feed.Pixels(images), examples, evalBatch) {
		if err != nil {
			return err
		}
		out, err := l.Predict(b.Plain)
		if err != nil {
			return err
		}
		fn(len(b.Example), out)
	}
	return nil
}

// evaluator knows the true classes and counts right answers. Nothing else in a
// run but the oracle does.
type evaluator struct {
	data   *datasets.Dataset
	truth  datasets.Truth
	target int
}

// pseudoLabels adds up how many pseudo-labels were kept, and were right.
func (v evaluator) pseudoLabels(sum *result.PseudoLabel, examples []int, labels []int32, sure []bool) {
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
func (v evaluator) reliable(examples, labels []int) result.Tally {
	t := result.Tally{Total: len(examples)}
	for i, x := range examples {
		if v.truth.Class(x) == labels[i] {
			t.Correct++
		}
	}
	return t
}

// accuracies measures the networks on every source's validation split and on
// the whole target domain, in the data set's order of domains.
func (v evaluator) accuracies(ctx context.Context, l *learner.Learner, images feed.Images) ([]result.Accuracy, error) {
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
	err := eachPrediction(ctx, l, images, examples, func(n int, out learner.Prediction) {
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
