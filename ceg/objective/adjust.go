package objective

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// priorInput is the input of [WithLogitAdjustment].
const priorInput = "class prior"

// WithLogitAdjustment makes an objective fit for classes of unequal size, whose balanced accuracy it improves (Menon
// et al., Long-tail Learning via Logit Adjustment, ICLR 2021). Steps add tau times [LogShares] to the class logits
// under the cross-entropy, their equation 10. With tau 1 it is the balanced softmax of Ren et al., NeurIPS 2020.
// Tests use the logits alone. A fitted head has the same subtracted from its biases afterwards, their section 4.1.
// For logistic regression the two are the same: its biases have no penalty.
func WithLogitAdjustment(o Objective, tau float64) Objective {
	if fit := o.Fit; fit != nil {
		o.Fit = func(s Samples) (Fitted, error) {
			h, err := fit(s)
			shares := LogShares(s.Labels, s.Classes)
			for c := range h.Bias {
				h.Bias[c] -= float32(tau) * shares[c]
			}
			return h, err
		}
		return o
	}
	step := o.Step
	o.Inputs = append(o.Inputs[:len(o.Inputs):len(o.Inputs)], Input{Name: priorInput, Subset: Labelled, Content: Prior})
	o.Step = func(s Step) { step(adjusted{s, tau}) }
	return o
}

// LogShares returns the logarithm of each class's share of the labels; a class without any counts as one with one.
func LogShares(labels []int, classes int) []float32 {
	counts, logs := make([]int, classes), make([]float32, classes)
	for _, y := range labels {
		counts[y]++
	}
	for c, n := range counts {
		logs[c] = float32(math.Log(float64(max(n, 1)) / float64(max(len(labels), 1))))
	}
	return logs
}

// adjusted is a step with adjusted class logits.
type adjusted struct {
	Step
	tau float64
}

// Head implements Heads.
func (s adjusted) Head(name string, features *Node) *Node {
	z := s.Step.Head(name, features)
	if name == ClassHead {
		z = Add(z, MulScalar(Reshape(s.In(priorInput), 1, s.Dims().Classes), s.tau))
	}
	return z
}
