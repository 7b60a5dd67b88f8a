package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/datasets/seed"
)

// Draw draws m of the items outside a by simple random sampling without replacement: each has
// inclusion probability m/(N-K), for N items and K in a. The sample is a function of the items'
// names and the seed, in random order, so a larger m extends a smaller one. Fewer than m items
// outside a are an error.
func Draw(items, a []string, m int, runSeed uint64) ([]string, error) {
	in := make(map[string]bool, len(a))
	for _, id := range a {
		in[id] = true
	}
	rest := slices.DeleteFunc(slices.Sorted(slices.Values(items)), func(id string) bool { return in[id] })
	for i := 1; i < len(rest); i++ {
		if rest[i] == rest[i-1] {
			return nil, fmt.Errorf("audit: %q is there twice", rest[i])
		}
	}
	if m < 0 || m > len(rest) {
		return nil, fmt.Errorf("audit: %d images outside A for an audit of %d", len(rest), m)
	}
	return shuffle(rest, seed.New(runSeed, "audit"))[:m], nil
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
