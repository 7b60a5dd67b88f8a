package ceg

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/ask"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
)

// ErrAwaitingLabels is the error of a run that has asked people for labels and cannot
// go on without them: it names the questions that nobody has answered. Everything is
// saved, and [Run] goes on with Options.Resume once the answers are in the run's ledger
// (package labels).
type ErrAwaitingLabels = ask.Awaiting

// question is what an oracle is asked: a pick, and what the networks think.
type question struct {
	active.Pick
	guess       string
	probability float64
}

// answer is what it says. by names who does.
type answer struct {
	question
	class int
	by    string
}

// chooser chooses what to ask: up to n questions, the most wanted first, among the
// examples that may be asked about; of any if may is nil.
type chooser func(n int, may func(id string) bool) ([]question, error)

// oracle answers the questions of a run.
type oracle interface {
	// knows reports whether it can be asked about an example of the data set.
	knows(example int) bool
	// given are the answers that were there before anything was asked.
	given() []answer
	// round asks n questions in a round, numbered from 0, and returns the answers; or
	// an *ErrAwaitingLabels.
	round(ctx context.Context, round, n int, choose chooser) ([]answer, error)
	// sync brings the labels of a pool up to date with what was said since about
	// the rounds that are over, and returns what came that nobody had asked for.
	sync(p *pool) ([]result.Query, error)
	// another asks for a label of each of some source domains, which have lost all
	// of theirs: an *ErrAwaitingLabels, or an error that names the domain of which
	// nothing can be asked for. It spends no budget.
	another(p *pool, domains []int) error
	// unsure are the examples of which somebody was unsure in the end.
	unsure() []string
	close() error
}

// simulated answers from the truth.
type simulated struct{ class func(example int) int }

// simulatedBy is its name.
const simulatedBy = "simulated"

func (s simulated) knows(example int) bool             { return s.class(example) >= 0 }
func (s simulated) given() []answer                    { return nil }
func (s simulated) sync(*pool) ([]result.Query, error) { return nil, nil }
func (s simulated) unsure() []string                   { return nil }
func (s simulated) close() error                       { return nil }

func (s simulated) another(p *pool, domains []int) error {
	return fmt.Errorf("source domain %s has no label", p.sourceName(domains[0]))
}

func (s simulated) round(ctx context.Context, _, n int, choose chooser) ([]answer, error) {
	questions, err := choose(n, nil)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	list := make([]answer, len(questions))
	for i, q := range questions {
		list[i] = answer{q, s.class(q.Index), simulatedBy}
	}
	return list, nil
}

// people answer through the ledger in the run's folder.
type people struct {
	desk  ask.Desk
	pool  *pool
	truth func(example int) int // of what is given; nil for nothing
	seed  uint64                // of the run
}

// givenBy is who gave the classes that a data set names.
const givenBy = "data set"

// openPeople opens the ledger in a run's folder.
func openPeople(dir string, p *pool, truth func(example int) int, runSeed uint64) (*people, error) {
	ledger, err := labels.Open(dir, p.data.Classes, labels.Options{Domain: func(id string) (string, bool) {
		i, ok := p.data.Index(id)
		if !ok {
			return "", false
		}
		return p.data.Domains[p.data.Examples[i].Domain], true
	}})
	if err != nil {
		return nil, err
	}
	return &people{ask.Desk{Ledger: ledger, By: "run"}, p, truth, runSeed}, nil
}

func (o *people) knows(int) bool { return true }
func (o *people) close() error   { return o.desk.Ledger.Close() }

func (o *people) given() (list []answer) {
	if o.truth == nil {
		return nil
	}
	for _, x := range o.pool.places {
		if class := o.truth(x); class >= 0 {
			list = append(list, answer{question{Pick: active.Pick{ID: o.pool.data.Examples[x].ID}}, class, givenBy})
		}
	}
	return list
}

