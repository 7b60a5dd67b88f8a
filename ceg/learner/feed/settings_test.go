package feed

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/internal/fatal"
)

var weakWeak = []augment.View{augment.WeakView, augment.WeakView}

func TestBadConfig(t *testing.T) {
	good := Config{Domains: names(2), Batch: 4}
	for want, change := range map[string]func(c *Config){
		"no source domains":             func(c *Config) { c.Domains = nil },
		"Batch is 0":                    func(c *Config) { c.Batch = 0 },
		"Workers is -1":                 func(c *Config) { c.Workers = -1 },
		"Batches is -2, want at least ": func(c *Config) { c.Batches = -2 },
	} {
		cfg := good
		change(&cfg)
		fatal.Says(t, fatal.Err(New(Pixels(&fakeImages{size: 4, n: 9}), cfg)), want)
	}
	if _, err := New(Pixels(&fakeImages{}), good); err == nil {
		t.Error("images without a size are accepted")
	}
}

func TestBadPools(t *testing.T) {
	for want, change := range map[string]func(p *Subsets){
		"labelled subset: no example of domain cartoon": func(p *Subsets) { p.Labelled = testSubset(weak, 0, 9, 0, 9) },
		"labelled subset: it is empty":                  func(p *Subsets) { p.Labelled = Subset{Views: weak} },
		"reliable subset: it is empty":                  func(p *Subsets) { p.Reliable = Subset{Views: strong} },
		"unlabelled subset: it has 63 labels, want none": func(p *Subsets) {
			p.Unlabelled.Label = make([]int, len(p.Unlabelled.Example))
		},
		"reliable subset: 0 labels for 21 examples":       func(p *Subsets) { p.Reliable.Label = nil },
		"labelled subset: 16 domains for 17 examples":     func(p *Subsets) { p.Labelled.Domain = p.Labelled.Domain[:16] },
		"labelled subset: example 100 is not in 0..99":    func(p *Subsets) { p.Labelled = testSubset(weak, 90, 9, 5, 3) },
		"labelled subset: example 3 is there twice":       func(p *Subsets) { p.Labelled.Example[4] = 3 },
		"labelled subset: example 4: label -1 is":         func(p *Subsets) { p.Labelled.Label[4] = -1 },
		"labelled subset: example 4: domain 3 is not in ": func(p *Subsets) { p.Labelled.Domain[4] = 3 },
		`labelled subset: view "weak" is there twice`:     func(p *Subsets) { p.Labelled.Views = weakWeak },
		`labelled subset: view "other" has no function`:   func(p *Subsets) { p.Labelled.Views = []augment.View{{Name: "other"}} },
		"epoch of -1 iterations":                          func(p *Subsets) { p.Iterations = -1 },
		"leaves the epoch's length open":                  func(p *Subsets) { *p = Subsets{} },
	} {
		l := newLoader(t, &fakeImages{size: 4, n: 100}, Config{Domains: names(3), Batch: 4})
		subsets := Subsets{
			Labelled:   testSubset(weak, 0, 9, 5, 3),
			Unlabelled: testSubset(weak, 20, 17, 16, 30).without(),
			Reliable:   testSubset(strong, 20, 8, 7, 6),
		}
		change(&subsets)
		fatal.Says(t, fatal.Err(l.Epoch(t.Context(), 0, subsets)), want)
	}
}
