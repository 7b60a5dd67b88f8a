package active

import "math"

// Softmax sets dst to the softmax of logits, of equal length; they may be the
// same slice. It is exact for logits of any finite size.
func Softmax(dst, logits []float64) {
	largest := math.Inf(-1)
	for _, v := range logits {
		largest = max(largest, v)
	}
	sum := 0.0
	for j, v := range logits {
		dst[j] = math.Exp(v - largest)
		sum += dst[j]
	}
	for j := range dst {
		dst[j] /= sum
	}
}

// Margin returns 1 - (p1 - p2), the two largest of at least two probabilities:
// BvSB, and the uncertainty S_u of Yuan et al. 2022. It is in [0, 1].
func Margin(p []float64) float64 {
	first, second := math.Inf(-1), math.Inf(-1)
	for _, v := range p {
		if v > first {
			first, second = v, first
		} else if v > second {
			second = v
		}
	}
	return 1 - (first - second)
}

// Entropy returns -sum p ln p, with 0 ln 0 = 0: from 0 to ln(len(p)). (The
// published code has ln(p + 1e-5).)
func Entropy(p []float64) float64 {
	sum := 0.0
	for _, v := range p {
		if v > 0 {
			sum -= float64(v * math.Log(v))
		}
	}
	return sum
}

// LeastConfidence returns 1 - p1, p1 the largest probability: in [0, 1).
func LeastConfidence(p []float64) float64 { return 1 - Confidence(p) }

// Confidence returns the largest probability. Of domain probabilities it is the
// representativeness S_r of Yuan et al. 2022; the domain that has it need not be
// the sample's own.
func Confidence(p []float64) float64 {
	largest := p[0]
	for _, v := range p[1:] {
		largest = max(largest, v)
	}
	return largest
}
