package feed

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
)

// Config are the settings of a Loader.
type Config struct {
	// Seed is the run's seed; zero is valid.
	Seed uint64
	// Domains are the names of the K source domains. Subset.Domain and the order within batches
	// follow it.
	Domains []string
	// Batch is the number of examples per domain in a batch. 16 in the paper and the
	// published code.
	Batch int
	// Pooled draws the K*Batch examples of a batch from all domains together, in no order of
	// domains, so that a pass ends with the examples and not with the smallest domain.
	Pooled bool
	// Workers is the number of goroutines that augment images. Zero means GOMAXPROCS.
	Workers int
	// Batches is the number of batches in memory, including the one in use. Zero means 3.
	Batches int
}

// Loader computes the batches of successive epochs and reuses their memory. It is for the use of
// one goroutine at a time.
type Loader struct {
	cfg    Config
	source Source
	// row is the length of a row in bytes.
	row     int
	batches []*Batch
	readers []Reader
}

// New returns a loader for a source's examples, or the error of an invalid setting.
func New(source Source, cfg Config) (*Loader, error) {
	if cfg.Workers == 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	cfg.Batches = cmp.Or(cfg.Batches, 3)
	cfg.Domains = slices.Clone(cfg.Domains)
	if len(cfg.Domains) == 0 || min(cfg.Batch, cfg.Workers, cfg.Batches) < 1 {
		return nil, fmt.Errorf("feed: %d domains, Batch %d, Workers %d, Batches %d: want at least 1 of each", len(cfg.Domains), cfg.Batch, cfg.Workers, cfg.Batches)
	}
	l := &Loader{cfg: cfg, source: source, row: RowBytes(source)}
	for range cfg.Batches {
		l.batches = append(l.batches, new(Batch))
	}
	for range cfg.Workers {
		l.readers = append(l.readers, source.Reader())
	}
	return l, nil
}

// Epoch plans the epoch with the given number (from 0). The subsets' slices must not change until
// its end. Malformed subsets are an error, and so are an empty subset with Views, and a labelled
// subset with Views that lacks a domain.
func (l *Loader) Epoch(number int, subsets Subsets) (*Epoch, error) {
	if number < 0 {
		return nil, fmt.Errorf("feed: epoch %d", number)
	}
	byRole := subsets.byRole()
	for r, p := range byRole {
		if err := p.check(role(r), &l.cfg, l.source); err != nil {
			return nil, err
		}
	}
	if subsets.Iterations < 0 {
		return nil, fmt.Errorf("feed: epoch of %d iterations", subsets.Iterations)
	}
	if subsets.Iterations == 0 && len(subsets.Labelled.Example)+len(subsets.Unlabelled.Example) == 0 {
		return nil, fmt.Errorf("feed: the labelled and the unlabelled subset are empty, which leaves the epoch's length open")
	}
	return &Epoch{loader: l, number: number, subsets: byRole, plan: newPlan(&l.cfg, number, &subsets)}, nil
}
