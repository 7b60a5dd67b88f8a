package objective_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	. "github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Upright is a method that no paper has. It learns the labelled images. A second head learns which
// unlabelled images were turned upside down; and it asks that their classes stay when a little of
// each image's gradient is added to it, in the direction that raises the entropy most.
//
//	u'      = u turned upside down with probability 1/2
//	u''     = u' + size * sign(grad_u' H(p(u')))
//	L_total = CE(z(x), y) + CE(turn(u'), turned) + mean over images of sum over classes of (p(u'') - p(u'))^2
func Upright(size float64) Objective {
	return Objective{
		Name:   "upright",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled), Images("u", Unlabelled, augment.WeakView)},
		Draws: []Draw{Ints("turned", PerImage, func(r *rand.Rand, _ Dims, v []int32) {
			for i := range v {
				v[i] = int32(r.IntN(2))
			}
		})},
		Nets: func(d Dims) []Net { return []Net{Linear("turn", d.Features, 2)} },
		Step: func(s Step) {
			u, turned := s.In("u"), s.In("turned") // [n, size, size, 3], [n]
			u = Where(Reshape(ConvertDType(turned, dtypes.Bool), -1, 1, 1, 1), Reverse(u, 1), u)

			f := s.Forward(Backbone, View{Name: "x", Images: s.In("x")}, View{Name: "u", Images: u, ImageGrad: true})
			z := s.Head(ClassHead, f[1])
			ce := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[0]), s.In("y")))
			turn := ReduceAllMean(CrossEntropy(s.Head("turn", f[1]), turned))

			// Where does the entropy grow? No weights move by this, and it is a constant.
			entropy := Neg(ReduceAllSum(Mul(Softmax(z, -1), LogSoftmax(z, -1))))
			moved := Add(u, MulScalar(Sign(s.Gradient(entropy, u)[0]), size))
			after := s.Head(ClassHead, s.Forward(Backbone, View{Name: "moved", Images: moved})[0])
			apart := Square(Sub(Softmax(after, -1), StopGradient(Softmax(z, -1))))
			steady := ReduceAllMean(ReduceSum(apart, -1))
			s.Term("ce", ce)
			s.Term("turn", turn)
			s.Term("steady", steady)
			s.Minimise("total", Add(ce, Add(turn, steady)), Backbone, ClassHead, "turn")
		},
	}
}

// An objective of one's own: Upright is all there is to write.
func Example() {
	backend, err := engine.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer backend.Close()
	l, err := learner.New(backend, learner.Options{
		Backbone: nets.SmallCNN(8, config.MeanPool), Objective: Upright(0.1),
		ImageSize: 16, Classes: 2, Domains: 1, PerDomain: 2, Momentum: 0.9,
	}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	dark, bright := make([]uint8, 16*16*3), make([]uint8, 16*16*3)
	for i := range bright {
		bright[i] = 255
	}
	images := append(dark, bright...)
	batch := learner.Batch{"x": images, "y": []int32{0, 1}, "u": images, "turned": []int32{0, 1}}
	var first, last []learner.Term
	for range 60 {
		out, err := l.Step(batch, learner.Now{Rates: learner.Rates{Backbone: 0.05, ClassHead: 0.05}}, learner.Stage{})
		if err != nil {
			fmt.Println(err)
			return
		}
		if last, err = out.Terms(); err != nil {
			fmt.Println(err)
			return
		}
		if first == nil {
			first = last
		}
	}
	for i := range last {
		fmt.Printf("%s: %v\n", last[i].Name, last[i].Value < first[i].Value || last[i].Value < 0.1)
	}
	// Output:
	// ce: true
	// turn: true
	// steady: true
	// total: true
}
