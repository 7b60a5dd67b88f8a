// Package poolfile runs a query strategy on a file of arrays: exploration for
// people who train elsewhere, without the rest of ledg.
//
// Export what the network says to a .npz, .safetensors or .parquet file, and call
// [Query]:
//
//	picks, err := poolfile.Query(ctx, "pool.npz", active.CEG{Weights: active.Gammas(3, 1)}, 100, nil)
//
// The arrays, of N unlabelled and M labelled samples, D features, C classes and K
// domains, are:
//
//   - features [N, D], or [N, V, D] of which view 0 counts
//   - class_logits or class_probs [N, C]
//   - domain_logits or domain_probs [N, K]
//   - labelled_features [M, D], labelled_labels [M], labelled_domains [M]
//   - labelled_class_logits or labelled_class_probs [M, C], which bait needs
//   - domains [N], of the unlabelled samples, which ceg-balanced needs, and every
//     strategy whose query is divided among domains (active.Divided)
//   - groups [N] and labelled_groups, of any length: numbers or names of what belongs
//     together (a patient, a burst). Where they are, one sample of a group is chosen before a
//     second, and first those of groups without a label (active.Grouped)
//
// in float32, float64 or float16, and int64 or int32. Only those that the strategy needs are
// looked at; strategies that can choose the first labels (active.Cold) take a file
// without any labelled array. Where logits and probabilities are both there, logits are taken, and
// they are what to export. All scores are computed in float64 by quantities that do
// not saturate, so a run of ledg and a file of its logits have the same ranks.
// Probabilities in float32 still have them where the largest is rounded to 1, since
// the others tell how much it lacks, until these are rounded to 0 (where the logits
// are some 100 apart); what is equal then is put into the order of active.Ties.
//
// For ceg, ceg-balanced, uniform, entropy, bvsb and confidence the file may be
// larger than memory: they hold a few numbers for each sample and never all features,
// and shards of the file can be scored by themselves ([Score], [Merge]). The other
// strategies hold the features in float32, and badge the class probabilities too. Rows
// are numbered from 0, in results and in errors.
//
// [Probe] fits a head on the labelled samples of such a file, measures it by domain where
// an array labels [N] has the classes of the pool, and writes what the head says into a
// pool file for the next query: features and a few labels are enough to begin with.
package poolfile
