package campaign

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
)

// Chooser selects up to n queries, best first, among the examples for which may is true; among
// all if may is nil.
type Chooser func(n int, may func(id string) bool) ([]labels.Question, error)

// Oracle is the annotator of a campaign: [Simulated] or [People].
type Oracle interface {
	// knows reports whether it can label an example of the data set.
	knows(example int) bool
	// prelabelled returns the labels that exist before the first query.
	prelabelled() []Labelled
	// round queries n labels in a round, numbered from 0, and returns them, or an *Awaiting.
	round(ctx context.Context, round, n int, choose Chooser) ([]Labelled, error)
	sync(p *Campaign) ([]result.Query, error)
	another(p *Campaign, domains []int) error
	// marked returns the images marked as labels.IsUnsure or labels.IsNone, in byte order.
	marked(labels.Status) []string
	close() error
}

// simulated labels from the true classes.
type simulated struct {
	p     *Campaign
	class func(example int) int
}

// Simulated returns an annotator that knows the true classes; class maps an index in the data
// set to a class, negative if unknown. Examples of unknown class are never queried.
func Simulated(p *Campaign, class func(example int) int) Oracle { return simulated{p, class} }

// SimulatedBy is its name as an annotator.
const SimulatedBy = "simulated"

func (s simulated) knows(example int) bool                 { return s.class(example) >= 0 }
func (s simulated) prelabelled() []Labelled                { return nil }
func (s simulated) sync(*Campaign) ([]result.Query, error) { return nil, nil }
func (s simulated) marked(labels.Status) []string          { return nil }
func (s simulated) close() error                           { return nil }

func (s simulated) another(p *Campaign, domains []int) error {
	return fmt.Errorf("source %s %s has no label", p.Data.DomainWord(), p.sourceName(domains[0]))
}

func (s simulated) round(ctx context.Context, _, n int, choose Chooser) ([]Labelled, error) {
	questions, err := choose(n, nil)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	list := make([]Labelled, len(questions))
	for i, q := range questions {
		list[i] = Labelled{q, s.p.Data.Classes[s.class(s.p.Example(q.ID))], SimulatedBy}
	}
	return list, nil
}
