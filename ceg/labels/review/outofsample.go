package review

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/head"
)

// folds is how many parts labels are cut into, repeats times in other ways where there are
// no more than repeatedRows. The strength of the head is chosen on strengthRows at most.
const folds, repeats, repeatedRows, strengthRows = 5, 3, 1000, 2000

// OutOfSample returns cross-validated class probabilities [rows, classes] of logistic regression
// on labelled features [rows, D]. Folds are drawn from r, stratified by class; with few rows the
// result is the mean over several draws. groups keeps rows, such as near-duplicates, in one
// fold; it may be nil. A class with a single group cannot be evaluated, since no other fold
// contains it.
func OutOfSample(features head.Matrix, labels []int, classes int, groups []int, r *rand.Rand) ([]float64, error) {
	if groups == nil {
		groups = make([]int, len(labels))
		for i := range groups {
			groups[i] = i
		}
	}
	if len(groups) != len(labels) || features.Rows != len(labels) {
		return nil, fmt.Errorf("review: %d rows of %d classes in %d groups", features.Rows, len(labels), len(groups))
	}
	every := 1 + len(labels)/(strengthRows+1)
	var some []int
	for i := range labels {
		if i%every == 0 {
			some = append(some, i)
		}
	}
	x, own := take(features, labels, some)
	o := head.Options{Folds: folds}
	for _, i := range some {
		o.Groups = append(o.Groups, groups[i])
	}
	chosen, err := head.Fit(x, own, classes, o)
	if err != nil {
		return nil, fmt.Errorf("review: %w", err)
	}
	probabilities := make([]float64, len(labels)*classes)
	times := repeats
	if len(labels) > repeatedRows {
		times = 1
	}
	z := make([]float64, classes)
	for range times {
		fold := dealt(labels, groups, r)
		for f := range folds {
			var in, out []int
			for i := range labels {
				if fold[i] == f {
					out = append(out, i)
				} else {
					in = append(in, i)
				}
			}
			if len(out) == 0 || len(in) == 0 {
				continue
			}
			x, own := take(features, labels, in)
			h, err := head.Fit(x, own, classes, head.Options{Cs: []float64{chosen.C}})
			if err != nil {
				return nil, fmt.Errorf("review: %w", err)
			}
			for _, i := range out {
				head.Softmax(z, h.LogitsOf(z, features.Data[i*features.Cols:(i+1)*features.Cols]))
				for c, p := range z {
					probabilities[i*classes+c] += p / float64(times)
				}
			}
		}
	}
	for i, p := range probabilities {
		probabilities[i] = min(p, 1) // of sums that are rounded
	}
	return probabilities, nil
}

// dealt returns the fold of each row.
func dealt(labels, groups []int, r *rand.Rand) []int {
	first := make(map[int]int) // of a group, the row
	var heads []int
	for i, g := range groups {
		if _, ok := first[g]; !ok {
			first[g] = i
			heads = append(heads, i)
		}
	}
	r.Shuffle(len(heads), func(i, j int) { heads[i], heads[j] = heads[j], heads[i] })
	slices.SortStableFunc(heads, func(a, b int) int { return labels[a] - labels[b] })
	of := make(map[int]int)
	for k, i := range heads {
		of[groups[i]] = k % folds
	}
	fold := make([]int, len(labels))
	for i, g := range groups {
		fold[i] = of[g]
	}
	return fold
}

// take returns some rows and their classes.
func take(m head.Matrix, labels, rows []int) (head.Matrix, []int) {
	out := head.Matrix{Rows: len(rows), Cols: m.Cols, Stride: m.Cols, Data: make([]float32, 0, len(rows)*m.Cols)}
	own := make([]int, len(rows))
	for k, i := range rows {
		out.Data = append(out.Data, m.Data[i*m.Cols:(i+1)*m.Cols]...)
		own[k] = labels[i]
	}
	return out, own
}
