package objective

import (
	"math"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// RSC masks the features that the class head relies on most and trains on the rest (Huang et
// al., "Self-Challenging Improves Cross-Domain Generalization", ECCV 2020; the authors'
// Domain_Generalization/models/resnet.py). Z are the last feature maps of the images and of
// their mirror images, [n, h, w, c], and z the logits of pooled maps:
//
//	w       = mean over places of d z(Z)[y] / dZ             a channel
//	s       = sum over channels of Z * w                     a place
//	m       = 0 for the h*w/3 places of largest s, or for the c/3.2 channels of
//	          largest w, rounded up; 1 for the others. A draw for the batch decides
//	change  = max(0, p(Z)[y] - p(Z * m)[y] - 1e-4)           an image
//	M       = m for images whose change is above the one at place r*n of the
//	          descending order; 1 for the others
//	r       = 0.3, 0.5, 0.7 from epochs 0, 10 and 20 on
//	L_total = mean CE(z(Z * M), y)                           M is constant
//
// The mask keeps values equal to the first kept one, so ties are masked together or not at all.
// Maps of size 1x1 always mask channels.
func RSC() Objective {
	const places, channels, margin = 3, 3.2, 1e-4
	return Objective{
		Name:   "rsc",
		Inputs: []Input{Images("x", Labelled, augment.GreyPhotoView), Labels("y", Labelled)},
		Draws: []Draw{Ints("choose", func(Dims) []int { return []int{1} }, func(r *rand.Rand, _ Dims, v []int32) {
			v[0] = int32(r.IntN(10)) // places up to 4, as the authors draw it
		})},
		Step: func(s Step) {
			x, y := s.In("x"), s.In("y")
			y = Concatenate([]*Node{y, y}, 0)
			maps := s.Forward(Backbone, View{Images: Concatenate([]*Node{x, Reverse(x, 2)}, 0), Maps: true})[0]
			d := maps.Shape().Dimensions
			n, h, w, c := d[0], d[1], d[2], d[3]
			head := func(maps *Node) *Node { return s.Head(ClassHead, s.Pool(Backbone, maps)) }
			s.Note("map", maps)

			before := head(maps)
			weight := ReduceMean(s.Gradient(ReduceAllSum(ofClass(before, y)), maps)[0], 1, 2)
			score := ReduceSum(Mul(maps, Reshape(weight, n, 1, 1, c)), -1)
			s.Note("channel_weight", weight)
			s.Note("spatial_score", score)
			full := Reshape(withoutLargest(weight, upTo(c, channels)), n, 1, 1, c)
			if h*w > 1 {
				spatial := Reshape(withoutLargest(Reshape(score, n, h*w), upTo(h*w, places)), n, h, w, 1)
				byPlace := LessOrEqual(s.In("choose"), Scalar(y.Graph(), y.DType(), 4))
				full = Where(Reshape(byPlace, 1, 1, 1, 1), spatial, full)
			}

			pBefore := ofClass(Softmax(before, -1), y)
			pAfter := ofClass(Softmax(head(Mul(maps, full)), -1), y)
			change := MaxScalar(SubScalar(Sub(pBefore, pAfter), margin), 0)
			masked := GreaterThan(change, Reshape(atPlace(Reshape(change, 1, n), Round(MulScalar(mutedShare(s), float64(n)))), 1))
			s.Note("prob_before", pBefore)
			s.Note("prob_after", pAfter)
			s.Note("change", change)
			s.Note("image_masked", ConvertDType(masked, maps.DType()))

			mask := Where(Reshape(masked, n, 1, 1, 1), full, OnesLike(full))
			logits := head(Mul(maps, StopGradient(mask)))
			s.Note("logits.masked", logits)
			s.Minimise("total", ReduceAllMean(CrossEntropy(logits, y)), Backbone, ClassHead)
		},
	}
}

// mutedShare is r, the share of images that may keep their mask.
func mutedShare(s Step) *Node {
	stage := MinScalar(Floor(DivScalar(s.Scalar(Epoch), 10)), 2)
	return AddScalar(MulScalar(stage, 0.2), 0.3)
}

// RSCDomainBed is the simpler form of RSC in DomainBed (Gulrajani and Lopez-Paz,
// domainbed/algorithms.py): no mirror images, no curriculum, and entries of the features f
// instead of places and channels. q is the linearly interpolated quantile above which a share of
// the values lies. DomainBed uses a share of 1/3 for both and pretrained networks. From scratch,
// a share of 1/3 can keep a network at chance; a possible reason is that RSC's minimum change of
// 1e-4 is missing, so the mask is active from the first step.
//
//	g       = d z(f)[y] / df
//	m       = g < q(g)                           an entry; q over the image's entries
//	change  = p(f)[y] - p(f * m)[y]              an image
//	M       = m or change < q(change)            q over the batch
//	L_total = mean CE(z(f * M), y)               M is constant
func RSCDomainBed(share float64) Objective {
	return Objective{
		Name:   "rsc-domainbed",
		Inputs: []Input{Images("x", Labelled, augment.GreyPhotoView), Labels("y", Labelled)},
		Step: func(s Step) {
			y := s.In("y")
			f := s.Forward(Backbone, View{Name: "x", Images: s.In("x")})[0]
			n := f.Shape().Dimensions[0]
			head := func(features *Node) *Node { return s.Head(ClassHead, features) }

			before := head(f)
			g := s.Gradient(ReduceAllSum(ofClass(before, y)), f)[0]
			limit := allBut(share, g)
			maskF := LessThan(g, limit)
			s.Note("feature_gradient", g)
			s.Note("feature_percentile", Reshape(limit, n))
			s.Note("mask_f", ConvertDType(maskF, f.DType()))

			pBefore := ofClass(Softmax(before, -1), y)
			pAfter := ofClass(Softmax(head(Mul(f, ConvertDType(maskF, f.DType()))), -1), y)
			change := Reshape(Sub(pBefore, pAfter), 1, n)
			spared := Reshape(LessThan(change, allBut(share, change)), n, 1)
			s.Note("prob_before", pBefore)
			s.Note("prob_after", pAfter)
			s.Note("change", change)
			s.Note("mask_b", ConvertDType(spared, f.DType()))

			mask := ConvertDType(LogicalOr(maskF, spared), f.DType())
			s.Note("mask", mask)
			logits := head(Mul(f, StopGradient(mask)))
			s.Note("logits.masked", logits)
			s.Minimise("total", ReduceAllMean(CrossEntropy(logits, y)), Backbone, ClassHead)
		},
	}
}

// ofClass returns the value of each image's class, [images], of values [images,
// classes].
func ofClass(values, labels *Node) *Node {
	return ReduceSum(Mul(OneHot(labels, values.Shape().Dimensions[1], values.DType()), values), -1)
}

// upTo is the share 1/of of n, rounded up.
func upTo(n int, of float64) int { return int(math.Ceil(float64(n) / of)) }

// withoutLargest is 0 at the count largest values of each row of x [rows, n] and 1
// at the others.
func withoutLargest(x *Node, count int) *Node {
	return ConvertDType(LessOrEqual(x, atPlace(x, Scalar(x.Graph(), x.DType(), count))), x.DType())
}

// allBut is the value of each row of x [rows, n] below which all but a share of the way
// up is, interpolated linearly: [rows, 1].
func allBut(share float64, x *Node) *Node {
	last := x.Shape().Dimensions[1] - 1
	at := func(up int) *Node { return atPlace(x, Scalar(x.Graph(), x.DType(), last-up)) }
	place := (1 - share) * float64(last)
	below := int(place + 1e-9)
	rest := place - float64(below)
	v := at(below)
	if rest < 1e-9 {
		return v
	}
	return Add(v, MulScalar(Sub(at(below+1), v), rest))
}

// atPlace returns the value of each row of x [rows, n] at a place of the descending
// order, counted from 0: [rows, 1]. The place is a scalar, and x is of float32 or narrower. It finds
// the value's 32 bits one by one, in a pass over x each, so the time is linear in n.
func atPlace(x, place *Node) *Node {
	bits := Bitcast(ConvertDType(x, dtypes.Float32), dtypes.Int32)
	integer := func(v int32) *Node { return Scalar(x.Graph(), dtypes.Int32, v) }
	// Integers in the order of the values: of negative values minus the magnitude's bits.
	order := Where(LessThan(bits, integer(0)), Sub(integer(math.MinInt32), bits), bits)
	atLeast := func(limit *Node) *Node { // how many values of a row
		return ReduceAndKeep(ConvertDType(GreaterOrEqual(order, limit), x.DType()), ReduceSum, -1)
	}
	zero := ReduceAndKeep(ZerosLike(order), ReduceMax, -1)
	limit := Where(GreaterThan(atLeast(zero), place), zero, AddScalar(zero, math.MinInt32))
	for bit := 30; bit >= 0; bit-- {
		higher := Add(limit, integer(1<<bit))
		limit = Where(GreaterThan(atLeast(higher), place), higher, limit)
	}
	return ReduceAndKeep(Where(GreaterOrEqual(order, limit), x, Infinity(x.Graph(), x.DType(), 1)), ReduceMin, -1)
}
