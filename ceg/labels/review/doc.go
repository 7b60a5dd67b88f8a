// Package review finds what somebody should look at again: labels that are probably wrong,
// and images that are nearly the same. It knows numbers alone: features, classes, rows.
//
// A label is judged by a head that has not seen it: [OutOfSample] cross-validates logistic
// regression on features. [Suspicious] is confident learning: Northcutt, Jiang, Chuang,
// "Confident Learning: Estimating Uncertainty in Dataset Labels", JAIR 70 (2021), as
// cleanlab 2.9 computes it. On features of PACS by EfficientNet-Lite0, with a tenth of the
// labels changed at random (n = 8 draws), the order has a mean average precision of 0.435
// with 60 labels, 0.617 with 150 and 0.798 with 400: that of cleanlab on the same
// probabilities, and with 60 and 150 labels 0.020 and 0.009 more than cleanlab's on those of
// scikit-learn's logistic regression, cross-validated once, at the best C of three. Of what
// is called likely 22, 35 and 57% was changed, and it has 86, 89 and 83% of what was.
//
// [Duplicates] compares cosines with the distances that neighbours have otherwise.
package review
