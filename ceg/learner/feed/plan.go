package feed

import (
	"math/rand/v2"

	"github.com/ledg-go/ledg/datasets/seed"
)

// plan says which examples fill the batches of an epoch.
type plan struct {
	iterations int
	draws      [roles]draw
}

// draw is the part of a plan that concerns one subset.
type draw struct {
	// slots is the number of examples in a batch, 0 if the subset has no views.
	slots int
	// at[iteration*slots+slot] is a position in the subset.
	at []int
	// passes is the number of passes begun.
	passes int
}

// newPlan draws an epoch. The subsets must have been checked.
func newPlan(cfg *Config, epoch int, subsets *Subsets) plan {
	var p plan
	var samplers [roles]*balanced
	for r, subset := range subsets.byRole() {
		samplers[r] = newBalanced(subset, cfg)
	}
	p.iterations = subsets.Iterations
	if p.iterations == 0 {
		r := unlabelled
		if len(subsets.Unlabelled.Example) == 0 {
			r = labelled
		}
		p.iterations = samplers[r].batches()
	}
	for r, subset := range subsets.byRole() {
		if len(subset.Views) == 0 {
			continue
		}
		s := samplers[r]
		d := draw{slots: s.slots()}
		d.at = make([]int, 0, (p.iterations+s.batches())*d.slots)
		for len(d.at) < p.iterations*d.slots {
			d.at = s.pass(d.at, seed.New(cfg.Seed, "sampler "+role(r).String(), uint64(epoch), uint64(d.passes)))
			d.passes++
		}
		d.at = d.at[:p.iterations*d.slots]
		p.draws[r] = d
	}
	return p
}

// balanced cuts a subset into the batches of a pass, size examples from each domain; if pooled,
// all domains are one.
type balanced struct {
	size, n int
	domain  [][]int // positions in the subset by domain
}

func newBalanced(p *Subset, cfg *Config) *balanced {
	k, size := len(cfg.Domains), cfg.Batch
	if cfg.Pooled {
		k, size = 1, k*size
	}
	s := &balanced{size: size, n: len(p.Example), domain: make([][]int, k)}
	for i, d := range p.Domain {
		if cfg.Pooled {
			d = 0
		}
		s.domain[d] = append(s.domain[d], i)
	}
	return s
}

// slots is the number of examples in a batch.
func (s *balanced) slots() int { return s.size * len(s.domain) }

// batches is the number of batches in a pass, 0 for an empty subset.
func (s *balanced) batches() int {
	if s.n == 0 {
		return 0
	}
	fewest := s.n
	for _, d := range s.domain {
		if len(d) > 0 {
			fewest = min(fewest, len(d))
		}
	}
	return max(1, fewest/s.size)
}

// pass appends the positions of a pass, batches()*slots() of them, to dst. It
// depends on the subset and on r alone, not on earlier passes.
func (s *balanced) pass(dst []int, r *rand.Rand) []int {
	order := make([][]int, len(s.domain))
	for k, d := range s.domain {
		order[k] = r.Perm(len(d))
	}
	for t := range s.batches() {
		for k, d := range s.domain {
			switch {
			case len(d) >= s.size:
				for _, i := range order[k][t*s.size : (t+1)*s.size] {
					dst = append(dst, d[i])
				}
			case len(d) > 0:
				for range s.size {
					dst = append(dst, d[r.IntN(len(d))])
				}
			default:
				for range s.size {
					dst = append(dst, r.IntN(s.n))
				}
			}
		}
	}
	return dst
}
