package active

import (
	"math"

	"github.com/ledg-go/ledg/datasets/registers"
)

// Probabilities saturate: softmax of the logits 20 and 0 is 1 in float32, and of 40
// and 0 in float64, and so is everything surer than that. Scores are therefore
// compared by keys, which have the scores' order in exact arithmetic and keep
// telling rows apart: they are made of the others' share
//
//	s = sum over the others of exp(z_j - z_max),  p_max = 1 / (1 + s)
//
// whose logarithm is computed without ever forming s.

// Row holds the quantities that scores and sort keys of one row of logits are computed from.
// Call [Row.Set] before use; a Row can be reused without allocation.
type Row struct {
	n     int     // the others: columns but the largest
	gap   float64 // z_max - z_second, from 0; +Inf if all others are -Inf
	lnS   float64 // ln s; -Inf if all others are -Inf or there are none
	ratio float64 // exp(z_second - z_max) / s: the second's part of the others, in (0, 1]
	// others holds exp(z_j - z_max) of the others, in any order; small ones are 0.
	others []float64
	gaps   []float64 // and z_max - z_j
}

// tiny is the ln s under which s and its first-order terms are the same number in
// float64.
const tiny = -40

// Set reads a row of logits. Some may be -Inf, but not all.
func (r *Row) Set(z []float64) {
	registers.ClearUpper()
	top := 0
	for j, v := range z {
		if v > z[top] {
			top = j
		}
	}
	second := math.Inf(-1)
	r.n, r.others, r.gaps = len(z)-1, r.others[:0], r.gaps[:0]
	for j, v := range z {
		if j != top {
			second = max(second, v)
			r.others = append(r.others, math.Exp(v-z[top]))
			r.gaps = append(r.gaps, z[top]-v)
		}
	}
	r.gap = z[top] - second
	if math.IsInf(second, -1) {
		r.lnS, r.ratio = math.Inf(-1), 1
		return
	}
	sum := 0.0 // of the others over the second; the second itself gives 1
	for j, v := range z {
		if j != top {
			sum += math.Exp(v - second)
		}
	}
	r.lnS, r.ratio = math.Log(sum)-r.gap, 1/sum
}

// score returns a measure of the row, of softmax taken once or twice, and its key.
func (r *Row) score(m Measure, twice bool) (score, key float64) {
	s := math.Exp(r.lnS)
	if !twice {
		switch m {
		case MaxEntropy:
			key = r.entropy()
			return math.Exp(key), key
		case MinMargin:
			return 1 + math.Expm1(-r.gap)/(1+s), r.margin()
		case MinConfidence:
			return s / (1 + s), r.lnS
		}
	}
	a, n := math.Exp(-1), float64(r.n)
	switch m {
	case MaxEntropy:
		key = r.entropyTwice()
		least := math.E + n
		return math.Log(least) - math.E/least + math.Exp(key), key
	case MinMargin:
		sum, _, _ := r.twice()
		d := -math.Expm1(math.Expm1(-r.gap)/(1+s)) / (1 + a*(n+sum))
		return 1 - d, r.marginTwice()
	case MinConfidence:
		sum, _, _ := r.twice()
		others := a * (n + sum)
		return others / (1 + others), 0 - r.confidenceTwice()
	}
	panic("active: unknown measure")
}

// The keys of one softmax. That of 1 - p_max is ln s, the logarithm of its odds.

// margin is the key of 1 - (p1 - p2): the logarithm of its odds. Of
//
//	p1 - p2 = (1 - e^-gap) / (1 + s),  1 - (p1 - p2) = (s + e^-gap) / (1 + s)
//
// both are exact to the last digits, however small.
func (r *Row) margin() float64 {
	if r.n == 0 {
		return math.Inf(-1)
	}
	return r.lnS + math.Log1p(r.ratio) - math.Log(-math.Expm1(-r.gap))
}

