// Package cluster finds the knowledge centroids of the labelled samples, gives
// every unlabelled sample the class of its nearest centroid, and picks the
// samples whose pseudo-label is reliable.
//
// [Compute] the centroids from labelled features; [Centroids.Nearest] then
// matches unlabelled features, [Centroids.Closest] (the paper) or
// [Centroids.QuotaRandom] (the published code) choose the reliable ones, as many
// as the [Threshold] of the epoch says:
//
//	c, err := cluster.Compute(labelled, domains, classes, K, C, cluster.Raw)
//	count, err := threshold.Count(epoch, unlabelled.Rows, cluster.HalfEven)
//	set, err := c.Closest(unlabelled, count)
//
// Words:
//   - cell: a (domain, class) pair; cell (k, h) of C classes has index k*C + h
//   - centroid: the mean feature of a cell's labelled samples; a cell without
//     any is empty and has no centroid
//   - distance: cosine distance, 1 - cos, in [0, 2]
//
// Features are float32; sums, means and distances are float64, in an order that
// depends on neither the number of processors nor the place of a row, so equal
// rows have equal distances. Estimates in float32, with a bound of their error, only
// tell which distances need not be computed. A feature vector of length zero has no
// direction: its distance to everything is 1. NaN and infinity are errors that name
// the row.
package cluster
