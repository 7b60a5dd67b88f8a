// Package feed loads and augments training batches ahead of time, on several goroutines.
//
// A [Loader] holds the examples' [Source] and the settings. For each epoch, pass the three
// subsets to Loader.Epoch and take its batches in order:
//
//	epoch, err := loader.Epoch(e, subsets)
//	if err != nil { ... }
//	for b, err := range epoch.Batches(ctx) {
//		...
//	}
//
// # Terms
//
// The subsets are CEG's: labelled (X), unlabelled (U), and reliable (R, unlabelled examples with
// pseudo-labels). A slot is a position in a batch. A pass draws from a subset without replacement
// until a batch can no longer be filled. An epoch is one pass over the unlabelled subset; the
// other subsets start new passes, reshuffled, as often as needed.
//
// # Sampling
//
// A batch holds Config.Batch examples of each of the K source domains, ordered by domain: slots
// k*Batch to (k+1)*Batch-1 belong to domain k. A pass has ⌊min over domains of n_k / Batch⌋
// batches, so each pass sees a different random part of larger domains. This is the published
// code's "sequential domain" sampler (Dassl's data/samplers.py), extended to cases in which that
// one fails:
//   - a domain with fewer than Batch examples (but some) is drawn with
//     replacement, and the pass has one batch;
//   - the slots of a domain without unlabelled or reliable examples are filled from
//     all other domains, with replacement (SubBatch.Domain holds the true domain of
//     every slot), and the domain does not limit the pass;
//   - a domain without labelled examples is an error.
//
// # Randomness
//
// Batches are a function of (Config.Seed, epoch, subsets). An epoch is planned when it starts,
// and every view has its own random stream, so neither the number of workers nor their timing
// changes a byte.
package feed
