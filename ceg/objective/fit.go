package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Samples are the labelled examples for an objective that fits its class head in closed form or
// to convergence ([Objective.Fit]).
type Samples struct {
	// Features is [n, D], standardised, one example a row.
	Features cluster.Matrix
	// Labels [n] are classes in [0, Classes), Domains [n] source domains.
	Labels, Domains []int
	Classes         int
	// Groups [n] are the examples' groups, or nil.
	Groups []int
	// Unlabelled is [m, D], the unlabelled examples of the pool. Only objectives with
	// [Objective.Pool] read it.
	Unlabelled cluster.Matrix
	// Names are embeddings of the classes' names. Only objectives with [Objective.Names] read them.
	Names *Names
}

// Names are class embeddings Rows [Classes, D] in the space of features before standardisation, which
// is (x - Mean) * Scale for features x of length 1.
type Names struct {
	Rows  cluster.Matrix
	Mean  []float32
	Scale float32
}

// Fitted is a fitted linear class head.
type Fitted struct {
	// Weight is [Classes, D], row-major, and Bias [Classes].
	Weight, Bias []float32
	// Terms are reported like loss terms, the loss first.
	Terms []FitTerm
}

// FitTerm is a named number.
type FitTerm struct {
	Name  string
	Value float64
}

// LogisticRegression is multinomial logistic regression on frozen features (a linear probe),
// refitted to its optimum after every query instead of SGD steps:
//
//	min over W, b of  C * sum over labelled x of CE(W x + b, y) + |W|^2 / 2
//
// The inverse regularisation strength C is selected from a fixed grid by mean accuracy over
// leave-one-source-domain-out folds of the labels; with one domain, by five-fold
// cross-validation. Terms: "total", the mean cross-entropy on the labels; "strength", C; "left
// out", the cross-validated accuracy.
func LogisticRegression() Objective {
	return Objective{Name: "logistic", Fit: func(s Samples) (Fitted, error) {
		zeros, ones := make([]float64, s.Features.Cols), make([]float64, s.Features.Cols)
		for j := range ones {
			ones[j] = 1
		}
		h, err := head.Fit(s.Features, s.Labels, s.Classes, head.Options{Domains: s.Domains, Groups: s.Groups, Mean: zeros, Scale: ones})
		if err != nil {
			return Fitted{}, err
		}
		left := 0.0
		for _, score := range h.Scores {
			if score.Value == h.C {
				left = score.Accuracy
			}
		}
		return fitted(h.Weight, h.Bias, FitTerm{"total", s.crossEntropy(h)}, FitTerm{"strength", h.C}, FitTerm{"left out", left}), nil
	}}
}

// Propagation is [LogisticRegression] on labels and on pseudo-labels of the pool's other images,
// made by label propagation ([head.Propagate]; Iscen et al., CVPR 2019):
//
//	min over W, b of  C * sum over x of w(x) CE(W x + b, y(x)) + |W|^2 / 2
//
// A labelled image has weight 1. Any other image has the class of its largest propagated share
// and a weight proportional to [head.Certainty]; the weights of all pseudo-labels sum to the
// number of labels. This normalisation is our own choice. C is selected on the labels alone, as
// in LogisticRegression. Terms: "total", the mean cross-entropy on the labels; "strength", C;
// "certainty", its mean over the pseudo-labels.
func Propagation() Objective {
	return Objective{Name: "propagation", Pool: true, Fit: func(s Samples) (Fitted, error) {
		d, labels := s.Features.Cols, len(s.Labels)
		zeros, ones := make([]float64, d), make([]float64, d)
		for j := range ones {
			ones[j] = 1
		}
		h, err := head.Fit(s.Features, s.Labels, s.Classes, head.Options{Domains: s.Domains, Groups: s.Groups, Mean: zeros, Scale: ones})
		if err != nil {
			return Fitted{}, err
		}
		certain := 0.0
		if s.Unlabelled.Rows > 0 {
			all := cluster.Matrix{Rows: labels + s.Unlabelled.Rows, Cols: d, Stride: d, Data: slices.Concat(rowsOf(s.Features), rowsOf(s.Unlabelled))}
			at := make([]int, labels)
			for i := range at {
				at[i] = i
			}
			shares, err := head.Propagate(all, at, s.Labels, s.Classes, head.PropagateOptions{})
			if err != nil {
				return Fitted{}, err
			}
			rows, classes, weights := at, slices.Clone(s.Labels), make([]float64, labels)
			for i := range weights {
				weights[i] = 1
			}
			for i := labels; i < all.Rows; i++ {
				p := shares[i*s.Classes : (i+1)*s.Classes]
				if w := head.Certainty(p); w > 0 {
					rows, weights, certain = append(rows, i), append(weights, w), certain+w
					classes = append(classes, slices.Index(p, slices.Max(p)))
				}
			}
			for i := range weights[labels:] {
				weights[labels+i] *= float64(labels) / certain
			}
			if h, err = head.Fit(cluster.SelectRows(all, rows), classes, s.Classes, head.Options{Cs: []float64{h.C}, Weights: weights, Mean: zeros, Scale: ones}); err != nil {
				return Fitted{}, err
			}
			certain /= float64(s.Unlabelled.Rows)
		}
		return fitted(h.Weight, h.Bias, FitTerm{"total", s.crossEntropy(h)}, FitTerm{"strength", h.C}, FitTerm{"certainty", certain}), nil
	}}
}

