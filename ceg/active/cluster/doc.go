// Package cluster computes knowledge centroids of labelled samples, pseudo-labels unlabelled
// samples by their nearest centroid, and selects the reliable pseudo-labels.
//
// [Compute] averages labelled features. [Centroids.Closest] (the paper) or [Centroids.QuotaRandom]
// (the published code) match unlabelled features and select the reliable set. Its size is the [Threshold] of the epoch:
//
//	c, err := cluster.Compute(labelled, domains, classes, K, C, cluster.Raw)
//	count, err := threshold.Count(epoch, unlabelled.Rows)
//	set, err := c.Closest(unlabelled, nil, count)
//
// Terms:
//   - cell: a (domain, class) pair; cell (k, h) of C classes has index k*C + h
//   - centroid: the mean feature of a cell's labelled samples; a cell without
//     any is empty and has no centroid
//   - distance: cosine distance, 1 - cos, in [0, 2]
//
// Features are float32. Sums, means and distances are float64, in an order that depends neither
// on the number of processors nor on the row index, so equal rows have equal distances. Float32
// estimates with an error bound only decide which distances to skip. The distance of a zero
// vector to everything is 1. NaN and infinity are errors that name the row.
package cluster
