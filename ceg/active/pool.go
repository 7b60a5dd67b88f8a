package active

import (
	"fmt"
	"slices"
)

// Pool records the candidates of a run, and for each labelled one its class, query round and
// annotator. A sample is queried once; its label can be corrected or withdrawn, and an unusable
// sample can be dropped. A Pool is not safe for concurrent use.
type Pool struct {
	ids             []string
	domains         []int
	domainN, classN int
	index           map[string]int // of an ID in ids
	label           []int          // place in labelled, or unlabelled or gone
	labelled        []Label
	gone            int // how many have left
}

// Values of Pool.label for samples without a label.
const (
	noLabel = -1
	left    = -2
)

// Label is the label of one sample.
type Label struct {
	// ID names the sample.
	ID string `json:"id"`
	// Class is the class index.
	Class int `json:"class"`
	// Round is the query round: 0 for the initial labels, then from 1.
	Round int `json:"round"`
	// Oracle names the annotator.
	Oracle string `json:"oracle"`
}

// NewPool returns a pool without labels. ids are distinct and not empty, domains holds the
// domain index of each in [0, domainCount), and classes are in [0, classCount).
func NewPool(ids []string, domains []int, domainCount, classCount int) (*Pool, error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("pool: no samples, want the ID of one image at least")
	}
	if len(domains) != len(ids) {
		return nil, fmt.Errorf("pool: %d samples with %d domains", len(ids), len(domains))
	}
	if domainCount < 1 || classCount < 1 {
		return nil, fmt.Errorf("pool: %d domains and %d classes, want at least one of each", domainCount, classCount)
	}
	p := &Pool{
		ids: slices.Clone(ids), domains: slices.Clone(domains), domainN: domainCount, classN: classCount,
		index: make(map[string]int, len(ids)), label: make([]int, len(ids)),
	}
	for i, id := range ids {
		if id == "" {
			return nil, fmt.Errorf("pool: sample %d has no ID", i)
		}
		if first, twice := p.index[id]; twice {
			return nil, fmt.Errorf("pool: samples %d and %d have the same ID %q", first, i, id)
		}
		if domains[i] < 0 || domains[i] >= domainCount {
			return nil, fmt.Errorf("pool: %q is of domain %d, want 0 to %d", id, domains[i], domainCount-1)
		}
		p.index[id] = i
		p.label[i] = noLabel
	}
	return p, nil
}

// Len returns the number of samples: labelled, unlabelled and dropped.
func (p *Pool) Len() int { return len(p.ids) }

// DomainCount returns the number of domains.
func (p *Pool) DomainCount() int { return p.domainN }

// ClassCount returns the number of classes.
func (p *Pool) ClassCount() int { return p.classN }

// LabelledCount returns the number of labelled samples.
func (p *Pool) LabelledCount() int { return len(p.labelled) }

// UnlabelledCount returns the number of unlabelled samples.
func (p *Pool) UnlabelledCount() int { return len(p.ids) - len(p.labelled) - p.gone }

// GoneCount returns the number of dropped samples; see [Pool.Drop].
func (p *Pool) GoneCount() int { return p.gone }

// Labelled returns a copy of the labels in labelling order, without withdrawn ones.
func (p *Pool) Labelled() []Label { return slices.Clone(p.labelled) }

// Unlabelled returns the IDs without a label, in the order of [NewPool].
func (p *Pool) Unlabelled() []string {
	ids := make([]string, 0, p.UnlabelledCount())
	for i, id := range p.ids {
		if p.label[i] == noLabel {
			ids = append(ids, id)
		}
	}
	return ids
}

// Domain returns the domain of a sample; ok is false for an unknown ID.
func (p *Pool) Domain(id string) (domain int, ok bool) {
	i, ok := p.index[id]
	if !ok {
		return 0, false
	}
	return p.domains[i], true
}

// Label returns the label of a sample; ok is false if it has none.
func (p *Pool) Label(id string) (label Label, ok bool) {
	i, ok := p.index[id]
	if !ok || p.label[i] < 0 {
		return Label{}, false
	}
	return p.labelled[p.label[i]], true
}

// LastRound returns the round of the newest label, or -1.
func (p *Pool) LastRound() int {
	if len(p.labelled) == 0 {
		return -1
	}
	return p.labelled[len(p.labelled)-1].Round
}

