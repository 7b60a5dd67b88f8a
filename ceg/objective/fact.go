package objective

import (
	"math"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// FACT mixes the amplitude spectra of images while keeping their phases, and trains student and
// moving-average teacher to agree across the mix. (Xu et al., "A Fourier-based Framework for
// Domain Generalization", CVPR 2021; its published code, train.py, for PACS.) o is a batch, s
// its randomly drawn partners, and l ~ U(0, eta) is drawn for each pair:
//
//	o'      = phase of o with amplitude (1-l)*|o| + l*|s|, clipped and cut to bytes
//	s'      = phase of s with amplitude (1-l)*|s| + l*|o|
//	L_cls   = mean CE(z(o, s), y),  L_aug = mean CE(z(o', s'), y)
//	KL_ori  = mean KL(t(o, s) || p(o', s')),  KL_aug = mean KL(t(o', s') || p(o, s))
//	L_total = (L_cls + L_aug)/2 + w * (KL_ori + KL_aug),  w = beta * exp(-5 * (1 - min(epoch, 5)/5)^2)
//	teacher = m * teacher + (1-m) * student,  m = min(1 - 1/(steps+2), 0.9995)
//
// p and t are the softmax of student and teacher at temperature 10. All images pass jointly.
// beta and eta are 2 and 1 for PACS, 200 and 0.2 for Office-Home (zhaoxin94/FACT's
// config/OfficeHome/ResNet50.py). The published code draws partners from all labelled images.
func FACT(beta, eta float64) Objective {
	const temperature, ramp, keep = 10, 5, 0.9995
	return Objective{
		Name:   "fact",
		Images: true,
		Inputs: []Input{Images("img", Labelled, augment.PhotoView), Labels("y", Labelled)},
		Draws: []Draw{
			Ints("partner", PerImage, func(r *rand.Rand, _ Dims, v []int32) {
				for i := range v {
					v[i] = int32(r.IntN(len(v)))
				}
			}),
			Floats("lambda", PerImage, func(r *rand.Rand, _ Dims, v []float32) {
				for i := range v {
					v[i] = float32(eta) * r.Float32()
				}
			}),
		},
		Nets: func(d Dims) []Net { return Teacher("teacher", d) },
		Step: func(s Step) {
			partner := InsertAxes(s.In("partner"), 1)
			o := s.Bytes("img")
			o2, s2 := mixAmplitudes(o, partner, s.In("lambda"))
			s.Note("s2o", o2)
			s.Note("o2s", s2)
			batch := s.Normalise(Concatenate([]*Node{o, Gather(o, partner), o2, s2}, 0))
			y := Concatenate([]*Node{s.In("y"), Gather(s.In("y"), partner)}, 0)

			z := s.Head(ClassHead, s.Forward(Backbone, View{Name: "batch", Images: batch})[0])
			t := StopGradient(s.Head("teacher.fc", s.Forward("teacher", View{Name: "teacher.batch", Images: batch, NoGrad: true})[0]))
			n := y.Shape().Dimensions[0]
			first := func(v *Node) *Node { return SliceAxis(v, 0, AxisRange(0, n)) }
			second := func(v *Node) *Node { return SliceAxis(v, 0, AxisRange(n, 2*n)) }
			kl := func(t, z *Node) *Node {
				lt, lz := LogSoftmax(DivScalar(t, temperature), -1), LogSoftmax(DivScalar(z, temperature), -1)
				return ReduceAllMean(ReduceSum(Mul(Exp(lt), Sub(lt, lz)), -1))
			}
			cls, aug := ReduceAllMean(CrossEntropy(first(z), y)), ReduceAllMean(CrossEntropy(second(z), y))
			ori, mixed := kl(first(t), second(z)), kl(second(t), first(z))
			s.Term("cls", cls)
			s.Term("aug", aug)
			s.Term("kl_ori", ori)
			s.Term("kl_aug", mixed)
			w := MulScalar(RampUp(s.Scalar(Epoch), ramp), beta)
			s.Minimise("total", Add(DivScalar(Add(cls, aug), 2), Mul(w, Add(ori, mixed))), Backbone, ClassHead)

			m := MinScalar(OneMinus(Inverse(AddScalar(s.Scalar(Steps), 2))), keep)
			EMA(s, "teacher", Backbone, m)
			EMA(s, "teacher.fc", ClassHead, m)
		},
	}
}

// mixAmplitudes mixes the amplitudes of images [n, side, side, 3] in 0..255 with their partners'.
// It returns both directions, truncated to integers in 0..255. It computes in float64, since a cut
// does not forgive rounding.
func mixAmplitudes(o, partner, lambda *Node) (o2, s2 *Node) {
	x := TransposeAllAxes(ConvertDType(o, dtypes.Float64), 0, 3, 1, 2)
	side := x.Shape().Dimensions[3]
	cos, sin := fourier(o.Graph(), side)
	re, im := transform(x, ZerosLike(x), cos, Neg(sin))
	size := Sqrt(Add(Square(re), Square(im)))
	l := ConvertDType(Reshape(lambda, -1, 1, 1, 1), dtypes.Float64)
	with := func(re, im, own, other *Node) *Node {
		amplitude := Add(Mul(own, OneMinus(l)), Mul(other, l))
		// The phase of nothing is 0.
		none := Equal(own, ZerosLike(own))
		scale := Div(amplitude, Where(none, OnesLike(own), own))
		re, im = Where(none, amplitude, Mul(re, scale)), Mul(im, scale)
		back, _ := transform(re, im, cos, sin)
		bytes := Floor(ClipScalar(DivScalar(back, float64(side*side)), 0, 255))
		return TransposeAllAxes(ConvertDType(bytes, dtypes.Float32), 0, 2, 3, 1)
	}
	partners := func(v *Node) *Node { return Gather(v, partner) }
	return with(re, im, size, partners(size)), with(partners(re), partners(im), partners(size), size)
}

// transform multiplies complex images [n, 3, side, side] from both sides by the
// matrix cos + i*sin, which is symmetric.
func transform(re, im, cos, sin *Node) (*Node, *Node) {
	for _, along := range []string{"nchw,wk->nchk", "nchw,hk->nckw"} {
		by := func(v, m *Node) *Node { return Einsum(along, v, m) }
		re, im = Sub(by(re, cos), by(im, sin)), Add(by(re, sin), by(im, cos))
	}
	return re, im
}

// fourier returns the cosines and sines of 2*pi*i*j/n, [n, n].
func fourier(g *Graph, n int) (cos, sin *Node) {
	c, s := make([][]float64, n), make([][]float64, n)
	for i := range n {
		c[i], s[i] = make([]float64, n), make([]float64, n)
		for j := range n {
			s[i][j], c[i][j] = math.Sincos(2 * math.Pi * float64(i*j%n) / float64(n))
		}
	}
	return Const(g, c), Const(g, s)
}
