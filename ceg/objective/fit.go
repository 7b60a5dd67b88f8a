package objective

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
)

// Samples are all labelled examples, for an objective that fits its class head at once.
type Samples struct {
	// Features is [n, D], one example a row: standardised vectors.
	Features cluster.Matrix
	// Labels are the classes of the n examples, in [0, Classes), and Domains their source
	// domains.
	Labels, Domains []int
	Classes         int
	// Groups are those of the examples, nil for none.
	Groups []int
}

// Fitted is a class head that was fitted at once.
type Fitted struct {
	// Weight is [Classes, D], row by row, and Bias [Classes].
	Weight, Bias []float32
	// Terms are told of it as loss terms are, the loss first.
	Terms []FitTerm
}

// FitTerm is a number with a name.
type FitTerm struct {
	Name  string
	Value float64
}

// LogisticRegression is multinomial logistic regression on features as they are, fitted to its
// optimum whenever labels have come, instead of steps of SGD:
//
//	min over W, b of  C * sum over labelled x of CE(W x + b, y) + |W|^2 / 2
//
// Its strength C is the one of [head.Strengths] with the best accuracy on a source
// domain that is left out of the labels, in the mean of all of them; with one domain of
// five folds. Terms: "total", the mean cross-entropy on the labels; "strength", C; and
// "left out", that accuracy.
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
			if score.Strength == h.Strength {
				left = score.Accuracy
			}
		}
		return fitted(h.Weight, h.Bias, FitTerm{"total", s.crossEntropy(h)}, FitTerm{"strength", h.Strength}, FitTerm{"left out", left}), nil
	}}
}

// GDA is [head.FitGDA] in the place of steps: a Gaussian for each class, all of one
// covariance, on features divided by their lengths. It has nothing to choose. Term:
// "total", the mean cross-entropy on the labels.
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
		Test: ClassifierFunc(func(h Heads, features *Node) *Node { return h.Head(ClassHead, unit(features)) }),
	}
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
		return fmt.Errorf("it fits its head at once, and has inputs, draws, networks or steps besides")
	}
	return nil
}