// Record adds the classes that the named oracle assigned to samples, all or none. Rounds must
// not decrease. Unknown, repeated and already labelled IDs are errors, and so are classes out of
// range.
func (p *Pool) Record(oracle string, round int, ids []string, classes []int) error {
	if err := p.checkQuery(oracle, round, ids); err != nil {
		return fmt.Errorf("round %d: %w", round, err)
	}
	if len(classes) != len(ids) {
		return fmt.Errorf("round %d: oracle %s: %d labels for %d samples", round, oracle, len(classes), len(ids))
	}
	for i, class := range classes {
		if class < 0 || class >= p.classN {
			return fmt.Errorf("round %d: oracle %s: class %d for %q, want 0 to %d", round, oracle, class, ids[i], p.classN-1)
		}
	}
	for i, id := range ids {
		p.label[p.index[id]] = len(p.labelled)
		p.labelled = append(p.labelled, Label{id, classes[i], round, oracle})
	}
	return nil
}

func (p *Pool) checkQuery(oracle string, round int, ids []string) error {
	if oracle == "" {
		return fmt.Errorf("the oracle has no name")
	}
	if last := max(p.LastRound(), 0); round < last {
		return fmt.Errorf("rounds never go back, the last was %d", last)
	}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		i, ok := p.index[id]
		switch {
		case !ok:
			return fmt.Errorf("%q is not in the pool", id)
		case p.label[i] == left:
			return fmt.Errorf("%q has left the pool", id)
		case p.label[i] >= 0:
			return fmt.Errorf("%q was labelled in round %d", id, p.labelled[p.label[i]].Round)
		case seen[id]:
			return fmt.Errorf("%q is queried twice", id)
		}
		seen[id] = true
	}
	return nil
}

// Correct changes the class of a labelled sample and its annotator.
func (p *Pool) Correct(oracle, id string, class int) error {
	i, ok := p.index[id]
	switch {
	case !ok || p.label[i] < 0:
		return fmt.Errorf("correction: %q has no label", id)
	case oracle == "":
		return fmt.Errorf("correction: the oracle has no name")
	case class < 0 || class >= p.classN:
		return fmt.Errorf("correction: oracle %s: class %d for %q, want 0 to %d", oracle, class, id, p.classN-1)
	}
	l := &p.labelled[p.label[i]]
	l.Class, l.Oracle = class, oracle
	return nil
}

// Withdraw removes the label of a sample, which is then unlabelled again.
func (p *Pool) Withdraw(id string) error {
	i, ok := p.index[id]
	if !ok || p.label[i] < 0 {
		return fmt.Errorf("withdrawal: %q has no label", id)
	}
	at := p.label[i]
	p.labelled = slices.Delete(p.labelled, at, at+1)
	p.label[i] = noLabel
	for _, l := range p.labelled[at:] {
		p.label[p.index[l.ID]]--
	}
	return nil
}

// Drop removes a sample from the pool until [Pool.Return]: it is neither labelled nor
// unlabelled. Dropping it twice has no effect.
func (p *Pool) Drop(id string) error {
	i, ok := p.index[id]
	if !ok {
		return fmt.Errorf("%q cannot leave: it is not in the pool", id)
	}
	if p.label[i] >= 0 {
		if err := p.Withdraw(id); err != nil {
			return err
		}
	}
	if p.label[i] == noLabel {
		p.label[i] = left
		p.gone++
	}
	return nil
}

// Return restores a dropped sample, without a label.
func (p *Pool) Return(id string) error {
	i, ok := p.index[id]
	if !ok || p.label[i] != left {
		return fmt.Errorf("%q has not left the pool", id)
	}
	p.label[i] = noLabel
	p.gone--
	return nil
}

// IsGone reports whether a sample was dropped.
func (p *Pool) IsGone(id string) bool {
	i, ok := p.index[id]
	return ok && p.label[i] == left
}

// Gone returns the dropped IDs, in the order of [NewPool].
func (p *Pool) Gone() []string {
	var ids []string
	for i, id := range p.ids {
		if p.label[i] == left {
			ids = append(ids, id)
		}
	}
	return ids
}
