package ask

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/labels"
)

// Desk puts questions to people through a ledger.
type Desk struct {
	Ledger *labels.Ledger
	// By is who asks, for the ledger.
	By string
}

// Answer is a question with what somebody said. Class is a name.
type Answer struct {
	labels.Question
	Class, By string
}

// Awaiting is the error of a round that lacks answers.
type Awaiting struct {
	// Ledger is the path of the file that the answers belong into.
	Ledger string
	// Round counts from 0, the labels before training.
	Round int
	// Queries are the questions that nobody has answered, in the order in which they
	// were asked, of Of that were asked in the round.
	Queries []labels.Image
	Of      int
}

// Error says how many labels are missing, and where.
func (a *Awaiting) Error() string {
	return fmt.Sprintf("round %d: %d of %d labels are awaited in %s", a.Round, len(a.Queries), a.Of, a.Ledger)
}

// Instead returns what to ask in place of images that were skipped, or are bad, or of
// which somebody is unsure: a question for each, with an empty ID where there is none.
// taken reports whether an image was asked for in the round, or is bad.
type Instead func(vacant []string, taken func(id string) bool) ([]labels.Question, error)

// Round asks n questions in a round and returns the answers, in the order of the
// questions, or an *Awaiting. choose returns the questions, among the images that may
// be asked for; it is called only if not all of them were asked before, and then has to
// return the same ones. Where nothing
// can be asked in place of an image that was skipped it is asked for again; other
// images that have no answer are given up, so that there may be fewer answers.
func (d *Desk) Round(round, n int, choose func(may func(id string) bool) ([]labels.Question, error), instead Instead) ([]Answer, error) {
	if err := d.Ledger.Refresh(); err != nil {
		return nil, err
	}
	places := d.places(round)
	if len(places) < n {
		questions, err := choose(d.may(round))
		if err != nil {
			return nil, err
		}
		if _, err := d.Ledger.Ask(d.By, round, questions); err != nil {
			return nil, err
		}
		places = d.places(round)
	}
	for {
		if err := d.awaiting(round, places); err != nil {
			return nil, err
		}
		asked, err := d.fill(round, places, instead)
		if err != nil {
			return nil, err
		}
		if !asked {
			return answers(places), nil
		}
		places = d.places(round)
	}
}

// place is a question and those that were asked instead of it, one after the other.
type place []labels.Image

// places returns those of a round, in the order in which they were asked.
func (d *Desk) places(round int) (list []place) {
	var asked []labels.Image
	d.Ledger.View(func(s *labels.State) {
		for v := range s.Images() {
			if v.Round == round {
				asked = append(asked, v)
			}
		}
	})
	slices.SortFunc(asked, func(a, b labels.Image) int { return cmp.Compare(a.Asked, b.Asked) })
	of := map[string]int{} // an image to its place
	var later []labels.Image
	for _, v := range asked {
		if v.Asking != nil && v.Asking.Instead != "" {
			later = append(later, v)
			continue
		}
		of[v.ID] = len(list)
		list = append(list, place{v})
	}
	for len(later) > 0 {
		rest := later[:0:0]
		for _, v := range later {
			if k, ok := of[v.Asking.Instead]; ok {
				of[v.ID] = k
				list[k] = append(list[k], v)
			} else {
				rest = append(rest, v)
			}
		}
		if len(rest) == len(later) { // instead of what was asked anew since
			for _, v := range rest {
				list = append(list, place{v})
			}
			break
		}
		later = rest
	}
	return list
}

// awaiting returns the questions without an answer.
func (d *Desk) awaiting(round int, places []place) error {
	a := &Awaiting{Ledger: d.Ledger.Path(), Round: round, Of: len(places)}
	for _, p := range places {
		for _, v := range p {
			if v.Status == labels.IsOpen || v.Status == labels.IsDisputed {
				a.Queries = append(a.Queries, v)
			}
		}
	}
	if len(a.Queries) == 0 {
		return nil
	}
	return a
}

