package page

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

const (
	// ahead is the number of queries that a window holds, including the one on screen. Browsers
	// have six connections to a server: a label must not wait for images.
	ahead = 5
	// silence is the time after which the leases of a silent window expire: windows call every
	// 20 seconds, those in the background every minute. maxClients is the number of remembered
	// windows.
	silence    = 90 * time.Second
	maxClients = 1024
)

// client is a window in which the page is open. The image that it shows is leased: while the
// window lives nobody else gets it. Leases are only in memory.
type client struct {
	who *annotator
	// pinned images come first while their state is unchanged: after an undo, or when somebody
	// reopens an image.
	pinned []pin
	// queries are open queries; the first is on screen if nothing is pinned.
	queries []string
	grid    []string // images in the page of thumbnails
	shown   string   // the image on screen, empty for none
	// passed are open queries that were left without a label.
	passed map[string]bool
	// elsewhere is the number of open queries that other windows hold, if none is left for this
	// one.
	elsewhere int
	atEnd     bool // it shows that nothing is left to label
	seen      time.Time
}

// pin is an image and the state in which it was pinned.
type pin struct{ id, rev string }

// order fills rest: the examples that need a label, in random order within every domain, with
// alternating domains.
func (s *Server) order() {
	d := s.o.Data
	s.place = make([]int32, d.Len())
	domains := make([][]int32, len(d.Domains))
	for i, e := range d.Examples {
		s.place[i] = -1
		if e.Split != datasets.Test && (s.o.Known == nil || !s.o.Known(i)) {
			domains[e.Domain] = append(domains[e.Domain], int32(i))
		}
	}
	total := 0
	for k, list := range domains {
		rng := rand.New(seed.New(s.o.Seed, "labelling "+d.Domains[k]))
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if d.Groups != nil {
			active.ByGroup(list, func(i int32) int { return d.Groups[i] }, nil)
		}
		s.unknown[k] = len(list)
		total += len(list)
	}
	s.rest = make([]int32, 0, total)
	for round := 0; len(s.rest) < total; round++ {
		for _, list := range domains {
			if round < len(list) {
				s.place[list[round]] = int32(len(s.rest))
				s.rest = append(s.rest, list[round])
			}
		}
	}
}

// isOpen reports whether an image still needs a label.
func (s *Server) isOpen(a *annotator, st *labels.State, id string) bool {
	switch a.image(st, id).Status {
	case labels.IsOpen, labels.IsDisputed:
		return true
	case labels.IsUnqueried:
		i, ok := s.o.Data.Index(id)
		return ok && s.o.Rest && s.place[i] >= 0
	}
	return false
}

// candidates calls f with open queries in query order, until it returns false; those that were
// put off come last. limit is the number of queried images that it may need. Callers hold s.mu.
func (s *Server) candidates(a *annotator, st *labels.State, limit int, f func(id string) bool) {
	if a.blind {
		for _, im := range a.with(st, labels.IsOpen) {
			if !f(im.ID) {
				return
			}
		}
		return
	}
	for _, im := range st.OpenImages(limit) {
		if im.Later {
			break
		}
		if !f(im.ID) {
			return
		}
	}
	for _, im := range st.With(labels.IsDisputed) {
		if !f(im.ID) {
			return
		}
	}
	s.rewind(st)
	for s.first < len(s.rest) && st.Image(s.id(s.rest[s.first])).Status != labels.IsUnqueried {
		s.first++
	}
	for _, i := range s.rest[min(s.first, len(s.rest)):] {
		if id := s.id(i); st.Image(id).Status == labels.IsUnqueried && !f(id) {
			return
		}
	}
	for _, im := range st.PutOff() {
		if !f(im.ID) {
			return
		}
	}
}

func (s *Server) id(i int32) string { return s.o.Data.Examples[i].ID }

// rewind moves first back to images whose labels were undone.
func (s *Server) rewind(st *labels.State) {
	if s.seen > st.Last() {
		s.seen, s.first = 0, 0 // the ledger file was replaced
	}
	for s.seen < st.Last() {
		s.seen++
		e, _ := st.Event(s.seen)
		if e.Kind != labels.Undone || len(s.rest) == 0 {
			continue
		}
		for _, undone := range st.Act(e.Of) {
			if i, ok := s.o.Data.Index(undone.ID); ok && s.place[i] >= 0 {
				s.first = min(s.first, int(s.place[i]))
			}
		}
	}
}

// client returns an annotator's window by name. Callers hold s.mu.
func (s *Server) client(a *annotator, name string) (c *client, key string) {
	key = a.name + "\x00" + name
	if c = s.clients[key]; c == nil {
		if len(s.clients) >= maxClients {
			s.forgetOldest()
		}
		c = &client{who: a, passed: make(map[string]bool)}
		s.clients[key] = c
	}
	c.seen = time.Now()
	return c, key
}