func (o *people) round(_ context.Context, round, n int, choose chooser) ([]answer, error) {
	p := o.pool
	answers, err := o.desk.Round(round, n,
		func(may func(string) bool) ([]labels.Question, error) {
			list, err := choose(n, may)
			return asked(list), err
		},
		func(vacant []string, taken func(id string) bool) ([]labels.Question, error) {
			return ask.Replace(vacant, p.sourceOf, func(domain, n int) ([]labels.Question, error) {
				list, err := choose(n, func(id string) bool { return p.sourceOf(id) == domain && !taken(id) })
				return asked(list), err
			})
		})
	if err != nil {
		return nil, err
	}
	list := make([]answer, len(answers))
	for i, a := range answers {
		list[i] = answer{question{Pick: ask.Pick(a.Question)}, o.class(a.Class), ask.Name(a.By)}
	}
	return list, nil
}

// asked turns questions into those of a ledger.
func asked(list []question) (out []labels.Question) {
	for _, q := range list {
		l := ask.Question(q.Pick)
		if q.guess != "" {
			if l.Asking == nil {
				l.Asking = new(labels.Asking)
			}
			l.Asking.Guess, l.Asking.Probability = q.guess, q.probability
		}
		out = append(out, l)
	}
	return out
}

// class returns the number of a class, which the ledger has checked.
func (o *people) class(name string) int { return slices.Index(o.pool.data.Classes, name) }

func (o *people) sync(p *pool) (came []result.Query, err error) {
	if err := o.desk.Ledger.Refresh(); err != nil {
		return nil, err
	}
	said := map[string]labels.Label{}
	var list []labels.Label
	bad := map[string]bool{}
	mine := func(id string, round int) bool {
		_, ok := p.Domain(id)
		return ok && round <= p.round
	}
	o.desk.Ledger.View(func(s *labels.State) {
		for _, l := range s.Labels() {
			if mine(l.ID, l.Round) {
				said[l.ID], list = l, append(list, l)
			}
		}
		for _, v := range s.With(labels.IsBad) {
			bad[v.ID] = mine(v.ID, v.Round)
		}
	})
	for _, l := range p.Labelled() {
		now, ok := said[l.ID]
		switch class := o.class(now.Class); {
		case bad[l.ID]:
			p.withdrawn++
			err = p.Drop(l.ID)
		case ok && (class != l.Class || ask.Name(now.By) != l.Oracle):
			err = p.Correct(ask.Name(now.By), l.ID, class)
		case ok || l.Oracle == givenBy:
		case o.truth != nil && o.truth(p.example(l.ID)) >= 0: // what was given holds again
			err = p.Correct(givenBy, l.ID, o.truth(p.example(l.ID)))
		default:
			p.withdrawn++
			err = p.Withdraw(l.ID)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, id := range p.Gone() {
		if !bad[id] {
			err = errors.Join(err, p.Return(id))
		}
	}
	for _, id := range p.Unlabelled() {
		if bad[id] {
			err = errors.Join(err, p.Drop(id))
		}
	}
	var late []answer
	for _, l := range list {
		if _, ok := p.Label(l.ID); !ok {
			late = append(late, answer{question{Pick: active.Pick{ID: l.ID}}, o.class(l.Class), ask.Name(l.By)})
		}
	}
	p.unasked += len(late)
	came, recordErr := p.record(p.round, late)
	return came, errors.Join(err, recordErr)
}

func (o *people) another(p *pool, domains []int) error {
	free := p.Unlabelled()
	seed.New(o.seed, "another label", uint64(p.round)).Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	groups := make([][]string, len(domains))
	for _, id := range free {
		if k := slices.Index(domains, p.sourceOf(id)); k >= 0 {
			groups[k] = append(groups[k], id)
		}
	}
	none, err := o.desk.Another(p.round, groups)
	if err == nil && len(none) > 0 {
		name := p.sourceName(domains[none[0]])
		err = fmt.Errorf("source domain %s has no label any more, and none of its %d images can be asked for: they are bad, or somebody is unsure of them; give one of them a class with ledg label, or take \"bad image\" back",
			name, p.countSource(domains[none[0]]))
	}
	return err
}

func (o *people) unsure() (ids []string) {
	o.desk.Ledger.View(func(s *labels.State) {
		for _, v := range s.With(labels.IsUnsure) {
			ids = append(ids, v.ID)
		}
	})
	slices.Sort(ids)
	return ids
}
