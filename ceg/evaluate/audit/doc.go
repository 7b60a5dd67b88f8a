// Package audit says how right a network is on images of a site that it was not trained
// on, and how sure that is.
//
// Without labels there are two guesses: [Transport] and [Agreement]. With the labels of a
// simple random sample ([Draw]) there is a measurement: an [Interval] of the accuracy
// ([Wilson]), of what an adaptation has gained ([Gain]), of every class, and the classes that
// an image can be of ([Sets]). With the labels of the sources alone there is an [Estimate].
//
// Words:
//   - site: a domain that the network was not trained on
//   - set A: images of the site that are labelled to train on
//   - audit: images of the site that are labelled to measure with, drawn at random from those
//     outside A, and never trained on
//
// Everything is arithmetic on numbers that are there already: nothing here computes a
// network. Accuracies and probabilities are in [0, 1].
package audit
