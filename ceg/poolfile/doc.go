// Package poolfile runs a query strategy on a file of arrays: exploration for
// people who train elsewhere, without the rest of ledg.
//
// Export what the network says to a .npz or .safetensors file, and call [Query]:
//
//	picks, err := poolfile.Query(ctx, "pool.npz", active.CEG{Weights: active.Gammas(3, 1)}, 100, nil)
//
// The arrays, of N unlabelled and M labelled samples, D features, C classes and K
// domains, are:
//
//   - features [N, D]
//   - class_logits or class_probs [N, C]
//   - domain_logits or domain_probs [N, K]
//   - labelled_features [M, D], labelled_labels [M], labelled_domains [M]
//
// in float32 or float64, and int64 or int32. Only those that the strategy needs are
// looked at; where logits and probabilities are both there, logits are taken.
// Softmax and all scores are computed in float64, so ranks tell apart what the
// file tells apart.
//
// For ceg, uniform, entropy, bvsb and confidence the file may be larger than
// memory: they hold a few numbers for each sample and never all features. The
// other strategies hold the features in float32, and badge the class
// probabilities too. Rows are numbered from 0, in results and in errors.
package poolfile
