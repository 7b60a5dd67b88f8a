package ceg_test

import (
	"fmt"
	"log"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	. "github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Balanced is FixMatch with class-balanced pseudo-labels: each counts by the inverse of its class's number in
// the batch, so that frequent classes do not outweigh rare ones.
func Balanced(tau float64) Objective {
	return Objective{
		Name: "balanced-fixmatch",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled),
			Images("weak", Unlabelled, augment.WeakView), Images("strong", Unlabelled, augment.StrongView)},
		Step: func(s Step) {
			f := s.Forward(Backbone, View{Images: s.In("x")}, View{Images: s.In("weak"), NoGrad: true}, View{Images: s.In("strong")})
			ce := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[0]), s.In("y")))
			label, sure := PseudoLabel(s.Head(ClassHead, f[1]), tau)
			s.PseudoLabels(label, sure)
			hot := Mul(OneHot(label, s.Dims().Classes, sure.DType()), InsertAxes(sure, 1)) // [images, classes]
			count := ReduceSum(hot, 0)                                                     // [classes]
			seen := ReduceAllSum(MinScalar(count, 1))
			weight := Div(Mul(hot, Reshape(Inverse(MaxScalar(count, 1)), 1, -1)), MaxScalar(seen, 1))
			ac := ReduceAllSum(Mul(ReduceSum(weight, 1), CrossEntropy(s.Head(ClassHead, f[2]), label)))
			s.Term("ce", ce)
			s.Term("ac", ac)
			s.Minimise("total", Add(ce, ac), Backbone, ClassHead)
		},
	}
}

func init() {
	if err := Register(Balanced(0.95)); err != nil {
		log.Fatal(err)
	}
}

// A registered objective is a method by itself, and STRATEGY+OBJECTIVE with any strategy.
func Example_ownObjective() {
	for _, method := range []string{"balanced-fixmatch", "margin-density+balanced-fixmatch"} {
		c, err := config.Resolve(config.Spec{Target: "photo", Method: method, Timing: config.Early})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Arm().Name())
	}
	// Output:
	// Random + balanced-fixmatch (early schedule)
	// margin-density + balanced-fixmatch (early schedule)
}
