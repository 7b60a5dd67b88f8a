package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/datasets/seed"
)

// Draw draws m of n items by simple random sampling without replacement: each has inclusion
// probability m/n. The sample is a function of the items' names and the seed, in random order, so a
// larger m extends a smaller one. Fewer than m items are an error.
func Draw(items []string, m int, runSeed uint64) ([]string, error) {
	all := slices.Sorted(slices.Values(items))
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			return nil, fmt.Errorf("audit: %q is there twice", all[i])
		}
	}
	if m < 0 || m > len(all) {
		return nil, fmt.Errorf("audit: %d images for an audit of %d", len(all), m)
	}
	return shuffle(all, seed.New(runSeed, "audit"))[:m], nil
}

// Queue merges the adaptation images a and the audit sample in random order, so that the
// annotator cannot distinguish them.
func Queue(a, sample []string, runSeed uint64) []string {
	all := slices.Sorted(slices.Values(slices.Concat(a, sample)))
	return shuffle(all, seed.New(runSeed, "queue of a site"))
}

func shuffle(list []string, r *rand.Rand) []string {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
