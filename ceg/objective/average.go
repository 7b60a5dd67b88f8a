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

// The nets of [WithThree], and the parameter of its best accuracy.
const (
	// BestNet has the weights of the epoch with the best source validation so far.
	BestNet = "best"
	// ThreeNet has the mean, which predicts.
	ThreeNet = "three"
	// AverageNet has the moving average.
	AverageNet = averageNet
	// BestAccuracy is that validation's accuracy, in [0, 1].
	BestAccuracy = "validation.best"
)

// WithThree adds to an objective the whole of UPLM's model averaging (main.py): what
// predicts is the plain mean of three networks, running statistics too: the last weights,
// their moving average as in [WithAverage], and those of the epoch with the best source
// validation, the later of equal ones. The last two are for whoever evaluates to set after
// every epoch, package ceg; a step moves the average alone. It panics like WithAverage.
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

// Predicting returns the parameter that predicts in the place of one of the backbone or
// the class head, by their full names.
func (o Objective) Predicting(param string) string {
	if o.Predicts == "" {
		return param
	}
	return o.Predicts + "." + param
}
