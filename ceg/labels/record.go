package labels

import (
	"slices"
	"time"
)

// record is an event as the state keeps it. Strings are numbers of State.names.
type record struct {
	at      int64 // in nanoseconds since 1970
	seconds float64
	image   int32 // -1 for none
	before  int32 // the record before of the same image, -1 for none
	class   int32
	by      int32
	tool    int32
	round   int32
	act, of int32 // records; of is -1 for none
	turned  int32 // the newest event that undid or redid it, 0 for none
	kind    uint8
	undone  bool
}

func (r *record) is(list ...Kind) bool { return slices.Contains(list, kinds[r.kind]) }

// names numbers strings in order of first occurrence. "" is 0.
type names struct {
	list   []string
	number map[string]int32
}

func (n *names) of(s string) int32 {
	k, ok := n.number[s]
	if !ok {
		k = int32(len(n.list))
		n.list = append(n.list, s)
		n.number[s] = k
	}
	return k
}

// Event returns event n; ok is false if there is none.
func (s *State) Event(n int64) (e Event, ok bool) {
	if n < 1 || n > s.Last() {
		return Event{}, false
	}
	r := s.records[n-1]
	e = Event{N: n, Kind: kinds[r.kind], Class: s.names.list[r.class], Round: int(r.round), By: s.names.list[r.by],
		At: time.Unix(0, r.at).UTC(), Seconds: r.seconds, Tool: s.names.list[r.tool]}
	if r.image >= 0 {
		e.ID, e.Domain = s.images[r.image].id, s.names.list[s.images[r.image].domain]
	}
	if e.Kind.acts() {
		e.Act = int64(r.act) + 1
	}
	if r.of >= 0 {
		e.Of = int64(r.of) + 1
	}
	if e.Kind == Ruled {
		e.Rule, e.Class = e.Class, ""
	}
	e.QueryInfo = s.infos[int32(n-1)]
	return e, true
}

// Standing returns the labels and rules in effect, in order, without queries, skips and undone
// events.
func (s *State) Standing() (list []Event) {
	for i := range s.records {
		if r := &s.records[i]; !r.undone && r.is(Labelled, Unsure, Bad, None, Corrected, Ruled) {
			e, _ := s.Event(int64(i) + 1)
			list = append(list, e)
		}
	}
	return list
}

// Act returns the events of the act that starts with event n, or nil.
func (s *State) Act(n int64) []Event {
	var list []Event
	for _, i := range s.actRecords(n) {
		e, _ := s.Event(int64(i) + 1)
		list = append(list, e)
	}
	return list
}

// actRecords returns the records of the act that begins with event n.
func (s *State) actRecords(n int64) []int32 {
	if n < 1 || n > s.Last() || !kinds[s.records[n-1].kind].acts() {
		return nil
	}
	var list []int32
	for i := int32(n - 1); int(i) < len(s.records) && s.records[i].act == int32(n-1) && kinds[s.records[i].kind].acts(); i++ {
		list = append(list, i)
	}
	return list
}

// History returns all events about an image, oldest first, and which of them are undone.
func (s *State) History(id string) (events []Event, undone []bool) {
	k, ok := s.index[id]
	if !ok {
		return nil, nil
	}
	for i := s.images[k].last; i >= 0; i = s.records[i].before {
		e, _ := s.Event(int64(i) + 1)
		events, undone = append(events, e), append(undone, s.records[i].undone)
	}
	slices.Reverse(events)
	slices.Reverse(undone)
	return events, undone
}
