package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/datasets/seed"
)

// Draw draws m of the items that are not in a by simple random sampling without replacement:
// every one of them is in the sample with probability m/(N-K), whatever is known of it, N the
// items and K those in a. Items are taken in the order of their names, so that the sample is a
// function of the names and the seed alone; it is in the order of the draw, so that a larger m
// begins with the same ones. Fewer than m items outside a are an error.
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

// Queue is A and the audit in one order, drawn, from which nobody can tell which is which.
func Queue(a, sample []string, runSeed uint64) []string {
	all := slices.Sorted(slices.Values(slices.Concat(a, sample)))
	return shuffle(all, seed.New(runSeed, "queue of a site"))
}

func shuffle(list []string, r *rand.Rand) []string {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
