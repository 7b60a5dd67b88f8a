// Package head fits classifiers on features that are there already: what goes on top
// of a frozen backbone when labels are few.
//
//	h, err := head.Fit(labelled, classes, n, head.Options{Domains: domains})
//	logits := h.Logits(unlabelled)
//
// [Fit] is multinomial logistic regression whose strength is chosen inside the labels,
// by leaving out one domain at a time. [GDA] is the closed form of Gaussians of one
// covariance. [ZeroShot], [Probe] start from class embeddings, such as those of the
// class names by the text tower of CLIP or SigLIP. All give a value that turns features
// into logits.
//
// Words:
//   - strength: C of scikit-learn, which weighs the labels against the penalty
//     |W|^2/2; larger trusts the labels more
//   - class embedding: one vector for each class, in the space of the features
//
// Features are float32, [rows, D], without gaps; sums are in float64. Rows of NaN are
// errors that name the row. No input is written to.
//
// [Propagate] spreads labels to unlabelled rows over a graph of nearest neighbours.
package head
