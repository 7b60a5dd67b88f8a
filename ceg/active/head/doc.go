// Package head fits classification heads on precomputed features, for a frozen backbone and few
// labels.
//
//	h, err := head.Fit(labelled, classes, n, head.Options{Domains: domains})
//	logits := h.Logits(unlabelled)
//
// [Fit] is multinomial logistic regression (a linear probe) whose regularisation strength is
// selected by leave-one-domain-out cross-validation on the labels. [FitGDA] is closed-form
// Gaussian discriminant analysis with a shared covariance. [ZeroShot] and [Probe] start from
// class embeddings, such as those of class names by the text tower of CLIP or SigLIP. Each
// returns a [Head], which maps features to logits.
//
// Terms:
//   - C: the inverse regularisation strength, as in scikit-learn: the weight of the
//     labels against the penalty |W|^2/2
//   - class embedding: one vector for each class, in the space of the features
//
// [Propagate] spreads labels to unlabelled rows over a graph of nearest neighbours.
//
// Features are float32, [rows, D], contiguous; sums are float64. NaN is an error that names the
// row. No function modifies its inputs.
package head
