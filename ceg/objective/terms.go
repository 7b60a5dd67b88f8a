package objective

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// CrossEntropy returns -log softmax(logits)[label] for each image, [images] (Eq. 14). A label
// out of range yields 0, so check labels before. The map of package ceg: (3).
func CrossEntropy(logits, labels *Node) *Node {
	labels.AssertDims(logits.Shape().Dimensions[0])
	hot := OneHot(labels, logits.Shape().Dimensions[1], logits.DType())
	return Neg(ReduceSum(Mul(hot, LogSoftmax(logits, -1)), -1))
}

// PseudoLabel returns FixMatch's pseudo-labels (Eq. 13): the most probable class, int32 [images]
// (the first of equals), and the mask of those with probability at least tau, float32 [images]
// of 0 and 1. No gradient flows through either. The map of package ceg: (4).
func PseudoLabel(weakLogits *Node, tau float64) (label, mask *Node) {
	p := StopGradient(Softmax(weakLogits, -1))
	label = ArgMax(p, -1, dtypes.Int32)
	sure := GreaterOrEqual(ReduceMax(p, -1), Scalar(p.Graph(), p.DType(), tau))
	return label, ConvertDType(sure, weakLogits.DType())
}

// Consistency returns L_ac for each image, [images] (Eq. 13): the cross-entropy of the strong
// view with the weak view's pseudo-label, times the mask. Masked images count as 0 and stay in
// the denominator of a mean, as in FixMatch and in the paper. The map of package ceg: (5).
func Consistency(strongLogits, label, mask *Node) *Node {
	return Mul(mask, CrossEntropy(strongLogits, label))
}

// MixUp returns lambda*a + (1-lambda)*b for each pair of images (Eq. 10 and 11). a and b are
// [images, height, width, 3], lambda is [images]. The map of package ceg: (11).
func MixUp(a, b, lambda *Node) *Node {
	l := Reshape(lambda, lambda.Shape().Dimensions[0], 1, 1, 1)
	return Add(Mul(a, l), Mul(b, OneMinus(l)))
}

// MixCrossEntropy returns L_eg for each mixed image, [images] (Eq. 12): lambda*CE(z, labelA) +
// (1-lambda)*CE(z, labelB), the cross-entropy with the mixed soft label.
// The map of package ceg: (12).
func MixCrossEntropy(logits, labelA, labelB, lambda *Node) *Node {
	return Add(Mul(lambda, CrossEntropy(logits, labelA)), Mul(OneMinus(lambda), CrossEntropy(logits, labelB)))
}

// EMA updates the parameters of a teacher from a student of the same architecture: teacher =
// keep*teacher + (1-keep)*student. keep is a float32 scalar. Running statistics are not
// averaged; the teacher's passes compute its own.
func EMA(s Step, teacher, student string, keep *Node) {
	full := func(net, name string) string {
		if net == Backbone {
			return name
		}
		return net + "." + name
	}
	for _, name := range s.Trained(teacher) {
		t, w := s.Param(full(teacher, name)), s.Param(full(student, name))
		s.Set(full(teacher, name), Add(Mul(t, keep), Mul(w, OneMinus(keep))))
	}
}

// OfDomain returns domain k's slice of the first axis of a batch.
func OfDomain(s Step, batch *Node, k int) *Node {
	n := batch.Shape().Dimensions[0] / s.Dims().Domains
	return SliceAxis(batch, 0, AxisRange(k*n, (k+1)*n))
}

// PerPart repeats each value of v [parts] n times, giving [parts*n].
func PerPart(v *Node, n int) *Node {
	parts := v.Shape().Dimensions[0]
	return Reshape(BroadcastToDims(Reshape(v, parts, 1), parts, n), parts*n)
}
