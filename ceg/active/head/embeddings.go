package head

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/datasets/registers"
)

// Embeddings is a head with one vector a class: logits are Scale times the cosine similarity of
// feature and vector.
type Embeddings struct {
	// Weight is [C, D].
	Weight []float64
	Scale  float64
}

// ZeroShot returns a head from unchanged class embeddings [C, D], such as those of class names
// by CLIP's text tower, with CLIP's scale of 100.
func ZeroShot(text Matrix) (*Embeddings, error) {
	if err := checkText(text, text.Rows, text.Cols); err != nil {
		return nil, err
	}
	return &Embeddings{widen(text.Data), textScale}, nil
}

func widen(v []float32) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// Logits returns the logits [rows, C]. It panics if the number of columns differs from the
// embeddings'.
func (e *Embeddings) Logits(features Matrix) Matrix {
	classes := len(e.Weight) / features.Cols
	h := Linear{Weight: make([]float64, len(e.Weight)), Bias: make([]float64, classes)}
	d := features.Cols
	for c := range classes {
		w := e.Weight[c*d : (c+1)*d]
		length := math.Sqrt(dot.Square(w))
		for j, v := range w {
			h.Weight[c*d+j] = e.Scale * v / length
		}
	}
	return h.Logits(unitFloat32(features))
}

// ProbeOptions are the settings of [Probe]; zero values mean the authors' settings.
type ProbeOptions struct {
	// Constrained adds the penalty that keeps vectors near the class embeddings (CLAP). Without
	// it the method is ZS-LP.
	Constrained bool
	// Scale multiplies the cosines; 0 means 100.
	Scale float64
	// Rate (learning rate), Momentum, Batch and Epochs configure SGD; 0 means 0.1, 0.9, 256 and
	// 300. The learning rate has a cosine schedule, but is 1e-5 in the first epoch. There is no
	// weight decay.
	Rate, Momentum float64
	Batch, Epochs  int
}

// Probe trains a linear probe on labelled features [rows, D], initialised with class embeddings
// text [C, D] (Silva-Rodríguez et al. 2024, "A Closer Look at the Few-Shot Adaptation of Large
// Vision-Language Models"; jusiro/CLAP). ZS-LP minimises the cross-entropy of Scale times the
// cosines; CLAP adds
//
//	1/C sum over classes of a_c |w_c - t_c|^2
//
// with a_c the mean zero-shot probability of the class on its own labelled samples, 1 for a
// class without any. r draws the batches.
func Probe(features Matrix, classes []int, text Matrix, o ProbeOptions, r *rand.Rand) (*Embeddings, error) {
	if err := check(features, classes, text.Rows); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	if err := checkText(text, text.Rows, features.Cols); err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	if r == nil {
		return nil, fmt.Errorf("probe: no random stream")
	}
	for _, x := range []struct {
		at   *float64
		zero float64
	}{{&o.Scale, textScale}, {&o.Rate, 0.1}, {&o.Momentum, 0.9}} {
		if *x.at == 0 {
			*x.at = x.zero
		}
		if !(*x.at > 0) || math.IsInf(*x.at, 1) {
			return nil, fmt.Errorf("probe: a setting is %v, want above 0", *x.at)
		}
	}
	if o.Batch == 0 {
		o.Batch = 256
	}
	if o.Epochs == 0 {
		o.Epochs = 300
	}
	if o.Batch < 1 || o.Epochs < 1 {
		return nil, fmt.Errorf("probe: batches of %d for %d epochs, want at least 1", o.Batch, o.Epochs)
	}
	p := newProbe(features, classes, text, o)
	speed, slope := make([]float64, len(p.text)), make([]float64, len(p.text))
	w := append([]float64(nil), p.text...)
	order := make([]int, features.Rows)
	for i := range order {
		order[i] = i
	}
	for epoch := range o.Epochs {
		rate := 1e-5
		if epoch > 0 {
			rate = o.Rate * (1 + math.Cos(math.Pi*float64(epoch)/float64(o.Epochs))) / 2
		}
		r.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for first := 0; first < len(order); first += o.Batch {
			batch := order[first:min(first+o.Batch, len(order))]
			p.entropy(w, batch, slope)
			if o.Constrained {
				p.penalty(w, slope)
			}
			for j, g := range slope {
				speed[j] = o.Momentum*speed[j] + g
				w[j] -= rate * speed[j]
			}
		}
	}
	for _, v := range w {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("probe: training diverged at rate %v", o.Rate)
		}
	}
	return &Embeddings{w, o.Scale}, nil
}

