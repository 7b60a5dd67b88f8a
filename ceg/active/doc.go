// Package active implements query strategies for active learning: which samples of an unlabelled
// pool to label next.
//
// A [Pool] records every candidate by its ID, with its label, query round and annotator. In each
// round, pass the network's outputs on the unlabelled samples to a [Strategy] as [Candidates],
// have the returned picks labelled, and record the labels:
//
//	strategy := active.CEG{Weights: active.Gammas(3, 1)}
//	picks, err := strategy.Query(candidates, n, seed.New(run, "query", round))
//	err = pool.Record("ann", round, active.IDs(picks), classes)
//
// A [Budget] limits the number of labels; [EvenRounds] (the paper) or [PublishedRounds] (the
// published code) divides it among rounds. [Divide] divides a query among domains.
//
// With few labels on features of a pretrained network, strategies that cover the pool select
// better than those that rank predictions. [MaxHerding], [TypiClust] and [KMeans] need no labels
// ([Cold]), so they can select the initial ones, and [BAIT] the following ones. Strategies that
// subsample large pools are [Limited].
//
// Terms:
//   - score: how informative a sample is by one measure; higher is better
//   - rank: a sample's position by a score, 0 for the highest; ties are ordered by a
//     seeded hash of their IDs ([Ties]), never by their rows
//   - uncertainty S_u: 1 - (p1 - p2), the two largest class probabilities (Eq. 1)
//   - representativeness S_r: the largest domain probability (Eq. 3)
//   - diversity S_d: the cosine distance to the nearest knowledge centroid (Eq. 5)
//   - R: the weighted sum of the three ranks; the smallest are queried (Eq. 6)
//
// Scores are computed in float64, from logits if available. Sort keys do not saturate, so
// candidates whose probabilities round to 1 still have distinct ranks. NaN is an error that
// names the array and the row. No function modifies its inputs.
package active
