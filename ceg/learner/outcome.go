package learner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
)

// Term is a named loss term of a step with its value.
type Term struct {
	Name  string
	Value float64
}

// Outcome is the result of a step. Its methods fetch values from the device.
type Outcome struct {
	step                *step
	values, label, mask *tensors.Tensor
}

// Terms fetches the loss terms, in the objective's order. A minimised loss that is not finite is
// an error.
func (o Outcome) Terms() ([]Term, error) {
	v, err := tensors.CopyFlatData[float32](o.values)
	if err != nil {
		return nil, fmt.Errorf("reading losses: %w", err)
	}
	terms := make([]Term, len(v))
	list := make([]string, len(v))
	diverged := false
	for i, name := range o.step.terms {
		terms[i] = Term{name, float64(v[i])}
		list[i] = fmt.Sprintf("%s %.4g", name, v[i])
		diverged = diverged || slices.Contains(o.step.minimised, name) && !finite(terms[i].Value)
	}
	if diverged {
		return terms, fmt.Errorf("training diverged: %s (a lower learning rate may help)", strings.Join(list, ", "))
	}
	return terms, nil
}

// Loss returns the value of the first minimised loss.
func (o Outcome) Loss(terms []Term) float64 {
	for _, t := range terms {
		if t.Name == o.step.minimised[0] {
			return t.Value
		}
	}
	return 0
}

// PseudoLabels fetches the pseudo-labels of the unlabelled images, and whether the confidence of
// each passed the threshold. Both are nil if the objective makes none.
func (o Outcome) PseudoLabels() (label []int32, sure []bool, err error) {
	if o.label == nil {
		return nil, nil, nil
	}
	if label, err = tensors.CopyFlatData[int32](o.label); err != nil {
		return nil, nil, fmt.Errorf("reading pseudo-labels: %w", err)
	}
	mask, err := tensors.CopyFlatData[float32](o.mask)
	if err != nil {
		return nil, nil, fmt.Errorf("reading pseudo-labels: %w", err)
	}
	sure = make([]bool, len(mask))
	for i, m := range mask {
		sure[i] = m > 0
	}
	return label, sure, nil
}
