package objective_test

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Logits of probabilities (0.96, 0.02, 0.02) and (0.5, 0.3, 0.2).
var weak = [][]float32{
	{float32(math.Log(0.96)), float32(math.Log(0.02)), float32(math.Log(0.02))},
	{float32(math.Log(0.5)), float32(math.Log(0.3)), float32(math.Log(0.2))},
}

func floats(t *testing.T, x *tensors.Tensor) []float32 {
	t.Helper()
	return fatal.Get(tensors.CopyFlatData[float32](x))(t)
}

func wantNear(t *testing.T, what string, got []float32, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > 1e-6 {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

func TestTermsByHand(t *testing.T) {
	b := enginetest.Open(t)
	out := fatal.Get(ExecOnceN(b.Compute, func(in []*Node) []*Node {
		z, labels, other, lambda := in[0], in[1], in[2], in[3]
		pseudo, mask := objective.PseudoLabel(z, 0.95)
		return []*Node{
			objective.CrossEntropy(z, labels),
			mask,
			objective.Consistency(z, pseudo, mask),
			objective.MixCrossEntropy(z, labels, other, lambda),
		}
	}, weak, []int32{0, 2}, []int32{1, 2}, []float32{0.25, 0.5}))(t)
	l := func(p float64) float64 { return -math.Log(p) }
	wantNear(t, "cross-entropy", floats(t, out[0]), l(0.96), l(0.2))
	wantNear(t, "mask", floats(t, out[1]), 1, 0)
	wantNear(t, "consistency", floats(t, out[2]), l(0.96), 0)
	wantNear(t, "mixed cross-entropy", floats(t, out[3]), 0.25*l(0.96)+0.75*l(0.02), l(0.2))
}

// Two images sure of class 0 and one half sure of class 1: thresholds follow FreeMatch's
// equations; class 1, with lower confidence, has a lower one.
func TestSelfAdaptiveThresholdsByHand(t *testing.T) {
	b := enginetest.Open(t)
	out := fatal.Get(ExecOnceN(b.Compute, func(in []*Node) []*Node {
		global, class := objective.Adapt(in[0], in[1], in[2], 0.5)
		label, sure := objective.Adapted(in[0], global, class)
		return []*Node{global, class, ConvertDType(label, dtypes.Float32), ConvertDType(sure, dtypes.Float32)}
	}, [][]float32{{0.9, 0.1}, {0.6, 0.4}, {0.45, 0.55}}, []float32{0.5}, []float32{0.5, 0.5}))(t)
	mean := (0.9 + 0.6 + 0.55) / 3
	wantNear(t, "global", floats(t, out[0]), 0.25+mean/2)
	wantNear(t, "class", floats(t, out[1]), 0.25+0.65/2, 0.25+0.35/2)
	wantNear(t, "label", floats(t, out[2]), 0, 0, 1)
	// The thresholds are 0.5917 and 0.5917 * 0.425 / 0.575 = 0.4373.
	wantNear(t, "sure", floats(t, out[3]), 1, 1, 1)
	out = fatal.Get(ExecOnceN(b.Compute, func(in []*Node) []*Node {
		_, sure := objective.Adapted(in[0], in[1], in[2])
		return []*Node{ConvertDType(sure, dtypes.Float32)}
	}, [][]float32{{0.65, 0.35}, {0.45, 0.55}, {0.49, 0.51}}, []float32{0.7}, []float32{0.6, 0.45}))(t)
	wantNear(t, "sure", floats(t, out[0]), 0, 1, 0) // 0.7 and 0.525
}

func TestGradientsAndTheirAbsence(t *testing.T) {
	b := enginetest.Open(t)
	out := fatal.Get(ExecOnceN(b.Compute, func(in []*Node) []*Node {
		weak, strong, labels := in[0], in[1], in[2]
		pseudo, mask := objective.PseudoLabel(weak, 0.95)
		ac := ReduceAllSum(objective.Consistency(strong, pseudo, mask))
		ce := ReduceAllSum(objective.CrossEntropy(strong, labels))
		return append(Gradient(Add(ac, MulScalar(ReduceAllSum(weak), 0)), weak, strong), Gradient(ce, strong)...)
	}, weak, weak, []int32{0, 2}))(t)
	wantNear(t, "consistency to the weak view", floats(t, out[0]), 0, 0, 0, 0, 0, 0)
	// softmax - onehot for the sure image, nothing for the other.
	wantNear(t, "consistency to the strong view", floats(t, out[1]), 0.96-1, 0.02, 0.02, 0, 0, 0)
	wantNear(t, "cross-entropy", floats(t, out[2]), 0.96-1, 0.02, 0.02, 0.5, 0.3, 0.2-1)
}

func TestMixUp(t *testing.T) {
	b := enginetest.Open(t)
	out := fatal.Get(ExecOnce(b.Compute, func(a, c, lambda *Node) *Node { return objective.MixUp(a, c, lambda) },
		[][][][]float32{{{{1, 2, 3}}}}, [][][][]float32{{{{5, 6, 7}}}}, []float32{0.25}))(t)
	wantNear(t, "mixed image", floats(t, out), 4, 5, 6)
}
