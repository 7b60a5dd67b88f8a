package active

import (
	"math"

	"github.com/ledg-go/ledg/ceg/active/head"
)

// outputs is what a head says about the candidates: logits, or their softmax.
type outputs struct {
	Matrix
	logits bool
}

func (c *Candidates) class() outputs  { return newOutputs(c.ClassLogits, c.ClassProbs) }
func (c *Candidates) domain() outputs { return newOutputs(c.DomainLogits, c.DomainProbs) }

// labelledClass is what the class head says about the labelled samples.
func (c *Candidates) labelledClass() outputs {
	return newOutputs(c.LabelledClassLogits, c.LabelledClassProbs)
}

func newOutputs(logits, probs Matrix) outputs {
	if logits.Cols > 0 || logits.Data != nil {
		return outputs{logits, true}
	}
	return outputs{probs, false}
}

func (h outputs) cols() int { return h.Cols }

// row sets dst to the logits of a candidate, up to a constant, and returns it.
func (h outputs) row(dst []float64, i int) []float64 {
	widen(dst, rowOf(h.Matrix, i))
	if !h.logits {
		Logits(dst, dst)
	}
	return dst
}

func (h outputs) probs() Matrix {
	if !h.logits {
		return h.Matrix
	}
	return head.SoftmaxRows(h.Matrix)
}

// Logits sets dst to ln p, which are logits of the probabilities p, with -Inf for 0. dst and p
// have equal length and may alias.
func Logits(dst, p []float64) {
	for j, v := range p {
		dst[j] = math.Log(v)
	}
}
