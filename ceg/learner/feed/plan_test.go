package feed

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets/seed"
)

// testSubset returns a subset with sizes[d] examples of each domain d, interleaved in
// a scrambled order, numbered from first.
func testSubset(views []augment.View, first int, sizes ...int) Subset {
	p := Subset{Views: views}
	for d, n := range sizes {
		for range n {
			p.Domain = append(p.Domain, d)
		}
	}
	seed.New(99, "test pool").Shuffle(len(p.Domain), func(i, j int) {
		p.Domain[i], p.Domain[j] = p.Domain[j], p.Domain[i]
	})
	for i := range p.Domain {
		p.Example = append(p.Example, first+i)
		p.Label = append(p.Label, i%5)
	}
	return p
}

// without returns a subset without labels.
func (p Subset) without() Subset {
	p.Label = nil
	return p
}

func names(k int) []string {
	return []string{"art", "cartoon", "photo", "sketch"}[:k]
}

func TestBalancedPlan(t *testing.T) {
	for _, c := range []struct {
		name           string
		batch          int
		unlabelled     []int
		other          []int // labelled and reliable
		iterations     int
		passes         int // of the other subsets
		slots, wantLen int
	}{
		{name: "whole batches", batch: 4, unlabelled: []int{12, 12, 12}, other: []int{4, 4, 4}, slots: 12, wantLen: 3, passes: 3},
		{name: "smallest domain ends the pass", batch: 4, unlabelled: []int{50, 11, 30}, other: []int{8, 9, 40}, slots: 12, wantLen: 2, passes: 1},
		{name: "restart in the middle", batch: 4, unlabelled: []int{40, 31, 30}, other: []int{8, 9, 40}, slots: 12, wantLen: 7, passes: 4},
		{name: "pacs art", batch: 16, unlabelled: []int{3442, 1460, 2056}, other: []int{90, 35, 53}, slots: 48, wantLen: 91, passes: 46},
		{name: "fewer than a batch", batch: 4, unlabelled: []int{50, 3, 30}, other: []int{1, 2, 3}, slots: 12, wantLen: 1, passes: 1},
		{name: "one domain", batch: 4, unlabelled: []int{9}, other: []int{2}, slots: 4, wantLen: 2, passes: 2},
		{name: "given length", batch: 4, unlabelled: []int{9, 9}, other: []int{5, 5}, iterations: 7, slots: 8, wantLen: 7, passes: 7},
		{name: "no unlabelled", batch: 4, unlabelled: []int{0, 0}, other: []int{8, 17}, slots: 8, wantLen: 2, passes: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{Seed: 3, Domains: names(len(c.unlabelled)), Batch: c.batch}
			subsets := Subsets{
				Labelled:   testSubset(weak, 0, c.other...),
				Unlabelled: testSubset(weak, 500, c.unlabelled...).without(),
				Reliable:   testSubset(strong, 500, c.other...),
				Iterations: c.iterations,
			}
			if len(subsets.Unlabelled.Example) == 0 {
				subsets.Unlabelled.Views = nil
			}
			p := newPlan(&cfg, 5, &subsets)
			if p.iterations != c.wantLen {
				t.Fatalf("%d iterations, want %d", p.iterations, c.wantLen)
			}
			for r, subset := range subsets.byRole() {
				d := p.draws[r]
				if len(subset.Views) == 0 {
					if d.slots != 0 || d.at != nil {
						t.Errorf("%v: a subset without views is drawn from", role(r))
					}
					continue
				}
				if d.slots != c.slots || len(d.at) != c.wantLen*c.slots {
					t.Fatalf("%v: %d slots and %d positions, want %d and %d", role(r), d.slots, len(d.at), c.slots, c.wantLen*c.slots)
				}
				if want := c.passes; role(r) != unlabelled && d.passes != want {
					t.Errorf("%v: %d passes, want %d", role(r), d.passes, want)
				}
				checkBalanced(t, subset, d, c.batch, len(cfg.Domains))
			}
		})
	}
}

// checkBalanced checks that slots hold their domain, and that no example comes
// twice in a pass unless its domain is smaller than a batch.
func checkBalanced(t *testing.T, subset *Subset, d draw, batch, k int) {
	t.Helper()
	size := make([]int, k)
	for _, domain := range subset.Domain {
		size[domain]++
	}
	perPass := max(1, slices.Min(size)/batch)
	var seen []bool
	for i, at := range d.at {
		if i%(perPass*d.slots) == 0 {
			seen = make([]bool, len(subset.Example))
		}
		want := i % d.slots / batch
		if got := subset.Domain[at]; got != want {
			t.Fatalf("slot %d of batch %d has domain %d, want %d", i%d.slots, i/d.slots, got, want)
		}
		if seen[at] && size[want] >= batch {
			t.Fatalf("position %d comes twice in a pass", at)
		}
		seen[at] = true
	}
}

