package labels

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

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

// ofAnnotator calls f with the records of an event's annotator about its image, newest first, until it
// returns true, and reports whether it did.
func (s *State) ofAnnotator(e Event, f func(r *record) bool) bool {
	k, ok := s.index[e.ID]
	if !ok {
		return false
	}
	for i := s.images[k].last; i >= 0; i = s.records[i].before {
		if r := &s.records[i]; kinds[r.kind].acts() && s.names.list[r.by] == e.By && f(r) {
			return true
		}
	}
	return false
}

// labelledAfter reports whether an event's annotator has a later event about the image that is not
// undone.
func (s *State) labelledAfter(e Event) bool {
	return s.ofAnnotator(e, func(r *record) bool { return !r.undone && r.at > e.At.UnixNano() })
}

// knows reports whether an event of elsewhere is in the ledger; without a time, whether it is the
// annotator's newest with its tool.
func (s *State) knows(e Event) (known bool) {
	s.ofAnnotator(e, func(r *record) bool {
		if s.names.list[r.tool] != e.Tool {
			return false
		}
		known = kinds[r.kind] == e.Kind && s.names.list[r.class] == e.Class && (e.At.IsZero() || r.at == e.At.UnixNano())
		return known || e.At.IsZero()
	})
	return known
}
