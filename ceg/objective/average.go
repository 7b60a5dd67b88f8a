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

// WithAverage adds to an objective a moving average of backbone and class head over the
// steps, which predicts in their place (UPLM's model averaging, main.py, of which this
// is the part that needs no validation labels):
//
//	average = a * average + (1-a) * weights,  a = min(1 - 1/(steps+1), 0.999)
//
// after each step; running statistics are those of the last one. Training itself stays
// as it is. It panics for an objective with class logits of its own, whose heads are
// not averaged.
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

// Predicting returns the parameter that predicts in the place of one of the backbone or
// the class head, by their full names.
func (o Objective) Predicting(param string) string {
	if o.Predicts == "" {
		return param
	}
	return o.Predicts + "." + param
}
