package objective

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

const (
	averageNet  = "average"
	averageKeep = 0.999
)

// WithAverage adds an exponential moving average of backbone and class head to an objective; the
// average predicts. It is the part of UPLM's model averaging (main.py) that needs no validation
// labels:
//
//	average = a * average + (1-a) * weights,  a = min(1 - 1/(steps+1), 0.999)
//
// after each step. Running statistics are the last step's. Training is unchanged. It panics for an
// objective with its own class logits, whose heads are not averaged.
func WithAverage(o Objective) Objective {
	if o.Test != nil {
		panic("objective " + o.Name + " predicts by heads of its own, which are not averaged")
	}
	others, step := o.Nets, o.Step
	o.Predicts = averageNet
	o.Nets = func(d Dims) []Net {
		list := Teacher(averageNet, d)
		if others != nil {
			list = append(slices.Clone(others(d)), list...)
		}
		return list
	}
	o.Step = func(s Step) {
		step(s)
		a := MinScalar(OneMinus(Inverse(AddScalar(s.Scalar(Steps), 1))), averageKeep)
		EMA(s, averageNet, Backbone, a)
		EMA(s, averageNet+"."+ClassHead, ClassHead, a)
		params, _, err := nets.Params(s.Dims().Backbone, s.Dims().ImageSize)
		if err != nil {
			panic(err)
		}
		for _, p := range params {
			if !p.Kind.Trained() {
				s.Set(averageNet+"."+p.Name, s.Param(p.Name))
			}
		}
	}
	return o
}

// Networks of [WithThree], and the parameter that holds its best accuracy.
const (
	// BestNet holds the weights of the epoch with the best source validation accuracy so far.
	BestNet = "best"
	// ThreeNet holds the mean, which predicts.
	ThreeNet = "three"
	// AverageNet holds the moving average.
	AverageNet = averageNet
	// BestAccuracy is the best source validation accuracy, in [0, 1].
	BestAccuracy = "validation.best"
)

// WithThree adds UPLM's full model averaging (main.py) to an objective. The predicting network is
// the mean of three, including running statistics: the last weights, their moving average as in
// [WithAverage], and the weights of the epoch with the best source validation accuracy (the later
// of equal ones). A step updates only the moving average; package ceg updates the other two after
// each epoch. It panics like WithAverage.
func WithThree(o Objective) Objective {
	o = WithAverage(o)
	o.Predicts = ThreeNet
	others := o.Nets
	o.Nets = func(d Dims) []Net {
		return slices.Concat(others(d), Teacher(BestNet, d), Teacher(ThreeNet, d), []Net{
			{Name: "validation", Fixed: true, Params: []nets.Param{{Name: BestAccuracy, Shape: []int{1}, Kind: nets.RunningMean}}}})
	}
	return o
}

// Predicting returns the full name of the parameter that predicts in place of the named
// parameter of backbone or class head.
func (o Objective) Predicting(param string) string {
	if o.Predicts == "" {
		return param
	}
	return o.Predicts + "." + param
}
