package campaign

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/labels"
)

// Queries asks human annotators for labels, through a ledger.
type Queries struct {
	Ledger *labels.Ledger
	// By names the querying program in the ledger.
	By string
}

// Labelled is a query with its label. Class is a name.
type Labelled struct {
	labels.Question
	Class, By string
}

// Awaiting is the error of a query round without all labels.
type Awaiting struct {
	// Ledger is the path of the ledger that receives the labels.
	Ledger string
	// Round is the query round; 0 is before training.
	Round int
	// Queries are the open queries in query order; Of is the number of queries of the round.
	Queries []labels.Image
	Of      int
}

// Error states how many labels are missing, and where.
func (a *Awaiting) Error() string {
	return fmt.Sprintf("round %d: %d of %d labels are awaited in %s", a.Round, len(a.Queries), a.Of, a.Ledger)
}

// Instead returns replacements of bad, unsure and skipped images: one query for each, with an
// empty ID if there is none. taken reports whether an image was queried in the round or is bad.
type Instead func(vacant []string, taken func(id string) bool) ([]labels.Question, error)

// Round queries n labels in a round and returns them in query order, or an *Awaiting. choose
// selects images for which may is true; it is called only if queries are missing, and must then
// return the same ones again. An image that was put off is awaited until it is labelled or
// skipped, and then has no replacement. Another skipped image without a replacement is queried
// again; other unlabelled images are dropped, so there may be fewer labels. An image of none of
// the classes takes the place of a label. Images that another program has queried in the round
// take places, too.
func (d *Queries) Round(round, n int, choose func(n int, may func(id string) bool) ([]labels.Question, error), instead Instead) ([]Labelled, error) {
	if err := d.Ledger.Refresh(); err != nil {
		return nil, err
	}
	places := d.places(round)
	if len(places) < n {
		others := 0
		for _, p := range places {
			if p[0].QueriedBy != d.By {
				others++
			}
		}
		questions, err := choose(n-others, d.may(round))
		if err != nil {
			return nil, err
		}
		if _, err := d.Ledger.Query(d.By, round, questions); err != nil {
			return nil, err
		}
		places = d.places(round)
	}
	for {
		if err := d.awaiting(round, places); err != nil {
			return nil, err
		}
		queried, err := d.fill(round, places, instead)
		if err != nil {
			return nil, err
		}
		if !queried {
			return labelled(places), nil
		}
		places = d.places(round)
	}
}

// place is a query followed by its successive replacements.
type place []labels.Image

func (d *Queries) places(round int) (list []place) {
	var queried []labels.Image
	d.Ledger.View(func(s *labels.State) {
		for v := range s.Images() {
			if v.Round == round {
				queried = append(queried, v)
			}
		}
	})
	slices.SortFunc(queried, func(a, b labels.Image) int { return cmp.Compare(a.Query, b.Query) })
	of := map[string]int{} // an image to its place
	var later []labels.Image
	for _, v := range queried {
		if v.QueryInfo != nil && v.QueryInfo.Instead != "" {
			later = append(later, v)
			continue
		}
		of[v.ID] = len(list)
		list = append(list, place{v})
	}
	for len(later) > 0 {
		rest := later[:0:0]
		for _, v := range later {
			if k, ok := of[v.QueryInfo.Instead]; ok {
				of[v.ID] = k
				list[k] = append(list[k], v)
			} else {
				rest = append(rest, v)
			}
		}
		if len(rest) == len(later) { // replacements of newer queries
			for _, v := range rest {
				list = append(list, place{v})
			}
			break
		}
		later = rest
	}
	return list
}