// fill asks for others in the places that have no answer, and reports whether there
// was anything to ask.
func (d *Desk) fill(round int, places []place, instead Instead) (bool, error) {
	var vacant []labels.Image
	for _, p := range places {
		if len(answers([]place{p})) == 0 {
			vacant = append(vacant, p[len(p)-1])
		}
	}
	if len(vacant) == 0 {
		return false, nil
	}
	ids := make([]string, len(vacant))
	for i, v := range vacant {
		ids[i] = v.ID
	}
	questions, err := instead(ids, d.taken(round))
	if err != nil {
		return false, err
	}
	if len(questions) != len(ids) {
		return false, fmt.Errorf("round %d: %d questions in place of %d", round, len(questions), len(ids))
	}
	var fresh []labels.Question
	var again []labels.Event
	for i, q := range questions {
		switch v := vacant[i]; {
		case q.ID != "":
			asking := labels.Asking{}
			if q.Asking != nil {
				asking = *q.Asking
			}
			asking.Instead = v.ID
			fresh = append(fresh, labels.Question{ID: q.ID, Asking: &asking})
		case v.Status == labels.IsSkipped:
			again = append(again, labels.Event{Kind: labels.Asked, ID: v.ID, Round: round, By: d.By, Asking: v.Asking})
		}
	}
	asked, err := d.Ledger.Ask(d.By, round, fresh)
	if err == nil && len(again) > 0 {
		_, err = d.Ledger.Append(again...)
	}
	return len(asked)+len(again) > 0, err
}

// may tells which images can be asked for in a round: those that have been in it, and
// those about which nobody has said anything that holds.
func (d *Desk) may(round int) func(string) bool {
	return func(id string) (yes bool) {
		d.Ledger.View(func(s *labels.State) {
			v := s.Image(id)
			yes = v.Round == round || v.Status != labels.IsLabelled && v.Status != labels.IsBad && v.Status != labels.IsUnsure
		})
		return yes
	}
}

// taken tells which images were asked for in a round, or are bad.
func (d *Desk) taken(round int) func(string) bool {
	return func(id string) (yes bool) {
		d.Ledger.View(func(s *labels.State) {
			v := s.Image(id)
			yes = v.Round == round || v.Status != labels.IsUnasked && v.Status != labels.IsSkipped && v.Status != labels.IsReplaced
		})
		return yes
	}
}

// answers returns those of places.
func answers(places []place) (list []Answer) {
	for _, p := range places {
		for _, v := range p {
			if v.Class != "" && (v.Status == labels.IsLabelled || v.Status == labels.IsUnsure) {
				list = append(list, Answer{labels.Question{ID: v.ID, Asking: v.Asking}, v.Class, v.By})
			}
		}
	}
	return list
}

// Another asks for an answer about one image of each group, beside what a round has
// asked for, and returns an *Awaiting of these questions: about the first that may be
// asked for, but an open one before a new one, and one that was skipped last. round is
// the newest, which is complete. none are the groups without an image that can be asked
// for, and then nothing is asked.
func (d *Desk) Another(round int, groups [][]string) (none []int, err error) {
	var asked []string
	_, err = d.Ledger.Update(func(s *labels.State) (events []labels.Event, err error) {
		none, asked = nil, nil
		for k, group := range groups {
			best, rank := "", 0
			for _, id := range group {
				if r := slices.Index([]labels.Status{labels.IsSkipped, labels.IsReplaced, labels.IsUnasked, labels.IsDisputed, labels.IsOpen}, s.Image(id).Status) + 1; r > rank {
					best, rank = id, r
				}
			}
			if best == "" {
				none = append(none, k)
				continue
			}
			asked = append(asked, best)
			if v := s.Image(best); v.Round != round || v.Status != labels.IsOpen && v.Status != labels.IsDisputed {
				events = append(events, labels.Event{Kind: labels.Asked, ID: best, Round: round, By: d.By})
			}
		}
		if len(none) > 0 {
			return nil, nil
		}
		return events, nil
	})
	if err != nil || len(none) > 0 {
		return none, err
	}
	a := &Awaiting{Ledger: d.Ledger.Path(), Round: round, Of: len(asked)}
	d.Ledger.View(func(s *labels.State) {
		for _, id := range asked {
			a.Queries = append(a.Queries, s.Image(id))
		}
	})
	return nil, a
}

// Awaiting returns the error of the newest round that was asked, as Round would: nil if it
// lacks no answer. It is quick: nothing is chosen.
func (d *Desk) Awaiting() error {
	if err := d.Ledger.Refresh(); err != nil {
		return err
	}
	round := labels.NoRound
	d.Ledger.View(func(s *labels.State) {
		for v := range s.Images() {
			round = max(round, v.Round)
		}
	})
	if round == labels.NoRound {
		return nil
	}
	return d.awaiting(round, d.places(round))
}