// A pooled pass draws every example at most once, in proportion to the domains' sizes.
func TestPooledPlan(t *testing.T) {
	cfg := Config{Seed: 3, Domains: names(3), Batch: 4, Pooled: true}
	subsets := Subsets{
		Labelled:   testSubset(weak, 0, 1, 30, 5),
		Unlabelled: testSubset(weak, 500, 100, 3, 20).without(),
	}
	p := newPlan(&cfg, 0, &subsets)
	if p.iterations != 10 {
		t.Fatalf("%d iterations, want 123/12 = 10", p.iterations)
	}
	for r, passes := range map[role]int{labelled: 4, unlabelled: 1} {
		d := p.draws[r]
		if d.slots != 12 || len(d.at) != 120 || d.passes != passes {
			t.Errorf("%v: %d slots, %d positions, %d passes", r, d.slots, len(d.at), d.passes)
		}
		count := map[int]int{}
		for _, at := range d.at {
			if count[at]++; count[at] > passes {
				t.Errorf("%v: position %d comes more than once a pass", r, at)
			}
		}
	}
}

func TestEmptyDomainIsFilledFromTheOthers(t *testing.T) {
	cfg := Config{Seed: 3, Domains: names(3), Batch: 4}
	subsets := Subsets{
		Unlabelled: testSubset(weak, 0, 40, 0, 24).without(),
		Reliable:   testSubset(strong, 0, 0, 0, 9),
	}
	p := newPlan(&cfg, 0, &subsets)
	if p.iterations != 6 {
		t.Errorf("%d iterations, want 6: the empty domain must not limit the pass", p.iterations)
	}
	filled := map[int]int{}
	for i, at := range p.draws[unlabelled].at {
		got := subsets.Unlabelled.Domain[at]
		if k := i % 12 / 4; k == 1 {
			filled[got]++
		} else if got != k {
			t.Errorf("slot %d has domain %d, want %d", i%12, got, k)
		}
	}
	// 24 draws from 40 and 24 examples.
	if filled[0] < 5 || filled[2] < 2 {
		t.Errorf("the empty domain's slots were filled from %v", filled)
	}
	for _, at := range p.draws[reliable].at {
		if subsets.Reliable.Domain[at] != 2 {
			t.Errorf("reliable position %d", at)
		}
	}
}

// Every example of the larger domain must turn up, over the epochs, about equally
// often.
func TestBalancedPlanIsFair(t *testing.T) {
	cfg := Config{Seed: 8, Domains: names(2), Batch: 4}
	subsets := Subsets{Unlabelled: testSubset(weak, 0, 8, 40).without()}
	count := make([]int, 48)
	const epochs = 1000
	for e := range epochs {
		for _, at := range newPlan(&cfg, e, &subsets).draws[unlabelled].at {
			count[at]++
		}
	}
	for i, n := range count {
		if subsets.Unlabelled.Domain[i] == 0 && n != epochs {
			t.Errorf("position %d drawn %d times in %d epochs", i, n, epochs)
		}
		// Probability 8 of 40: 200 with standard deviation 12.6; five of them.
		if subsets.Unlabelled.Domain[i] == 1 && (n < 137 || n > 263) {
			t.Errorf("position %d drawn %d times in %d epochs, want about 200", i, n, epochs)
		}
	}
}

func TestPlanDependsOnSeedAndEpochAlone(t *testing.T) {
	subsets := Subsets{Labelled: testSubset(weak, 0, 9, 9), Unlabelled: testSubset(weak, 30, 70, 40).without()}
	make := func(seed uint64, epoch int) plan {
		return newPlan(&Config{Seed: seed, Domains: names(2), Batch: 4}, epoch, &subsets)
	}
	base := make(1, 2)
	if !reflect.DeepEqual(base, make(1, 2)) {
		t.Error("the same seed and epoch give another plan")
	}
	for name, other := range map[string]plan{"seed": make(2, 2), "epoch": make(1, 3)} {
		for r := range base.draws[:reliable] {
			if slices.Equal(base.draws[r].at, other.draws[r].at) {
				t.Errorf("%v draws do not depend on the %s", role(r), name)
			}
		}
	}
	// The labelled draws must not move when the unlabelled subset changes.
	subsets.Unlabelled = testSubset(weak, 30, 60, 40).without()
	if !slices.Equal(base.draws[labelled].at, make(1, 2).draws[labelled].at) {
		t.Error("labelled draws depend on the unlabelled subset")
	}
}

// A subset that restarts is shuffled again.
func TestPassesDiffer(t *testing.T) {
	cfg := Config{Seed: 1, Domains: names(2), Batch: 4}
	subsets := Subsets{Labelled: testSubset(weak, 0, 4, 4), Iterations: 40}
	d := newPlan(&cfg, 0, &subsets).draws[labelled]
	perPass := len(d.at) / d.passes
	for p := 1; p < d.passes; p++ {
		if slices.Equal(d.at[:perPass], d.at[p*perPass:(p+1)*perPass]) {
			t.Errorf("pass %d is the first again", p)
		}
	}
}
