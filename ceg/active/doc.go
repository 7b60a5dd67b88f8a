// Package active decides which samples to ask labels for, and keeps the ledger
// of those that were given.
//
// A [Pool] knows every candidate by its ID and who labelled it when. Each round,
// hand what the network says about the unlabelled ones to a [Strategy] as
// [Candidates], ask somebody for the samples it picks, and the pool records the
// answers:
//
//	strategy := active.CEG{Weights: active.Gammas(3, 1)}
//	picks, err := strategy.Query(candidates, n, seed.New(run, "query", round))
//	err = pool.Record("ann", round, active.IDs(picks), classes)
//
// How many to ask comes from a [Budget], divided among rounds by [EvenRounds] (the
// paper) or [PublishedRounds] (the published code).
//
// With few labels on features of a network that was trained elsewhere, strategies that
// cover the pool ask better than those that look at predictions: [MaxHerding],
// [TypiClust] and [KMeans] need no label ([Cold]) and can choose the first ones, [BAIT]
// goes on from them. [Divide] asks every domain for its part. Strategies that look at a
// part of a large pool say so ([Limited]).
//
// Words:
//   - score: how informative a sample is by one measure; higher is more wanted
//   - rank: a sample's place by a score, 0 for the highest; equal scores rank by a
//     seeded hash of their IDs ([Ties]), never by their rows
//   - uncertainty S_u: 1 - (p1 - p2), the two largest class probabilities
//   - representativeness S_r: the largest domain probability
//   - diversity S_d: the cosine distance to the nearest knowledge centroid
//   - R: the weighted sum of the three ranks; the smallest are asked
//
// Scores are computed in float64, from logits where there are any. What is compared
// are quantities that do not saturate, so that a probability that rounds to 1 still
// has its place among others that do. NaN is an error that names the array and the
// row; nothing is repaired, and no input is written to.
package active
