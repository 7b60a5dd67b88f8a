// Package feed prepares the batches of a training step ahead of time.
//
// A Loader owns the examples' Source and the settings. For each epoch, hand it the three
// subsets (Loader.Epoch), take batches in order (Epoch.Next), give each back when
// the step has used it (Batch.Release), and close the epoch. Worker goroutines
// read the examples and make the views while the step computes.
//
//	epoch, err := loader.Epoch(ctx, e, subsets)
//	if err != nil { ... }
//	defer epoch.Close()
//	for {
//		b, err := epoch.Next()
//		if err == io.EOF {
//			break
//		}
//		...
//		b.Release()
//	}
//
// # Words
//
// The subsets are those of CEG: labelled (X), unlabelled (U), and reliable (R, a
// part of the unlabelled examples with pseudo-labels). A slot is a place in a
// batch. A pass draws from a subset without replacement until a batch can no
// longer be filled. An epoch is one pass over the unlabelled subset; the other
// subsets start new passes, reshuffled, as often as needed.
//
// # Which examples
//
// A batch holds Config.Batch examples of each of the K
// source domains, domain after domain, so that slots k*Batch to (k+1)*Batch-1
// belong to domain k. A pass has ⌊min over domains of n_k / Batch⌋ batches, so
// larger domains are seen in part, another random part each time. This is the
// published code's "sequential domain" sampler (Dassl's data/samplers.py), and it
// goes on where that one fails:
//   - a domain with fewer than Batch examples (but some) is drawn with
//     replacement, and the pass has one batch;
//   - a domain without unlabelled or reliable examples has its slots filled from
//     all other domains, with replacement (SubBatch.Domain tells the true domain of
//     every slot), and does not limit the pass;
//   - a domain without labelled examples is an error.
//
// # Randomness
//
// Everything is a function of (Config.Seed, epoch, subsets): the plan of an epoch is
// made when it starts, and every view has a stream of its own. Neither the number
// of workers nor their timing changes a byte.
package feed
