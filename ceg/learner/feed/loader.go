package feed

import (
	"context"
	"fmt"
	"math"
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
	open    *Epoch
}

// New returns a loader for a source's examples, or an error that names the invalid setting.
func New(source Source, cfg Config) (*Loader, error) {
	if cfg.Workers == 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	if cfg.Batches == 0 {
		cfg.Batches = 3
	}
	cfg.Domains = slices.Clone(cfg.Domains)
	switch {
	case len(cfg.Domains) == 0:
		return nil, fmt.Errorf("feed: no source domains")
	case cfg.Batch < 1:
		return nil, fmt.Errorf("feed: Batch is %d, want at least 1", cfg.Batch)
	case cfg.Workers < 1:
		return nil, fmt.Errorf("feed: Workers is %d, want at least 1", cfg.Workers)
	case cfg.Batches < 1:
		return nil, fmt.Errorf("feed: Batches is %d, want at least 1", cfg.Batches)
	case source.Len() > math.MaxInt32:
		return nil, fmt.Errorf("feed: %d examples", source.Len())
	}
	if err := checkSource(source); err != nil {
		return nil, err
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

// Epoch plans the epoch with the given number (from 0) and starts to compute its batches. The
// subsets' slices must not change until the epoch is closed. Malformed subsets are an error, and
// so are an empty subset with Views, a labelled subset with Views that lacks a domain, and a
// previous epoch that is not closed. When ctx is cancelled, Next returns its cause.
func (l *Loader) Epoch(ctx context.Context, number int, subsets Subsets) (*Epoch, error) {
	if l.open != nil {
		return nil, fmt.Errorf("feed: epoch %d is still open", l.open.number)
	}
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
	e := &Epoch{loader: l, number: number, subsets: byRole, plan: newPlan(&l.cfg, number, &subsets)}
	l.open = e
	e.start(ctx)
	return e, nil
}
