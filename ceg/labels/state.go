package labels

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Status is the labelling status of an image.
type Status uint8

const (
	// IsUnqueried: neither queried nor labelled, or all of it is undone.
	IsUnqueried Status = iota
	// IsOpen: it waits for a label.
	IsOpen
	// IsLabelled: it has a class.
	IsLabelled
	// IsUnsure: it may have a class, and its annotator wants a second look.
	IsUnsure
	// IsSkipped: it was queried and skipped, and can be queried again.
	IsSkipped
	// IsReplaced: it was skipped, and another image was queried in its place.
	IsReplaced
	// IsBad: it has left the pool.
	IsBad
	// IsDisputed: annotators disagree, and the rule is Unanimous.
	IsDisputed
	// IsNone: it shows none of the classes, and has left the pool.
	IsNone

	statusCount
)

var statusNames = [statusCount]string{"unasked", "open", "labelled", "unsure", "skipped", "replaced", "bad", "disputed", "none of these"}

// String returns the status as a word.
func (s Status) String() string { return statusNames[s] }

func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// State is the result of a ledger's events. The state of a [Ledger] is valid only within View
// and Update; one from [Read] belongs to the caller.
type State struct {
	rule    Rule
	classes map[string]bool // nil: any
	domain  func(id string) (string, bool)

	blank     int64 // blank lines of the file so far
	records   []record
	images    []image
	index     map[string]int32 // of an ID in images
	names     names
	infos     map[int32]*QueryInfo // of records
	order     []int32              // images in the order of their first queries
	ruled     int64                // newest event that set the rule
	firstOpen int                  // before this place of order nothing is open
	cells     map[cell]int
	special   [statusCount]map[int32]bool // images that are unsure, skipped, bad or disputed
	later     map[int32]bool              // open images that were put off
	stacks    map[int32]*stack            // of annotators
}

// image is what the fold knows of one. Records are -1 for none.
type image struct {
	id       string
	domain   int32
	last     int32 // newest record
	query    int32 // newest record of a query
	place    int32 // in State.order
	replaced int32 // record that queried another in its place
	decided  int32 // record of the opinion that holds
	skip     int32 // newest skip
	later    int32 // newest time that it was put off
	status   Status
	class    int32
}

// cell is what images are counted by.
type cell struct {
	domain, class int32
	status        Status
}

// newState returns the fold over no events.
func newState(classes []string, o Options) *State {
	s := &State{rule: o.Rule, domain: o.Domain, index: make(map[string]int32), names: names{[]string{""}, map[string]int32{"": 0}},
		infos: make(map[int32]*QueryInfo), cells: make(map[cell]int), later: make(map[int32]bool), stacks: make(map[int32]*stack)}
	for _, status := range []Status{IsUnsure, IsSkipped, IsBad, IsDisputed, IsNone} {
		s.special[status] = make(map[int32]bool)
	}
	if classes != nil {
		s.classes = make(map[string]bool)
		for _, c := range classes {
			s.classes[c] = true
		}
	}
	return s
}

// Last returns the number of the newest event, 0 if there is none.
func (s *State) Last() int64 { return int64(len(s.records)) }

// errUnknown is wrapped when an ID or a class is none of the data set's.
var errUnknown = errors.New("the data set does not have it")

// check returns an error if e cannot be the next event.
func (s *State) check(e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	if len(s.records) == math.MaxInt32 {
		return errors.New("the ledger is full")
	}
	if err := s.checkPlace(e); err != nil {
		return err
	}
	if e.Class != "" && s.classes != nil && !s.classes[e.Class] {
		return fmt.Errorf("class %q of %q: %w", e.Class, e.ID, errUnknown)
	}
	if e.ID != "" && s.domain != nil {
		if _, ok := s.domain(e.ID); !ok {
			return fmt.Errorf("image %q: %w", e.ID, errUnknown)
		}
	}
	if a := e.QueryInfo; a != nil && a.Instead != "" {
		if _, ok := s.index[a.Instead]; !ok {
			return fmt.Errorf("%q is queried instead of %q, which has no events", e.ID, a.Instead)
		}
	}
	if e.Of != 0 {
		list := s.actRecords(e.Of)
		if list == nil {
			return fmt.Errorf("%s: there is no act %d", e.Kind, e.Of)
		}
		if undone := s.records[list[0]].undone; undone == (e.Kind == Undone) {
			return fmt.Errorf("%s: act %d is undone: %v", e.Kind, e.Of, undone)
		}
	}
	return nil
}

// checkPlace looks at the numbers of an event and of its act.
func (s *State) checkPlace(e Event) error {
	if want := s.Last() + 1; e.N != want {
		return fmt.Errorf("event %d, want %d", e.N, want)
	}
	first := e.Act == e.N
	if !e.Kind.acts() {
		first = e.Act == 0
	}
	if first {
		return nil
	}
	if len(s.records) > 0 && e.Kind.acts() {
		if r := &s.records[len(s.records)-1]; r.is(Labelled, Skipped, Later, Unsure, Bad, None, Corrected) && int64(r.act)+1 == e.Act && s.names.list[r.by] == e.By {
			return nil
		}
	}
	return fmt.Errorf("%s: event %d does not go on with act %d", e.Kind, e.N, e.Act)
}

