package feed

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Subset is a set of examples to draw batches from.
type Subset struct {
	// Example holds indices of the source's examples, each at most once.
	Example []int
	// Domain holds the source domain of each example, an index into
	// Config.Domains.
	Domain []int
	// Label holds the class (labelled subset) or pseudo-label (reliable subset) of
	// each example. It must be empty for the unlabelled subset.
	Label []int
	// Views are the views that batches hold, identified by name. Without views the subset is not
	// drawn from.
	Views []augment.View
}

// Subsets are the training subsets of an epoch.
type Subsets struct {
	Labelled, Unlabelled, Reliable Subset
	// Iterations is the number of batches of the epoch. Zero means one pass over the unlabelled
	// subset, even if it has no Views, or over the labelled subset if the unlabelled one is
	// empty.
	Iterations int
}

// role says which subset of the epoch's one is. Its name is part of random streams.
type role int

const (
	labelled role = iota
	unlabelled
	reliable
	roles
)

func (r role) String() string { return [...]string{"labelled", "unlabelled", "reliable"}[r] }

func (p *Subsets) byRole() [roles]*Subset {
	return [roles]*Subset{labelled: &p.Labelled, unlabelled: &p.Unlabelled, reliable: &p.Reliable}
}

func (p *Subset) check(r role, cfg *Config, source Source) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("feed: %v subset: %w", r, fmt.Errorf(format, args...))
	}
	for _, v := range p.Views {
		if err := source.Check(v); err != nil {
			return fail("%w", err)
		}
	}
	n, examples := len(p.Example), source.Len()
	if len(p.Domain) != n || r != unlabelled && len(p.Label) != n {
		return fail("%d domains and %d labels for %d examples", len(p.Domain), len(p.Label), n)
	}
	seen := make([]bool, examples)
	for i, e := range p.Example {
		switch {
		case e < 0 || e >= examples:
			return fail("example %d is not in 0..%d", e, examples-1)
		case seen[e]:
			return fail("example %d is there twice", e)
		case p.Domain[i] < 0 || p.Domain[i] >= len(cfg.Domains):
			return fail("example %d: domain %d is not in 0..%d", e, p.Domain[i], len(cfg.Domains)-1)
		}
		seen[e] = true
	}
	if len(p.Views) == 0 {
		return nil
	}
	if n == 0 {
		return fail("it is empty")
	}
	if r == labelled {
		count := make([]int, len(cfg.Domains))
		for _, d := range p.Domain {
			count[d]++
		}
		for d, c := range count {
			if c == 0 {
				return fail("no example of domain %s", cfg.Domains[d])
			}
		}
	}
	return nil
}
