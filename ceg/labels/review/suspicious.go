package review

import (
	"cmp"
	"fmt"
	"slices"
)

// Suspect is a label with the evidence that it is wrong.
type Suspect struct {
	// Row is the label's row, Class the most probable other class.
	Row, Class int
	// Own is the probability of the label's class, Other the probability of Class; both in [0, 1].
	Own, Other float64
	// Likely is true if the label is probably wrong.
	Likely bool
}

// near is how far below a threshold a probability may be, as in cleanlab.
const near = 1e-6

// Suspicious returns all labels, most suspicious first: by increasing probability of their own
// class, cleanlab's self-confidence. probabilities is [rows, classes], by a model that did not
// use the label of the row.
//
// The number of Likely labels is the off-diagonal count of the confident joint. A class's
// threshold is its mean probability over the rows with that label. A row's confident class is
// the most probable one among classes whose threshold it reaches. Rows count if their confident
// class and their most probable class both differ from the label. A label that equals the most
// probable class is never Likely.
func Suspicious(probabilities []float64, labels []int, classes int) ([]Suspect, error) {
	if classes < 2 || len(probabilities) != len(labels)*classes {
		return nil, fmt.Errorf("review: %d probabilities for %d rows of %d classes", len(probabilities), len(labels), classes)
	}
	sums, counts := make([]float64, classes), make([]float64, classes)
	for i, g := range labels {
		if g < 0 || g >= classes {
			return nil, fmt.Errorf("review: row %d has class %d, want 0 to %d", i, g, classes-1)
		}
		p := probabilities[i*classes : (i+1)*classes]
		for c, v := range p {
			if !(v >= 0 && v <= 1) {
				return nil, fmt.Errorf("review: row %d gives class %d the probability %v", i, c, v)
			}
		}
		sums[g] += p[g]
		counts[g]++
	}
	list := make([]Suspect, len(labels))
	errors := 0
	for i, g := range labels {
		p := probabilities[i*classes : (i+1)*classes]
		best, confident, other := 0, -1, -1
		for c, v := range p {
			if v > p[best] {
				best = c
			}
			if counts[c] > 0 && v >= sums[c]/counts[c]-near && (confident < 0 || v > p[confident]) {
				confident = c
			}
			if c != g && (other < 0 || v > p[other]) {
				other = c
			}
		}
		if confident >= 0 && confident != g && best != g {
			errors++
		}
		list[i] = Suspect{i, other, p[g], p[other], false}
	}
	slices.SortStableFunc(list, func(a, b Suspect) int { return cmp.Compare(a.Own, b.Own) })
	for k := range list[:errors] {
		list[k].Likely = list[k].Other > list[k].Own
	}
	return list, nil
}