// rowsOf returns the values of a matrix without gaps.
func rowsOf(m cluster.Matrix) []float32 {
	out := make([]float32, 0, m.Rows*m.Cols)
	for i := range m.Rows {
		out = append(out, m.Data[i*m.Stride:i*m.Stride+m.Cols]...)
	}
	return out
}

// GDA is Gaussian discriminant analysis with a shared covariance on L2-normalised features
// ([head.FitGDA]), without SGD steps and without hyperparameters. Term: "total", the mean
// cross-entropy on the labels.
func GDA() Objective {
	return Objective{
		Name: "gda",
		Fit: func(s Samples) (Fitted, error) {
			g, err := head.FitGDA(s.Features, s.Labels, s.Classes, head.GDAOptions{})
			if err != nil {
				return Fitted{}, err
			}
			return fitted(g.Weight, g.Bias, FitTerm{"total", s.crossEntropy(g)}), nil
		},
		Test: ClassifierFunc(func(h Heads, features *Node) *Node { return h.Head(ClassHead, UnitRows(features)) }),
	}
}

// CLAP is a linear probe that starts from embeddings of the classes' names and is kept near them
// ([head.Probe]), with the authors' settings and no validation. The cosine with features of length 1 is
// linear in the standardised features. Term: "total", the mean cross-entropy on the labels.
func CLAP() Objective {
	return Objective{Name: config.CLAP, Names: true, Fit: func(s Samples) (Fitted, error) {
		if s.Names == nil {
			return Fitted{}, errors.New("it starts from class names, and the features have none: embed them with --names")
		}
		d := s.Features.Cols
		x := cluster.Matrix{Rows: s.Features.Rows, Cols: d, Stride: d}
		for i, v := range rowsOf(s.Features) {
			x.Data = append(x.Data, v/s.Names.Scale+s.Names.Mean[i%d])
		}
		e, err := head.Probe(x, s.Labels, s.Names.Rows, head.ProbeOptions{Constrained: true}, seed.New(1, "clap"))
		if err != nil {
			return Fitted{}, err
		}
		h := &head.Linear{Weight: make([]float64, len(e.Weight)), Bias: make([]float64, s.Classes)}
		for c := range s.Classes {
			w := e.Weight[c*d : (c+1)*d]
			length := 0.0
			for _, v := range w {
				length += v * v
			}
			for j, v := range w {
				v *= e.Scale / math.Sqrt(length)
				h.Weight[c*d+j] = v / float64(s.Names.Scale)
				h.Bias[c] += v * float64(s.Names.Mean[j])
			}
		}
		return fitted(h.Weight, h.Bias, FitTerm{"total", s.crossEntropy(h)}), nil
	}}
}

// fitted is a head in float32.
func fitted(weight, bias []float64, terms ...FitTerm) Fitted {
	f := Fitted{Weight: make([]float32, len(weight)), Bias: make([]float32, len(bias)), Terms: terms}
	for i, v := range weight {
		f.Weight[i] = float32(v)
	}
	for i, v := range bias {
		f.Bias[i] = float32(v)
	}
	return f
}

// crossEntropy is the mean over the samples of a head's.
func (s Samples) crossEntropy(h head.Head) float64 {
	z, sum := h.Logits(s.Features), 0.0
	for i, y := range s.Labels {
		row := z.Data[i*z.Stride : i*z.Stride+z.Cols]
		top, all := math.Inf(-1), 0.0
		for _, v := range row {
			top = max(top, float64(v))
		}
		for _, v := range row {
			all += math.Exp(float64(v) - top)
		}
		sum += math.Log(all) + top - float64(row[y])
	}
	return sum / float64(len(s.Labels))
}

// checkFit reports what an objective that fits cannot have.
func (o Objective) checkFit() error {
	if o.Step != nil || len(o.Inputs) > 0 || len(o.Draws) > 0 || o.Nets != nil || o.Phase != nil {
		return fmt.Errorf("it fits its head in closed form, so it cannot have inputs, draws, networks or steps")
	}
	return nil
}
