package active

import "math"

// head is what a head says about the candidates: logits, or their softmax.
type head struct {
	Matrix
	logits bool
}

func (c *Candidates) class() head  { return newHead(c.ClassLogits, c.ClassProbs) }
func (c *Candidates) domain() head { return newHead(c.DomainLogits, c.DomainProbs) }

// labelledClass is what the class head says about the labelled samples.
func (c *Candidates) labelledClass() head {
	return newHead(c.LabelledClassLogits, c.LabelledClassProbs)
}

func newHead(logits, probs Matrix) head {
	if logits.Cols > 0 || logits.Data != nil {
		return head{logits, true}
	}
	return head{probs, false}
}

func (h head) cols() int { return h.Cols }

// row sets dst to the logits of a candidate, up to a constant, and returns it.
func (h head) row(dst []float64, i int) []float64 {
	widen(dst, rowOf(h.Matrix, i))
	if !h.logits {
		Logits(dst, dst)
	}
	return dst
}

// probs returns the probabilities of all candidates.
func (h head) probs() Matrix {
	if !h.logits {
		return h.Matrix
	}
	out := Matrix{Rows: h.Rows, Cols: h.Cols, Stride: h.Cols, Data: make([]float32, h.Rows*h.Cols)}
	p := make([]float64, h.Cols)
	for i := range h.Rows {
		Softmax(p, h.row(p, i))
		for j, v := range p {
			out.Data[i*out.Stride+j] = float32(v)
		}
	}
	return out
}

// Logits sets dst to the logarithms of probabilities, of equal length: logits that
// have them, with -Inf for 0. The slices may be the same.
func Logits(dst, p []float64) {
	for j, v := range p {
		dst[j] = math.Log(v)
	}
}
