package feed

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/augment"
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
		if _, err := New(Pixels(&fakeImages{size: 4, n: 9}), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := New(Pixels(&fakeImages{}), good); err == nil {
		t.Error("images without a size are accepted")
	}
}

func TestBadPools(t *testing.T) {
	for want, change := range map[string]func(p *Pools){
		"labelled pool: no example of domain cartoon": func(p *Pools) { p.Labelled = testPool(weak, 0, 9, 0, 9) },
		"labelled pool: it is empty":                  func(p *Pools) { p.Labelled = Pool{Views: weak} },
		"reliable pool: it is empty":                  func(p *Pools) { p.Reliable = Pool{Views: strong} },
		"unlabelled pool: it has 63 labels, want none": func(p *Pools) {
			p.Unlabelled.Label = make([]int, len(p.Unlabelled.Example))
		},
		"reliable pool: 0 labels for 21 examples":       func(p *Pools) { p.Reliable.Label = nil },
		"labelled pool: 16 domains for 17 examples":     func(p *Pools) { p.Labelled.Domain = p.Labelled.Domain[:16] },
		"labelled pool: example 100 is not in 0..99":    func(p *Pools) { p.Labelled = testPool(weak, 90, 9, 5, 3) },
		"labelled pool: example 3 is there twice":       func(p *Pools) { p.Labelled.Example[4] = 3 },
		"labelled pool: example 4: label -1 is":         func(p *Pools) { p.Labelled.Label[4] = -1 },
		"labelled pool: example 4: domain 3 is not in ": func(p *Pools) { p.Labelled.Domain[4] = 3 },
		`labelled pool: view "weak" is there twice`:     func(p *Pools) { p.Labelled.Views = weakWeak },
		`labelled pool: view "other" has no function`:   func(p *Pools) { p.Labelled.Views = []augment.View{{Name: "other"}} },
		"epoch of -1 iterations":                        func(p *Pools) { p.Iterations = -1 },
		"leaves the epoch's length open":                func(p *Pools) { *p = Pools{} },
	} {
		l := newLoader(t, &fakeImages{size: 4, n: 100}, Config{Domains: names(3), Batch: 4})
		pools := Pools{
			Labelled:   testPool(weak, 0, 9, 5, 3),
			Unlabelled: testPool(weak, 20, 17, 16, 30).without(),
			Reliable:   testPool(strong, 20, 8, 7, 6),
		}
		change(&pools)
		if _, err := l.Epoch(t.Context(), 0, pools); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
