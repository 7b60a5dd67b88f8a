package feed

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestBadConfig(t *testing.T) {
	for _, cfg := range []Config{{Batch: 4}, {Domains: names(2)}, {Domains: names(2), Batch: 4, Workers: -1}, {Domains: names(2), Batch: 4, Batches: -2}} {
		fatal.Says(t, fatal.Err(New(Pixels(&fakeImages{size: 4, n: 9}), cfg)), "want at least 1 of each")
	}
}

func TestBadPools(t *testing.T) {
	for want, change := range map[string]func(p *Subsets){
		"labelled subset: no example of domain cartoon":    func(p *Subsets) { p.Labelled = testSubset(weak, 0, 9, 0, 9) },
		"labelled subset: it is empty":                     func(p *Subsets) { p.Labelled = Subset{Views: weak} },
		"reliable subset: it is empty":                     func(p *Subsets) { p.Reliable = Subset{Views: strong} },
		"reliable subset: 21 domains and 0 labels for 21":  func(p *Subsets) { p.Reliable.Label = nil },
		"labelled subset: 16 domains and 17 labels for 17": func(p *Subsets) { p.Labelled.Domain = p.Labelled.Domain[:16] },
		"labelled subset: example 100 is not in 0..99":     func(p *Subsets) { p.Labelled = testSubset(weak, 90, 9, 5, 3) },
		"labelled subset: example 3 is there twice":        func(p *Subsets) { p.Labelled.Example[4] = 3 },
		"labelled subset: example 4: domain 3 is not in ":  func(p *Subsets) { p.Labelled.Domain[4] = 3 },
		`labelled subset: view "other" has no function`:    func(p *Subsets) { p.Labelled.Views = []augment.View{{Name: "other"}} },
		"epoch of -1 iterations":                           func(p *Subsets) { p.Iterations = -1 },
		"leaves the epoch's length open":                   func(p *Subsets) { *p = Subsets{} },
	} {
		l := newLoader(t, &fakeImages{size: 4, n: 100}, Config{Domains: names(3), Batch: 4})
		subsets := Subsets{
			Labelled:   testSubset(weak, 0, 9, 5, 3),
			Unlabelled: testSubset(weak, 20, 17, 16, 30).without(),
			Reliable:   testSubset(strong, 20, 8, 7, 6),
		}
		change(&subsets)
		fatal.Says(t, fatal.Err(l.Epoch(0, subsets)), want)
	}
}
