package labels

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Question is a queried image.
type Question struct {
	ID        string
	QueryInfo *QueryInfo // nil if nothing is known
}

// Query queries images in a round, in order, and returns the events of those not yet queried in
// it, so an interrupted program can repeat the call. A labelled image is not queried; one
// skipped in an earlier round is queried again.
func (l *Ledger) Query(by string, round int, questions []Question) ([]Event, error) {
	return l.Update(func(s *State) ([]Event, error) {
		var events []Event
		seen := make(map[string]bool)
		for _, q := range questions {
			if seen[q.ID] {
				return nil, fmt.Errorf("%q is queried twice", q.ID)
			}
			seen[q.ID] = true
			switch v := s.Image(q.ID); {
			case v.Round == round && v.Status != IsUnqueried:
				continue
			case v.Status == IsLabelled || v.Status == IsBad || v.Status == IsNone || v.Status == IsUnsure:
				continue
			}
			events = append(events, Event{Kind: Queried, ID: q.ID, Round: round, By: by, QueryInfo: q.QueryInfo})
		}
		return events, nil
	})
}

// Imported is the result of an import.
type Imported struct {
	// New are the appended events.
	New []Event
	// Known counts events that were already present, Older those whose annotator has labelled
	// the image since; neither is appended.
	Known, Older int
}

// Import appends new events from elsewhere, in chronological order; importing twice has no
// effect. An event is known if the ledger has the same label of the image by the same annotator,
// time and tool, undone or not. An event without a time is known if it equals the annotator's
// last label with the tool.
func (l *Ledger) Import(events []Event) (done Imported, err error) {
	done.New, err = l.Update(func(s *State) ([]Event, error) {
		done = Imported{}
		now := time.Now()
		var list []Event
		type key struct {
			e  Event
			at int64
		}
		here := make(map[key]bool)
		for _, e := range events {
			if !e.Kind.acts() {
				return nil, fmt.Errorf("%s: %q: only labels are imported", e.Kind, e.ID)
			}
			if e.QueryInfo != nil {
				return nil, errors.New("only a query has scores")
			}
			k := key{Event{Kind: e.Kind, ID: e.ID, Class: e.Class, By: e.By, Tool: e.Tool}, 0}
			if !e.At.IsZero() {
				k.at = e.At.UnixNano()
			}
			switch {
			case here[k] || s.knows(e):
				done.Known++
			case !e.At.IsZero() && s.labelledAfter(e):
				done.Older++
			default:
				here[k] = true
				if e.At.IsZero() {
					e.At = now
				}
				list = append(list, e)
			}
		}
		slices.SortStableFunc(list, func(x, y Event) int { return x.At.Compare(y.At) })
		return list, nil
	})
	return done, err
}

// labelledAfter reports whether an event's annotator has a later event about the image that is not
// undone.
func (s *State) labelledAfter(e Event) bool {
	k, ok := s.index[e.ID]
	if !ok {
		return false
	}
	for i := s.images[k].last; i >= 0; i = s.records[i].before {
		if r := &s.records[i]; kinds[r.kind].acts() && !r.undone && s.names.list[r.by] == e.By && r.at > e.At.UnixNano() {
			return true
		}
	}
	return false
}

// knows reports whether an event of elsewhere is in the ledger.
func (s *State) knows(e Event) bool {
	k, ok := s.index[e.ID]
	if !ok {
		return false
	}
	for i := s.images[k].last; i >= 0; i = s.records[i].before {
		r := &s.records[i]
		if !kinds[r.kind].acts() || s.names.list[r.by] != e.By || s.names.list[r.tool] != e.Tool {
			continue
		}
		same := kinds[r.kind] == e.Kind && s.names.list[r.class] == e.Class
		if e.At.IsZero() {
			return same // the newest of this annotator and tool
		}
		if same && r.at == e.At.UnixNano() {
			return true
		}
	}
	return false
}
