package ceg_test

import (
	"fmt"
	"log"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	. "github.com/ledg-go/ledg/ceg/objective"
)

// Balanced is FixMatch with class-balanced pseudo-labels: each counts by the inverse of its class's number in
// the batch, so that frequent classes do not outweigh rare ones.
func Balanced(tau float64) Objective {
	inputs, err := Named("x_weak", "y", "u_weak", "u_strong")
	if err != nil {
		log.Fatal(err)
	}
	return Objective{Name: "balanced-fixmatch", Inputs: inputs, Step: func(s Step) {
		f := s.Forward(Backbone, View{Images: s.In("x_weak")}, View{Images: s.In("u_weak"), NoGrad: true}, View{Images: s.In("u_strong")})
		ce := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[0]), s.In("y")))
		label, sure := PseudoLabel(s.Head(ClassHead, f[1]), tau)
		s.PseudoLabels(label, sure)
		hot := Mul(OneHot(label, s.Dims().Classes, sure.DType()), InsertAxes(sure, 1))    // [images, classes]
		weight := ReduceSum(Div(hot, Reshape(MaxScalar(ReduceSum(hot, 0), 1), 1, -1)), 1) // [images]
		scale := Div(ReduceAllMean(sure), MaxScalar(ReduceAllSum(weight), 1e-6))          // the sum of weights as in FixMatch
		ac := Mul(scale, ReduceAllSum(Mul(weight, CrossEntropy(s.Head(ClassHead, f[2]), label))))
		s.Term("ac", ac)
		s.Minimise("total", Add(ce, ac), Backbone, ClassHead)
	}}
}

var registeredBalanced = Register(Balanced(0.95))

// A registered objective is a method by itself, and STRATEGY+OBJECTIVE with any strategy.
func Example_ownObjective() {
	if registeredBalanced != nil {
		log.Fatal(registeredBalanced)
	}
	for _, method := range []string{"balanced-fixmatch", "badge+balanced-fixmatch"} {
		c := config.Must(config.Spec{Target: "photo", Method: method, Timing: config.Early})
		fmt.Println(c.Arm().Name())
	}
	// Output:
	// Random + balanced-fixmatch (early schedule)
	// BADGE + balanced-fixmatch (early schedule)
}
