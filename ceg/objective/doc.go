// Package objective defines training methods as values. An [Objective] lists the inputs, random
// numbers and networks of a training step and builds its graph. Package learner executes the
// step on any backend and owns weights and optimizer. Each method has one file with its
// equations; functions of this package compute the terms that methods share.
//
// # How to read a step
//
// example_test.go has a complete objective, with its own head, random numbers and an image
// gradient, which package learner trains.
//
// A step is straight-line code on a [Step], in the order of a training loop:
//
//	f := s.Forward(Backbone, View{Name: "x", Images: s.In("x")})   // through a network
//	z := s.Head(ClassHead, f[0])                                     // and a head
//	loss := ReduceAllMean(CrossEntropy(z, s.In("y")))                // GoMLX functions
//	s.Minimise("total", loss, Backbone, ClassHead)                   // one step of SGD
//
// Code after a Minimise uses the updated weights. Every Forward in train mode updates
// BatchNorm's running statistics, for targets too unless the view is Frozen. Losses may use any
// differentiable GoMLX function. The learner backpropagates a loss to the outputs of Forward,
// and from there through each network.
//
//   - Targets: View.NoGrad, or StopGradient.
//   - More heads: [Linear] in Objective.Nets, Step.Head by its name, and the name among
//     the variables of Minimise.
//   - Masks of maps or features: multiply by them, as often as needed. Only Forward updates
//     running statistics; Step.Pool and Step.Head have none.
//   - Second networks: Objective.Nets, with a name that prefixes their parameters'
//     ("D", "G"), a learning rate, and their own Forward and Minimise. A network
//     that generates images has nets.NoPool; Forward returns the images, and the
//     View that passes them on has ImageGrad.
//   - Teachers: [Teacher] in Nets, and [EMA] after the Minimise.
//   - Gradients of images: View.ImageGrad, and Step.Gradient of the same node. Of the
//     last maps: View.Maps, which Step.Pool turns into features, and Step.Gradient.
//   - Separate statistics for each domain: View.Parts. Shared ones: View.Group.
//   - Random numbers: Objective.Draws, from streams of the run's seed; Step.In. Each
//     draw has its own shape, []int{1} for one number a step.
//   - Numbers that change during training: Step.Scalar. If the passes themselves
//     change, Objective.Phase.
//   - Another test head: Objective.Test.
//
// New views are functions on augment.Maker, wrapped into an augment.View with a name of their
// own. Two independent views of an image are v and v.Again("weak 2").
//
// # How to test one
//
// Compare two steps with golden values that other code computed from the same weights and random
// numbers. The file golden_test.go of package learner describes this fixture. Name inputs, draws, views
// and terms as the fixture does. Without a fixture, test properties: gradients that must be zero, a step
// computed by hand.
//
// # How to make it a method
//
// [Register] makes an objective available under its name in the program that calls it: in
// configs, studies and tables, alone or as STRATEGY+NAME. [RegisterEntry] does so for an objective
// that depends on a run's settings. A digest of its code is part of each run's identity. The
// objective can be in any package. Test it with objectivetest.Check; package ceg has an example.
// In a notebook, nb.Objective does the same in a cell.
//
// A built-in method, which ledg train --objective has too, is a file in this package and an entry
// in registry.go. The entry has a one-line description, the source, and the settings of the
// published code if there are any.
//
// CEG's own losses are those of Yuan et al., "Label-Efficient Domain Generalization via
// Collaborative Exploration and Generalization", ACM MM 2022. Term functions return one loss for
// each image; the caller reduces them. Logits are float32 [images, classes], labels int32
// [images]. Logarithms are natural.
package objective
