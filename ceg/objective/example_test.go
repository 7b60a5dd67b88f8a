package objective_test

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/augment"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	. "github.com/ledg-go/ledg/ceg/objective"
)

// Steady is a method that no paper has: it learns the labelled images, and asks that
// the unlabelled ones keep their distribution over the classes when a little of each
// image's gradient is added to it, in the direction that raises the entropy most.
//
//	x'      = x + size * sign(grad_x H(p(x)))
//	L_total = CE(z(x), y) + weight * mean over images of sum over classes of (p(u') - p(u))^2
func Steady(size, weight float64) Objective {
	return Objective{
		Name:   "steady",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled), Images("u", Unlabelled, augment.WeakView)},
		Step: func(s Step) {
			class := func(v View) *Node { return s.Head(ClassHead, s.Forward(Backbone, v)[0]) }

			// Where does the entropy grow? The weights do not move by this pass.
			u := s.In("u")
			z := class(View{Images: u, ImageGrad: true, Frozen: true})
			entropy := Neg(ReduceAllSum(Mul(Softmax(z, -1), LogSoftmax(z, -1))))
			moved := Add(u, MulScalar(Sign(s.Gradient(entropy, u)[0]), size))

			ce := ReduceAllMean(CrossEntropy(class(View{Name: "x", Images: s.In("x")}), s.In("y")))
			p := StopGradient(Softmax(z, -1))
			apart := Square(Sub(Softmax(class(View{Name: "moved", Images: moved}), -1), p))
			steady := ReduceAllMean(ReduceSum(apart, -1))
			s.Term("ce", ce)
			s.Term("steady", steady)
			s.Minimise("total", Add(ce, MulScalar(steady, weight)), Backbone, ClassHead)
		},
	}
}

// An objective of one's own: Steady is all there is to write.
func Example() {
	backend, err := engine.Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer backend.Close()
	l, err := learner.New(backend, learner.Options{
		Backbone: nets.SmallCNN(8, nets.MeanPool), Objective: Steady(0.1, 1),
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
	batch := learner.Batch{"x": images, "y": []int32{0, 1}, "u": images}
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
	// steady: true
	// total: true
}
