// Package review finds what somebody should look at again: labels that are probably wrong,
// and images that are nearly the same. It knows numbers alone: features, classes, rows.
//
// A label is judged by a head that has not seen it: [OutOfSample] cross-validates logistic
// regression on features. [Suspicious] is confident learning: Northcutt, Jiang, Chuang,
// "Confident Learning: Estimating Uncertainty in Dataset Labels", JAIR 70 (2021), as
// cleanlab 2.9 computes it. [Duplicates] compares cosines with the distances that
// neighbours have otherwise.
package review