// lease names a window's lease of an image. In blind labelling each annotator has separate
// leases.
func (a *annotator) lease(id string) string {
	if a.blind {
		return a.name + "\x00" + id
	}
	return id
}

// holderOf returns the window that holds an image's lease, if it is alive and not key.
func (s *Server) holderOf(a *annotator, id, key string) *client {
	owner, taken := s.holder[a.lease(id)]
	if c := s.clients[owner]; taken && owner != key && c != nil && time.Since(c.seen) < s.silence {
		return c
	}
	return nil
}

// onScreen reports whether a window shows an image.
func (c *client) onScreen(id string) bool { return c.shown == id || slices.Contains(c.grid, id) }

// window returns a client by name and updates its queries. Callers hold s.mu.
func (s *Server) window(a *annotator, st *labels.State, name string) (*client, string) {
	c, key := s.client(a, name)
	// Drop queries that were labelled meanwhile, or are leased to others.
	c.queries = slices.DeleteFunc(c.queries, func(id string) bool {
		if s.holder[a.lease(id)] == key && !c.passed[id] && s.isOpen(a, st, id) {
			return false
		}
		s.free(a, id, key)
		return true
	})
	if c.elsewhere = 0; len(c.queries) >= ahead {
		return c, key
	}
	held := len(c.queries) + len(c.grid) + len(c.passed)
	for other, o := range s.clients {
		if other != key && time.Since(o.seen) < s.silence {
			held += len(o.queries) + len(o.grid) + ahead // the pinned images
		}
	}
	var lent []string
	s.candidates(a, st, held+ahead, func(id string) bool {
		switch {
		case s.holder[a.lease(id)] == key || c.passed[id]:
		case s.holderOf(a, id, key) != nil:
			if len(lent) < held {
				lent = append(lent, id)
			}
		default:
			s.take(id, key, c)
		}
		return len(c.queries) < ahead
	})
	if len(c.queries) > 0 {
		return c, key
	}
	// Nothing else is left: take an image that another window holds but does not show.
	for _, id := range lent {
		if !s.holderOf(a, id, key).onScreen(id) {
			s.take(id, key, c)
			return c, key
		}
	}
	c.elsewhere = len(lent)
	return c, key
}

// show returns the images that a window will show, the one on screen first, and leases them to it.
// Callers hold s.mu.
func (s *Server) show(st *labels.State, c *client, key string) []string {
	c.pinned = slices.DeleteFunc(c.pinned, func(p pin) bool {
		im := c.who.image(st, p.id)
		settled := im.Status == labels.IsLabelled || im.Status == labels.IsBad || im.Status == labels.IsNone
		other := s.holderOf(c.who, p.id, key)
		if rev(im) == p.rev && (settled || other == nil || !other.onScreen(p.id)) {
			return false
		}
		if !slices.Contains(c.queries, p.id) {
			s.free(c.who, p.id, key)
		}
		return true
	})
	var list []string
	for _, p := range c.pinned[:min(len(c.pinned), ahead)] {
		s.holder[c.who.lease(p.id)] = key
		list = append(list, p.id)
	}
	for _, id := range c.queries {
		if len(list) < ahead && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	if c.shown = ""; len(list) > 0 {
		c.shown = list[0]
	}
	return list
}

// take leases a query to a window.
func (s *Server) take(id, key string, c *client) {
	s.holder[c.who.lease(id)] = key
	c.queries = append(c.queries, id)
}

// free ends the lease of a query.
func (s *Server) free(a *annotator, id, key string) {
	if s.holder[a.lease(id)] == key {
		delete(s.holder, a.lease(id))
	}
}

// forget ends all leases of a window.
func (s *Server) forget(key string) {
	for lease, owner := range s.holder {
		if owner == key {
			delete(s.holder, lease)
		}
	}
	delete(s.clients, key)
}

func (s *Server) forgetOldest() {
	oldest := ""
	for key, c := range s.clients {
		if oldest == "" || c.seen.Before(s.clients[oldest].seen) {
			oldest = key
		}
	}
	s.forget(oldest)
}

// here is the body of POST leave and POST beat.
type here struct {
	Client string `json:"client"`
	// ID is the image on screen, for beat.
	ID string `json:"id"`
}

// leave ends the leases of a window that was closed.
func (s *Server) leave(r *http.Request) (any, error) {
	var h here
	if err := body(r, &h); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(who(r).name + "\x00" + h.Client)
	return struct{}{}, nil
}

// beat marks a window as alive. A restarted server learns what it shows.
func (s *Server) beat(r *http.Request) (any, error) {
	var h here
	if err := body(r, &h); err != nil {
		return nil, err
	}
	name, err := clientName(h.Client)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.Ledger.View(func(st *labels.State) {
		c, key := s.client(who(r), name)
		if c.shown == "" && h.ID != "" && s.isOpen(c.who, st, h.ID) && s.holderOf(c.who, h.ID, key) == nil {
			s.take(h.ID, key, c)
			c.shown = h.ID
		}
	})
	return struct{}{}, nil
}