// entropy is the key of the entropy: its logarithm. H is ln(1+s) plus the sum of
// exp(z_j - z_max) (z_max - z_j) / (1+s), all positive.
func (r *Row) entropy() float64 {
	if r.lnS < tiny {
		if math.IsInf(r.lnS, -1) {
			return r.lnS
		}
		sum := 1.0
		for _, g := range r.gaps {
			if !math.IsInf(g, 1) {
				sum += math.Exp(-g-r.lnS) * g
			}
		}
		return r.lnS + math.Log(sum)
	}
	sum := 0.0
	s := math.Exp(r.lnS)
	for j, e := range r.others {
		if e > 0 {
			sum += float64(e * r.gaps[j])
		}
	}
	return math.Log(math.Log1p(s) + sum/(1+s))
}

// The rest is of softmax taken twice: q = softmax(p). With t = 1 - p_max, an other
// class j has q_j / q_max = exp(p_j - p_max) = exp(-1) exp(x_j), x_j = p_j + t, so
// that everything depends on the x_j, which go to 0 without losing digits.

// twice returns the sum T of exp(x_j) - 1 over the other classes, the same sum for the second
// class, and t. They are for ln s from tiny on.
func (r *Row) twice() (sum, second, t float64) {
	s := math.Exp(r.lnS)
	t = s / (1 + s)
	for _, e := range r.others {
		sum += math.Expm1(e/(1+s) + t)
	}
	return sum, math.Expm1(math.Exp(-r.gap)/(1+s) + t), t
}

// confidenceTwice is the key of the largest of q: -ln T. Under tiny, T is (n+1) t.
func (r *Row) confidenceTwice() float64 {
	if r.lnS < tiny {
		return -(r.lnS + math.Log(float64(r.n+1)))
	}
	sum, _, _ := r.twice()
	return -math.Log(sum)
}

// marginTwice is the key of 1 - (q1 - q2): ln(D/d) of d = q1 - q2 and D, what it
// lacks to the largest value that it can have, (1 - a) / (1 + a n) with a = 1/e:
//
//	d = (1 - a - a X) / (1 + a n + a T),  X = exp(x_2) - 1
//	D = ((1 - a) a T + a X (1 + a n)) / ((1 + a n) (1 + a n + a T))
//
// The common denominator of both cancels. Where the two largest are about equal,
// 1 - a - a X is -expm1(p2 - p1).
func (r *Row) marginTwice() float64 {
	if r.n == 0 {
		return math.Inf(-1)
	}
	a, n := math.Exp(-1), float64(r.n)
	full := 1 + a*n
	if r.lnS < tiny { // T = (n+1) t, X = p2 + t
		return r.lnS + math.Log(a*((1-a)*(n+1)+(r.ratio+1)*full)/full/(1-a))
	}
	sum, second, _ := r.twice()
	s := math.Exp(r.lnS)
	d := -math.Expm1(math.Expm1(-r.gap) / (1 + s)) // p2 - p1 = p1 (e^-gap - 1)
	return math.Log(a*((1-a)*sum+second*full)/full) - math.Log(d)
}

// entropyTwice is the key of the entropy of q: the logarithm of what it is above
// the least that it can have, which is that of p = (1, 0, ...). With Q = sum exp(p_j)
// and A = sum p_j exp(p_j), the entropy is ln Q - A/Q, and
//
//	H - H0 = ln(1 + (Q-Q0)/Q0) - (A-A0)/Q + A0 (Q-Q0) / (Q Q0)
//
// with Q0 = e + n and A0 = e, whose differences are formed exactly.
func (r *Row) entropyTwice() float64 {
	n := float64(r.n)
	least := math.E + n
	if r.lnS < tiny {
		return r.lnS + math.Log(math.E*(n+1)/(least*least))
	}
	s := math.Exp(r.lnS)
	t := s / (1 + s)
	dQ := math.E * math.Expm1(-t)
	dA := math.E * (math.Expm1(-t) - t*math.Exp(-t))
	for _, e := range r.others {
		p := e / (1 + s)
		dQ += math.Expm1(p)
		dA += p * math.Exp(p)
	}
	Q := least + dQ
	return math.Log(math.Log1p(dQ/least) - dA/Q + math.E*dQ/(Q*least))
}
