package page

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/seed"
)

const (
	// ahead is how many questions a window has, with the one that it shows. Browsers
	// have six connections to a server: an answer is not to wait for images.
	ahead = 5
	// idle is the time after which the questions of a silent window are given to
	// others, maxClients how many windows are remembered.
	idle       = 10 * time.Minute
	maxClients = 1024
)

// client is a window in which the page is open.
type client struct {
	// pinned come first, whatever their state: an act that was undone, an image that
	// somebody wants to see again.
	pinned []string
	// questions are open; the first is on screen if nothing is pinned.
	questions []string
	grid      []string // of the page of thumbnails
	// passed are open questions that were left without an answer.
	passed map[string]bool
	seen   time.Time
}

// order fills in rest: the examples that need an answer, drawn in every domain, the
// domains in turn.
func (s *Server) order() {
	d := s.o.Data
	s.place = make([]int32, d.Len())
	domains := make([][]int32, len(d.Domains))
	for i, e := range d.Examples {
		s.place[i] = -1
		if s.o.Known == nil || !s.o.Known(i) {
			domains[e.Domain] = append(domains[e.Domain], int32(i))
		}
	}
	total := 0
	for k, list := range domains {
		rng := rand.New(seed.New(s.o.Seed, "labelling "+d.Domains[k]))
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
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

// isOpen reports whether the class of an image is still wanted.
func (s *Server) isOpen(st *labels.State, id string) bool {
	switch s.image(st, id).Status {
	case labels.IsOpen, labels.IsDisputed:
		return true
	case labels.IsUnasked:
		i, ok := s.o.Data.Index(id)
		return ok && s.o.Rest && s.place[i] >= 0
	}
	return false
}

// candidates calls f with open questions in the order of asking, until it returns
// false; limit is how many of those that were asked for it may need. Callers hold s.mu.
func (s *Server) candidates(st *labels.State, limit int, f func(id string) bool) {
	if s.own != nil {
		s.own.eachOpen(st, f)
		return
	}
	for _, im := range st.OpenImages(limit) {
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
	for s.first < len(s.rest) && st.Image(s.id(s.rest[s.first])).Status != labels.IsUnasked {
		s.first++
	}
	for _, i := range s.rest[min(s.first, len(s.rest)):] {
		if id := s.id(i); st.Image(id).Status == labels.IsUnasked && !f(id) {
			return
		}
	}
}

func (s *Server) id(i int32) string { return s.o.Data.Examples[i].ID }

// rewind moves first back to what anybody has undone.
func (s *Server) rewind(st *labels.State) {
	if s.seen > st.Last() {
		s.seen, s.first = 0, 0 // another file
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

// window returns the client called name, whose questions are made up to date. Callers
// hold s.mu.
func (s *Server) window(st *labels.State, name string) *client {
	now := time.Now()
	c := s.clients[name]
	if c == nil {
		if len(s.clients) >= maxClients {
			s.forgetOldest()
		}
		c = &client{passed: make(map[string]bool)}
		s.clients[name] = c
	}
	c.seen = now
	// Questions that are answered by now, or lent to others, go.
	c.questions = slices.DeleteFunc(c.questions, func(id string) bool {
		if s.holder[id] == name && !c.passed[id] && s.isOpen(st, id) {
			return false
		}
		s.free(id, name)
		return true
	})
	if len(c.questions) >= ahead {
		return c
	}
	held := len(c.questions) + len(c.grid) + len(c.passed)
	for other, o := range s.clients {
		if other != name && now.Sub(o.seen) < idle {
			held += len(o.questions) + len(o.grid)
		}
	}
	var lent []string
	s.candidates(st, held+ahead, func(id string) bool {
		switch owner, taken := s.holder[id]; {
		case owner == name || c.passed[id]:
		case taken && now.Sub(s.clients[owner].seen) < idle:
			if len(lent) < held {
				lent = append(lent, id)
			}
		default:
			s.take(id, name, c)
		}
		return len(c.questions) < ahead
	})
	if len(c.questions) > 0 || len(c.pinned) > 0 {
		return c
	}
	// Nothing else is left: what others have not on screen, then anything. Two windows
	// may have the same image then; the second answer to it is refused.
	for _, shown := range []bool{false, true} {
		for _, id := range lent {
			o := s.clients[s.holder[id]]
			if (len(o.questions) > 0 && o.questions[0] == id) == shown && len(c.questions) == 0 {
				s.take(id, name, c)
			}
		}
	}
	return c
}

// take lends a question to a window.
func (s *Server) take(id, name string, c *client) {
	s.holder[id] = name
	c.questions = append(c.questions, id)
}

// free ends the loan of a question.
func (s *Server) free(id, name string) {
	if s.holder[id] == name {
		delete(s.holder, id)
	}
}

// forget ends all loans of a window.
func (s *Server) forget(name string) {
	c := s.clients[name]
	if c == nil {
		return
	}
	for _, id := range slices.Concat(c.questions, c.grid) {
		s.free(id, name)
	}
	delete(s.clients, name)
}

func (s *Server) forgetOldest() {
	oldest := ""
	for name, c := range s.clients {
		if oldest == "" || c.seen.Before(s.clients[oldest].seen) {
			oldest = name
		}
	}
	s.forget(oldest)
}
