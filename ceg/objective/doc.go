// Package objective holds training methods as values. An [Objective] says what one
// step reads (inputs from the subsets of images), which random numbers it draws, which
// networks it has beside the backbone and its heads, and builds the step; package
// learner carries it out, on any backend, and owns weights and optimizer. There is
// one file for each method, under its paper's names, with its equations on top; the
// terms that several of them have are functions of this package.
//
// # How to read a step
//
// The package's example, in example_test.go, is a whole one, with a head, random
// numbers and a gradient of images of its own, and takes steps by package learner.
//
// A step is straight-line code on a [Step], in the order of a training loop:
//
//	f := s.Forward(Backbone, View{Name: "x", Images: s.In("x")})   // through a network
//	z := s.Head(ClassHead, f[0])                                     // and a head
//	loss := ReduceAllMean(CrossEntropy(z, s.In("y")))                // GoMLX functions
//	s.Minimise("total", loss, Backbone, ClassHead)                   // one step of SGD
//
// What comes after a Minimise sees the new weights; every Forward in train mode
// moves BatchNorm's running statistics, targets' passes too unless they are Frozen.
// Losses may use anything that GoMLX can differentiate. The learner walks back from a
// loss to all that Forward returned, and sends each network's share through it.
//
//   - Targets: View.NoGrad, or StopGradient.
//   - More heads: [Linear] in Objective.Nets, Step.Head by its name, and the name among
//     those of the Minimise.
//   - Masks of maps or features: products, as often as needed. Only Forward moves
//     running statistics; Step.Pool and Step.Head have none.
//   - Second networks: Objective.Nets, with a name that goes before their parameters'
//     ("D", "G"), a learning rate, and their own Forward and Minimise. A network
//     that makes images has nets.NoPool; Forward returns the images, and the
//     View that carries them on has ImageGrad.
//   - Teachers: [Teacher] in Nets, and [EMA] after the Minimise.
//   - Gradients of images: View.ImageGrad, and Step.Gradient of the same node. Of the
//     last maps: View.Maps, of which Step.Pool makes features, and Step.Gradient.
//   - Batches of one domain: View.Parts; what shares statistics has a View.Group.
//   - Random numbers: Objective.Draws, from streams of the run's seed; Step.In. Their
//     shapes are the draw's own, []int{1} for one number of the whole step.
//   - Numbers that change with training: Step.Scalar. Where the passes themselves
//     change, Objective.Phase.
//   - Another test head: Objective.Test.
//
// Views that the package does not have yet are functions on augment.Maker, wrapped
// into an augment.View with a name of their own; two independent ones of an image
// are v and v.Again("weak 2").
//
// # How to test one
//
// With golden values of two steps, computed by other code from given weights and
// random numbers: package learner/objectivetest says how such a fixture looks, and a
// test is one call of its Run. Name inputs, draws, views and terms as the fixture does.
// Without one, test what must hold: gradients that are zero, a step by hand.
//
// # How to make it a method
//
// A learner takes any Objective, wherever it is written. A file of this package and an
// entry in Methods, in registry.go, make it a word for ledg train --objective and for
// studies, with one line, the source, and if there are any the settings of its
// published code.
//
// CEG's own losses are those of Yuan et al., "Label-Efficient Domain Generalization
// via Collaborative Exploration and Generalization", ACM MM 2022. Functions of terms
// return one loss per image, so that the caller decides about means and sums. Logits
// are float32 [images, classes], labels int32 [images]. Logarithms are natural.
package objective
