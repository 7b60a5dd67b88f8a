// Package objective holds the loss terms of CEG as graph functions, one for
// each term of the paper (Yuan et al., "Label-Efficient Domain Generalization
// via Collaborative Exploration and Generalization", ACM MM 2022), under the
// paper's names:
//
//	L_ss = L_ce + L_ac + delta * L_eg
//
// with cross-entropy on labelled images (L_ce), FixMatch consistency on
// unlabelled ones (L_ac) and MixUp within and across domains on reliable ones
// (L_eg); and L_dd, which trains the domain discriminator.
//
// Every function returns one loss per image, so that the caller decides about
// means and sums. Logits are float32 [images, classes], labels int32 [images].
// Logarithms are natural.
package objective

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// CrossEntropy returns -log softmax(logits)[label] for each image, [images]. A
// label outside the classes yields 0: check labels before they get here.
func CrossEntropy(logits, labels *Node) *Node {
	labels.AssertDims(logits.Shape().Dimensions[0])
	hot := OneHot(labels, logits.Shape().Dimensions[1], logits.DType())
	return Neg(ReduceSum(Mul(hot, LogSoftmax(logits, -1)), -1))
}

// PseudoLabel returns what FixMatch makes of weak views: the most probable class
// [images] (int32; the first of equals) and whether its probability is at least
// tau, as 0 or 1 [images] (float32). No gradient flows through either.
func PseudoLabel(weakLogits *Node, tau float64) (label, mask *Node) {
	p := StopGradient(Softmax(weakLogits, -1))
	label = ArgMax(p, -1, dtypes.Int32)
	sure := GreaterOrEqual(ReduceMax(p, -1), Scalar(p.Graph(), p.DType(), tau))
	return label, ConvertDType(sure, weakLogits.DType())
}

// Consistency is the term of L_ac for each image, [images]: the cross-entropy of
// the strong view's logits with the weak view's pseudo-label, times its mask.
// Images below the threshold count as 0 and stay in the denominator of a mean,
// as in FixMatch and in the paper.
func Consistency(strongLogits, label, mask *Node) *Node {
	return Mul(mask, CrossEntropy(strongLogits, label))
}

// MixUp mixes images pairwise, lambda*a + (1-lambda)*b. The images are
// [images, height, width, 3] and lambda is [images].
func MixUp(a, b, lambda *Node) *Node {
	l := Reshape(lambda, lambda.Shape().Dimensions[0], 1, 1, 1)
	return Add(Mul(a, l), Mul(b, OneMinus(l)))
}

// MixCrossEntropy is the term of L_eg for each mixed image, [images]:
// lambda*CE(z, labelA) + (1-lambda)*CE(z, labelB), which is the cross-entropy
// with the mixed soft label.
func MixCrossEntropy(logits, labelA, labelB, lambda *Node) *Node {
	return Add(Mul(lambda, CrossEntropy(logits, labelA)), Mul(OneMinus(lambda), CrossEntropy(logits, labelB)))
}