func (d *Queries) awaiting(round int, places []place) error {
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

// fill queries replacements in the places without a label, and reports whether it queried any.
func (d *Queries) fill(round int, places []place, instead Instead) (bool, error) {
	var vacant []labels.Image
	for _, p := range places {
		last := p[len(p)-1]
		if used := last.Status == labels.IsNone || last.Status == labels.IsSkipped && last.Later; !used && len(labelled([]place{p})) == 0 {
			vacant = append(vacant, last)
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
			info := labels.QueryInfo{}
			if q.QueryInfo != nil {
				info = *q.QueryInfo
			}
			info.Instead = v.ID
			fresh = append(fresh, labels.Question{ID: q.ID, QueryInfo: &info})
		case v.Status == labels.IsSkipped:
			again = append(again, labels.Event{Kind: labels.Queried, ID: v.ID, Round: round, By: d.By, QueryInfo: v.QueryInfo})
		}
	}
	queried, err := d.Ledger.Query(d.By, round, fresh)
	if err == nil && len(again) > 0 {
		_, err = d.Ledger.Append(again...)
	}
	return len(queried)+len(again) > 0, err
}

// may returns a predicate for the images that can be queried in a round: those that this program
// has queried in it, and those without an effective label.
func (d *Queries) may(round int) func(string) bool {
	return func(id string) (yes bool) {
		d.Ledger.View(func(s *labels.State) {
			v := s.Image(id)
			yes = v.Round == round && v.QueriedBy == d.By ||
				v.Round != round && !slices.Contains([]labels.Status{labels.IsLabelled, labels.IsBad, labels.IsNone, labels.IsUnsure}, v.Status)
		})
		return yes
	}
}

// taken returns a predicate for the images that were queried in a round, or are bad.
func (d *Queries) taken(round int) func(string) bool {
	return func(id string) (yes bool) {
		d.Ledger.View(func(s *labels.State) {
			v := s.Image(id)
			yes = v.Round == round || v.Status != labels.IsUnqueried && v.Status != labels.IsSkipped && v.Status != labels.IsReplaced
		})
		return yes
	}
}

func labelled(places []place) (list []Labelled) {
	for _, p := range places {
		for _, v := range p {
			if v.Class != "" && (v.Status == labels.IsLabelled || v.Status == labels.IsUnsure) {
				list = append(list, Labelled{labels.Question{ID: v.ID, QueryInfo: v.QueryInfo}, v.Class, v.By})
			}
		}
	}
	return list
}

// Another queries one label of each group, in addition to a round's, and returns an *Awaiting.
// It selects the first eligible image: an open query first, a skipped one last. round is the
// newest round, which is complete. none lists groups without an eligible image; nothing is then
// queried.
func (d *Queries) Another(round int, groups [][]string) (none []int, err error) {
	var queried []string
	_, err = d.Ledger.Update(func(s *labels.State) (events []labels.Event, err error) {
		none, queried = nil, nil
		for k, group := range groups {
			best, rank := "", 0
			for _, id := range group {
				if r := slices.Index([]labels.Status{labels.IsSkipped, labels.IsReplaced, labels.IsUnqueried, labels.IsDisputed, labels.IsOpen}, s.Image(id).Status) + 1; r > rank {
					best, rank = id, r
				}
			}
			if best == "" {
				none = append(none, k)
				continue
			}
			queried = append(queried, best)
			if v := s.Image(best); v.Round != round || v.Status != labels.IsOpen && v.Status != labels.IsDisputed {
				events = append(events, labels.Event{Kind: labels.Queried, ID: best, Round: round, By: d.By})
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
	a := &Awaiting{Ledger: d.Ledger.Path(), Round: round, Of: len(queried)}
	d.Ledger.View(func(s *labels.State) {
		for _, id := range queried {
			a.Queries = append(a.Queries, s.Image(id))
		}
	})
	return nil, a
}

// Awaiting returns the *Awaiting of the newest round, as Round would, or nil if all labels are
// there. It selects nothing. With By, a round is one that this program has queried.
func (d *Queries) Awaiting() error {
	if err := d.Ledger.Refresh(); err != nil {
		return err
	}
	round := labels.NoRound
	d.Ledger.View(func(s *labels.State) {
		for v := range s.Images() {
			if d.By == "" || v.QueriedBy == d.By {
				round = max(round, v.Round)
			}
		}
	})
	if round == labels.NoRound {
		return nil
	}
	return d.awaiting(round, d.places(round))
}
