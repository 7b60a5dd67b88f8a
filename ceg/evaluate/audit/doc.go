// Package audit estimates a network's accuracy on a new domain, with and without labels.
//
// Without labels there are two estimates: [Transport] and [Agreement]. With the labels of a
// simple random sample ([Draw]) there are 95% confidence intervals: of the accuracy ([Wilson]),
// of the gain from an adaptation ([Gain]) and of each class, and conformal prediction sets
// ([Sets]). With the labels of the source domains only, [Cross] gives a cross-validated
// [Estimate].
//
// Terms:
//   - site: a new domain that the network was not trained on
//   - adaptation set (A in the code): labelled images of the site for training
//   - audit set: labelled images of the site for evaluation, a random sample of those
//     outside the adaptation set, and never trained on
//
// Functions take numbers that networks have already computed. Accuracies and probabilities are
// in [0, 1].
package audit