// probe is the loss of ZS-LP and CLAP.
type probe struct {
	z          rows // features divided by their lengths
	classes    []int
	n          int
	text       []float64
	scale      float64
	multiplier []float64
}

func newProbe(features Matrix, classes []int, text Matrix, o ProbeOptions) *probe {
	p := &probe{z: unit(features), classes: classes, n: text.Rows, text: widen(text.Data), scale: o.Scale, multiplier: make([]float64, text.Rows)}
	all := make([]int, p.z.n)
	for i := range all {
		all[i] = i
	}
	counts := make([]int, p.n)
	logits, _ := p.logits(p.text, all)
	for i, c := range classes {
		z := logits[i*p.n : (i+1)*p.n]
		Softmax(z, z)
		p.multiplier[c] += z[c]
		counts[c]++
	}
	for c, k := range counts {
		if k == 0 {
			p.multiplier[c] = 1
		} else {
			p.multiplier[c] /= float64(k)
		}
	}
	return p
}

// logits returns the logits of some rows, [rows, C], and the lengths of the vectors.
func (p *probe) logits(w []float64, batch []int) (logits, lengths []float64) {
	d := p.z.d
	units := make([]float64, len(w))
	lengths = make([]float64, p.n)
	for c := range p.n {
		lengths[c] = math.Sqrt(dot.Square(w[c*d : (c+1)*d]))
		for j, v := range w[c*d : (c+1)*d] {
			units[c*d+j] = v / lengths[c]
		}
	}
	logits = make([]float64, len(batch)*p.n)
	dot.Products(logits, dot.Pack(p.z.take(batch).data, d), dot.Pack(units, d))
	for i := range logits {
		logits[i] *= p.scale
	}
	return logits, lengths
}

// entropy returns the mean cross-entropy of some rows and sets slope to its gradient.
// For a logit s z.w/|w|, the gradient with respect to w is s (z - (z.u) u) / |w|, u = w/|w|.
func (p *probe) entropy(w []float64, batch []int, slope []float64) float64 {
	d, n := p.z.d, float64(len(batch))
	logits, lengths := p.logits(w, batch)
	sum := 0.0
	residuals := make([]float64, p.n*len(batch)) // [C, batch]
	along := make([]float64, p.n)                // sum of residual * logit
	registers.ClearUpper()
	for i, at := range batch {
		z := logits[i*p.n : (i+1)*p.n]
		q := append([]float64(nil), z...)
		Softmax(q, q)
		own := p.classes[at]
		top, rest := math.Inf(-1), 0.0
		for _, v := range z {
			top = max(top, v)
		}
		for _, v := range z {
			rest += math.Exp(v - top)
		}
		sum += top + math.Log(rest) - z[own]
		q[own]--
		for c, r := range q {
			residuals[c*len(batch)+i] = r / n
			along[c] += r / n * z[c]
		}
	}
	// Sums of residual * z, [C, D].
	part := p.z.take(batch)
	columns := make([]float64, len(part.data))
	for i := range part.n {
		for j, v := range part.row(i) {
			columns[j*part.n+i] = v
		}
	}
	dot.Products(slope, dot.Pack(residuals, part.n), dot.Pack(columns, part.n))
	for c := range p.n {
		for j := range d {
			u := w[c*d+j] / lengths[c]
			slope[c*d+j] = (p.scale*slope[c*d+j] - along[c]*u) / lengths[c]
		}
	}
	return sum / n
}

// penalty returns CLAP's and adds its gradient to slope.
func (p *probe) penalty(w, slope []float64) float64 {
	sum := 0.0
	for j, v := range w {
		a := p.multiplier[j/p.z.d] / float64(p.n)
		e := v - p.text[j]
		sum += a * e * e
		slope[j] += 2 * a * e
	}
	return sum
}
