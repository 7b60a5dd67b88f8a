package objective

import (
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"

	"github.com/ledg-go/ledg/ceg/nets"
)

// thresholdKeep is the share that stays in the averages of [WithSelfAdaptive]. The
// paper's is 0.999, which with a few thousand steps never warms up.
const thresholdKeep = 0.99

// WithSelfAdaptive replaces an objective's fixed confidence threshold with FreeMatch's
// self-adaptive ones (Wang et al., "FreeMatch: Self-adaptive Thresholding for Semi-supervised
// Learning", ICLR 2023). With p the class probabilities of the unlabelled weak views,
//
//	tau     = m tau + (1-m) mean of max_c p_c
//	pbar_c  = m pbar_c + (1-m) mean of p_c
//
// both start at 1/C, and m = 0.99. A pseudo-label y is used if max p >= tau * pbar_y / max_c
// pbar_c. It affects only objectives that call [Confident].
func WithSelfAdaptive(o Objective) Objective {
	others, step := o.Nets, o.Step
	o.Nets = func(d Dims) []Net {
		var list []Net
		if others != nil {
			list = slices.Clone(others(d))
		}
		// They are stored minus 1/C, so that they start from 0 like running means.
		return append(list, Net{Name: thresholdNet, Fixed: true, Params: []nets.Param{
			{Name: globalThreshold, Shape: []int{1}, Kind: nets.RunningMean},
			{Name: classThreshold, Shape: []int{d.Classes}, Kind: nets.RunningMean},
		}})
	}
	o.Step = func(s Step) { step(&selfAdaptive{Step: s}) }
	return o
}

const (
	thresholdNet    = "threshold"
	globalThreshold = thresholdNet + ".global"
	classThreshold  = thresholdNet + ".class"
)

// selfAdaptive is a step whose thresholds adapt, once.
type selfAdaptive struct {
	Step
	moved bool
}

// Confident is [PseudoLabel] with the fixed threshold tau or with self-adaptive ones. A step
// must call it on its unlabelled images first: these update the thresholds.
func Confident(s Step, weakLogits *Node, tau float64) (label, mask *Node) {
	a, ok := s.(*selfAdaptive)
	if !ok {
		return PseudoLabel(weakLogits, tau)
	}
	p := StopGradient(Softmax(weakLogits, -1))
	start := 1 / float64(a.Dims().Classes)
	global, class := AddScalar(a.Param(globalThreshold), start), AddScalar(a.Param(classThreshold), start)
	if !a.moved {
		a.moved = true
		global, class = Adapt(p, global, class, thresholdKeep)
		a.Set(globalThreshold, AddScalar(global, -start))
		a.Set(classThreshold, AddScalar(class, -start))
	}
	label, mask = Adapted(p, global, class)
	return label, ConvertDType(mask, weakLogits.DType())
}

// Adapt updates the averages global [1] and class [classes] with probabilities p [images,
// classes]; keep is the decay m.
func Adapt(p, global, class *Node, keep float64) (newGlobal, newClass *Node) {
	move := func(old, now *Node) *Node { return Add(MulScalar(old, keep), MulScalar(now, 1-keep)) }
	return move(global, Reshape(ReduceAllMean(ReduceMax(p, -1)), 1)), move(class, ReduceMean(p, 0))
}

// Adapted returns the most probable class of each image, int32 [images], and whether its
// probability reaches the class's threshold, global * class / max class.
func Adapted(p, global, class *Node) (label, sure *Node) {
	label = ArgMax(p, -1, dtypes.Int32)
	limits := Mul(global, Div(class, Reshape(ReduceAllMax(class), 1))) // [classes]
	hot := OneHot(label, p.Shape().Dimensions[1], p.DType())
	limit := ReduceSum(Mul(hot, Reshape(limits, 1, -1)), -1)
	return label, GreaterOrEqual(ReduceMax(p, -1), limit)
}