// apply takes in an event that passes check.
func (s *State) apply(e Event) {
	at := int32(len(s.records))
	r := record{at: e.At.UnixNano(), seconds: e.Seconds, image: -1, before: -1, class: s.names.of(cmp.Or(e.Class, e.Rule)), by: s.names.of(e.By),
		tool: s.names.of(e.Tool), round: int32(e.Round), act: int32(e.Act - 1), of: int32(e.Of - 1),
		kind: uint8(slices.Index(kinds, e.Kind))}
	if e.Of != 0 {
		s.records = append(s.records, r)
		s.turn(e)
		return
	}
	if e.Kind == Ruled {
		s.records = append(s.records, r)
		s.rule, _ = ParseRule(e.Rule) // check has
		s.ruled = e.N
		for k := range s.images {
			s.derive(int32(k))
		}
		return
	}
	r.image = s.image(e)
	im := &s.images[r.image]
	r.before, im.last = im.last, at
	s.records = append(s.records, r)
	if e.Kind == Queried {
		s.query(r.image, at, e)
	} else if e.Act == e.N {
		s.stack(r.by).push(e.N)
	}
	s.derive(r.image)
}

// image returns the number of an event's image, and makes it if it is new.
func (s *State) image(e Event) int32 {
	k, ok := s.index[e.ID]
	if !ok {
		k = int32(len(s.images))
		s.index[e.ID] = k
		s.images = append(s.images, image{id: e.ID, domain: s.names.of(e.Domain), last: -1, query: -1, place: -1, replaced: -1, decided: -1, skip: -1, later: -1})
		s.cells[s.images[k].cell()]++
	}
	if im := &s.images[k]; im.domain == 0 && e.Domain != "" {
		s.cells[im.cell()]--
		im.domain = s.names.of(e.Domain)
		s.cells[im.cell()]++
	}
	return k
}

func (s *State) query(k, at int32, e Event) {
	im := &s.images[k]
	im.query = at
	if im.place < 0 {
		im.place = int32(len(s.order))
		s.order = append(s.order, k)
	}
	if e.QueryInfo == nil {
		return
	}
	s.infos[at] = e.QueryInfo
	if other, ok := s.index[e.QueryInfo.Instead]; ok {
		s.images[other].replaced = at
		s.derive(other)
	}
}

// turn undoes or redoes an act.
func (s *State) turn(e Event) {
	list := s.actRecords(e.Of)
	for _, i := range list {
		s.records[i].undone, s.records[i].turned = e.Kind == Undone, int32(e.N)
	}
	for _, i := range list {
		s.derive(s.records[i].image)
	}
	if st := s.stack(s.records[list[0]].by); e.Kind == Undone {
		st.undo(e.Of)
	} else {
		st.redo(e.Of)
	}
}

func (im *image) cell() cell { return cell{im.domain, im.class, im.status} }

// derive finds out how an image stands.
func (s *State) derive(k int32) {
	im := &s.images[k]
	s.cells[im.cell()]--
	if s.cells[im.cell()] == 0 {
		delete(s.cells, im.cell())
	}
	delete(s.special[im.status], k)
	delete(s.later, k)

	list, skip, later := s.opinions(im)
	im.skip, im.later, im.decided, im.class = skip, later, -1, 0
	switch {
	case len(list) > 0:
		im.status, im.decided = s.decide(list)
		if im.decided >= 0 {
			im.class = s.records[im.decided].class
		}
	case im.replaced >= 0 && im.replaced > im.query:
		im.status = IsReplaced
	case skip >= 0 && skip > im.query:
		im.status = IsSkipped
	case im.putOff():
		im.status = IsOpen
		s.later[k] = true
	case im.query >= 0:
		im.status = IsOpen
		s.firstOpen = min(s.firstOpen, int(im.place))
	default:
		im.status = IsUnqueried
	}

	s.cells[im.cell()]++
	if set := s.special[im.status]; set != nil {
		set[k] = true
	}
}

// putOff reports whether an image was put off since its last query.
func (im *image) putOff() bool { return im.later >= 0 && im.later > im.query }

// opinions returns the records of the annotators' current opinions about an image, in order of
// time, newest first, with the newest records by which it was skipped and put off. One
// annotator's events are in ledger order, but labels of others may have been imported later.
func (s *State) opinions(im *image) (list []int32, skip, later int32) {
	skip, later = -1, -1
	for i := im.last; i >= 0; i = s.records[i].before {
		r := &s.records[i]
		switch {
		case r.undone || r.is(Queried):
		case r.is(Skipped):
			skip = max(skip, i)
		case r.is(Later):
			later = max(later, i)
		case !slices.ContainsFunc(list, func(j int32) bool { return s.records[j].by == r.by }):
			list = append(list, i)
			if r.is(Corrected) {
				return list, skip, later
			}
		}
	}
	if len(list) > 1 {
		slices.SortStableFunc(list, func(i, j int32) int { return cmp.Compare(s.records[j].at, s.records[i].at) })
	}
	return list, skip, later
}
