// Package poolfile runs a query strategy on a file of arrays, for users who train with other
// software.
//
// Export the network's outputs to a .npz, .safetensors or .parquet file, and call [Query]:
//
//	picks, err := poolfile.Query(ctx, "pool.npz", active.CEG{Weights: active.Gammas(3, 1)}, 100, 0, nil)
//
// The arrays, for N unlabelled and M labelled samples, D features, C classes and K domains, are:
//
//   - features [N, D], or [N, V, D] (view 0 is used)
//   - class_logits or class_probs [N, C]
//   - domain_logits or domain_probs [N, K]
//   - labelled_features [M, D], labelled_labels [M], labelled_domains [M]
//   - labelled_class_logits or labelled_class_probs [M, C], which bait needs
//   - domains [N], of the unlabelled samples, which ceg-balanced needs, and every
//     strategy whose query is divided among domains (active.Divided)
//   - groups [N] and labelled_groups, of any length: numbers or names of groups (a
//     patient, a burst). With them, one sample of each group is selected before a
//     second, groups without a label first (active.Grouped)
//
// in float32, float64, float16 or bfloat16, and int64 or int32. Only arrays that the strategy needs are
// read; strategies that can select the first labels (active.Cold) need no labelled array. Export
// logits if possible: they take precedence over probabilities. All scores are computed in
// float64 by quantities that do not saturate, so a run of ledg and a file of its logits give the
// same ranks. Float32 probabilities give them, too, if the largest rounds to 1, since the others
// determine the difference. Only if these round to 0, at logits some 100 apart, are candidates
// tied, and ordered by active.Ties.
//
// For ceg, ceg-balanced, uniform, entropy, bvsb and confidence the file may be larger than
// memory: they hold a few numbers for each sample. The other strategies hold the features in float32, and badge
// also the class probabilities. Rows are numbered from 0, in results and in errors.
//
// [Probe] fits a head on the labelled samples of such a file and writes its logits into a pool
// file for the next query, so features and a few labels are enough to start with. If an array
// labels [N] has the classes of the pool, it also reports the head's accuracy by domain.
package poolfile
