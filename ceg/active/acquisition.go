package active

import "math"

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
