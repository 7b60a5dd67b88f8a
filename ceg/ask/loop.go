package ask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/seed"
)

// Settings describe what a Loop asks about.
type Settings struct {
	// IDs are distinct, and Domains has the domain of each, a place in DomainNames.
	IDs                  []string
	Domains              []int
	DomainNames, Classes []string
	// Strategy chooses; see active.ByName.
	Strategy active.Strategy
	Seed     uint64
}

// Predictions are what a program's networks say, row by row: of what Loop.Unlabelled
// lists, and for LabelledFeatures of what Loop.Labelled does. A strategy's Needs says
// which it looks at; uniform at none.
type Predictions struct {
	Features, ClassLogits, DomainLogits, LabelledFeatures cluster.Matrix
}

// Loop asks people for the labels that a strategy chooses. All of its state is in the
// ledger of its folder, so that another process can go on with it. It is not for
// concurrent use, but people may answer meanwhile.
type Loop struct {
	s    Settings
	pool *active.Pool
	desk Desk
}

// Open opens the loop in a folder, which exists.
func Open(dir string, s Settings) (*Loop, error) {
	if s.Strategy == nil {
		return nil, errors.New("ask: no strategy")
	}
	l := &Loop{s: s}
	p, err := active.NewPool(s.IDs, s.Domains, len(s.DomainNames), len(s.Classes))
	if err != nil {
		return nil, err
	}
	ledger, err := labels.Open(dir, s.Classes, labels.Options{Domain: func(id string) (string, bool) {
		k, ok := p.Domain(id)
		if !ok {
			return "", false
		}
		return s.DomainNames[k], true
	}})
	if err != nil {
		return nil, err
	}
	l.desk = Desk{Ledger: ledger, By: "ask"}
	if err := l.refresh(); err != nil {
		return nil, errors.Join(err, ledger.Close())
	}
	return l, nil
}

// Close closes the ledger. Nothing is left to write.
func (l *Loop) Close() error { return l.desk.Ledger.Close() }

// Ledger returns the ledger, of which people and pages are told.
func (l *Loop) Ledger() *labels.Ledger { return l.desk.Ledger }

// refresh makes the pool a fold over the ledger.
func (l *Loop) refresh() error {
	if err := l.desk.Ledger.Refresh(); err != nil {
		return err
	}
	pool, err := active.NewPool(l.s.IDs, l.s.Domains, len(l.s.DomainNames), len(l.s.Classes))
	if err != nil {
		return err
	}
	var list []labels.Label
	var bad []labels.Image
	l.desk.Ledger.View(func(s *labels.State) { list, bad = s.Labels(), s.With(labels.IsBad) })
	slices.SortStableFunc(list, func(a, b labels.Label) int { return cmp.Compare(a.Round, b.Round) })
	for _, v := range list {
		class := slices.Index(l.s.Classes, v.Class)
		if err := pool.Record(Name(v.By), max(v.Round, 0), []string{v.ID}, []int{class}); err != nil {
			return err
		}
	}
	for _, v := range bad {
		if err := pool.Drop(v.ID); err != nil {
			return err
		}
	}
	l.pool = pool
	return nil
}

// Name returns how a pool calls an annotator.
func Name(by string) string { return cmp.Or(by, "somebody") }

// Labelled returns the labels so far, ordered by round; see active.Label.
func (l *Loop) Labelled() []active.Label { return l.pool.Labelled() }

// Unlabelled returns the IDs without a label, bad images left out.
func (l *Loop) Unlabelled() []string { return l.pool.Unlabelled() }

// Ask asks for n labels in a round, unless that was done before, and returns the
// questions that nobody has answered. When there are none the round is complete:
// images that were skipped, or are bad, have been replaced by others of their domain.
// Rounds count from 0, one after the other.
func (l *Loop) Ask(round, n int, p Predictions) ([]labels.Image, error) {
	unlabelled, labelled := l.Unlabelled(), l.Labelled() // as the caller saw them
	_, err := l.desk.Round(round, n, func(may func(string) bool) ([]labels.Question, error) {
		return l.choose(round, n, p, unlabelled, labelled, may)
	}, func(vacant []string, taken func(string) bool) ([]labels.Question, error) {
		return Replace(vacant, l.domain, func(domain, n int) ([]labels.Question, error) {
			may := func(id string) bool { return l.domain(id) == domain && !taken(id) }
			return l.choose(round, n, p, unlabelled, labelled, may)
		})
	})
	var awaiting *Awaiting
	if errors.As(err, &awaiting) {
		return awaiting.Queries, l.refresh()
	}
	if err != nil {
		return nil, err
	}
	return nil, l.refresh()
}

func (l *Loop) domain(id string) int {
	k, _ := l.pool.Domain(id)
	return k
}

// Tell appends what people said, as [labels.Ledger.Append] does.
func (l *Loop) Tell(events ...labels.Event) error {
	if _, err := l.desk.Ledger.Append(events...); err != nil {
		return err
	}
	return l.refresh()
}

// choose returns up to n questions among the unlabelled samples that may be asked for.
func (l *Loop) choose(round, n int, p Predictions, unlabelled []string, labelled []active.Label, may func(string) bool) ([]labels.Question, error) {
	c := &active.Candidates{LabelledFeatures: p.LabelledFeatures}
	var rows []int
	for i, id := range unlabelled {
		if may(id) {
			rows = append(rows, i)
			c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, l.domain(id))
		}
	}
	for _, part := range []struct {
		dst  *cluster.Matrix
		from cluster.Matrix
	}{{&c.Features, p.Features}, {&c.ClassLogits, p.ClassLogits}, {&c.DomainLogits, p.DomainLogits}} {
		if part.from.Rows == 0 {
			continue
		}
		if part.from.Rows != len(unlabelled) {
			return nil, fmt.Errorf("ask: predictions of %d samples, want those of the %d unlabelled", part.from.Rows, len(unlabelled))
		}
		*part.dst = Rows(part.from, rows)
	}
	for _, x := range labelled {
		c.LabelledClasses, c.LabelledDomains = append(c.LabelledClasses, x.Class), append(c.LabelledDomains, l.domain(x.ID))
	}
	picks, err := l.s.Strategy.Query(c, min(n, len(c.IDs)), seed.New(l.s.Seed, "query", uint64(round)))
	if err != nil {
		return nil, fmt.Errorf("round %d: %w", round, err)
	}
	questions := make([]labels.Question, len(picks))
	for i, k := range picks {
		questions[i] = Question(k)
	}
	return questions, nil
}
