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
