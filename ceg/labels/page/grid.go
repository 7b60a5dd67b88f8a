package page

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
)

// sure is an image that a model thinks is of a class.
type sure struct {
	id          string
	probability float64
}

// classGuesses are the images that a model puts into one class, surest first.
type classGuesses struct {
	list   []sure
	sorted bool
}

// tiers are the probabilities that are worked through from the top, a tier in all
// classes before the next: what is confirmed together should be easy.
var tiers = []float64{0.95, 0.9, 0.8, 0.65, 0.5, 0}

const (
	minGrid, maxGrid = 12, 30
	// maxLeft is where counting what is left ends.
	maxLeft = 2000
)

// lookForGuesses reads the predictions of the options, and new ones recorded with queries.
// Callers hold s.mu.
func (s *Server) lookForGuesses() {
	add := func(id string, g Prediction) {
		if k, ok := s.class[g.Class]; ok {
			s.guesses[k].list = append(s.guesses[k].list, sure{id, g.Probability})
			s.guesses[k].sorted = false
		}
	}
	if s.guesses == nil {
		s.guesses = make([]classGuesses, len(s.o.Classes))
		for id, g := range s.o.Predictions {
			if _, ok := s.o.Data.Index(id); ok {
				add(id, g)
			}
		}
	}
	s.o.Ledger.View(func(st *labels.State) {
		for ; s.guessed < st.Last(); s.guessed++ {
			e, _ := st.Event(s.guessed + 1)
			if _, here := s.o.Predictions[e.ID]; e.Asking != nil && !here {
				add(e.ID, Prediction{e.Asking.Guess, e.Asking.Probability})
			}
		}
	})
	for k := range s.guesses {
		g := &s.guesses[k]
		if g.sorted {
			continue
		}
		slices.SortFunc(g.list, func(a, b sure) int {
			return cmp.Or(-cmp.Compare(a.probability, b.probability), strings.Compare(a.id, b.id))
		})
		g.list = slices.CompactFunc(g.list, func(a, b sure) bool { return a.id == b.id })
		g.sorted = true
	}
}

// guessReply is a model's prediction; Class is empty if there is none.
type guessReply struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
}

// showGuess serves guess.
func (s *Server) showGuess(r *http.Request) (any, error) {
	id, err := s.known(r.URL.Query().Get("id"))
	if err != nil {
		return nil, err
	}
	var g Prediction
	s.o.Ledger.View(func(st *labels.State) { g = s.guess(st.Image(id)) })
	return guessReply(g), nil
}

// guess returns a model's prediction of an image: the one recorded with its query, which is
// newer, or that of the options.
func (s *Server) guess(im labels.Image) Prediction {
	if a := im.Asking; a != nil {
		if _, ok := s.class[a.Guess]; ok {
			return Prediction{a.Guess, a.Probability}
		}
	}
	return s.o.Predictions[im.ID]
}

// gridReply is a page of thumbnails, all of which a model puts into one class.
type gridReply struct {
	Class string     `json:"class"`
	At    int        `json:"at"` // the class's number
	Left  int        `json:"left"`
	More  bool       `json:"more"` // there are more than Left
	Items []gridItem `json:"items"`
	// Classes is how many classes have anything to confirm.
	Classes int `json:"classes"`
}

type gridItem struct {
	ID          string  `json:"id"`
	Domain      string  `json:"domain"`
	Rev         string  `json:"rev"`
	Probability float64 `json:"probability"`
}

// grid serves grid. With not, a list of class numbers, these classes come last.
func (s *Server) grid(r *http.Request) (any, error) {
	q, a := r.URL.Query(), who(r)
	name, err := clientName(q.Get("client"))
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(q.Get("n"))
	if err != nil || n < minGrid || n > maxGrid {
		return nil, refuse(http.StatusBadRequest, "n: want %d to %d", minGrid, maxGrid)
	}
	last := make(map[int]bool)
	for _, f := range strings.FieldsFunc(q.Get("not"), func(r rune) bool { return r == ',' }) {
		if k, err := strconv.Atoi(f); err == nil {
			last[k] = true
		}
	}
	if err := s.o.Ledger.Refresh(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookForGuesses()
	reply := gridReply{Items: []gridItem{}}
	s.o.Ledger.View(func(st *labels.State) {
		c, key := s.window(a, st, name)
		for _, id := range c.grid {
			if !slices.Contains(c.questions, id) {
				s.free(a, id, key)
			}
		}
		c.grid, c.shown = nil, ""
		s.fillGrid(a, st, key, n, last, &reply)
		for _, it := range reply.Items {
			s.holder[a.lease(it.ID)] = key
			c.grid = append(c.grid, it.ID)
		}
	})
	return reply, nil
}

// fillGrid chooses the class and its images.
func (s *Server) fillGrid(a *annotator, st *labels.State, key string, n int, last map[int]bool, reply *gridReply) {
	free := func(g sure) bool {
		if s.aside[a.lease(g.id)] || s.holderOf(a, g.id, key) != nil {
			return false
		}
		status := a.image(st, g.id).Status
		return status == labels.IsOpen || status == labels.IsUnqueried
	}
	type choice struct{ at, tier, left int }
	var all []choice
	for k, g := range s.guesses {
		c := choice{at: k, tier: len(tiers)}
		for _, x := range g.list {
			if c.left >= maxLeft {
				break
			}
			if !free(x) {
				continue
			}
			if c.left == 0 {
				c.tier = slices.IndexFunc(tiers, func(t float64) bool { return x.probability >= t })
			}
			c.left++
		}
		if c.left > 0 {
			all = append(all, c)
		}
	}
	reply.Classes = len(all)
	if len(all) == 0 {
		return
	}
	best := slices.MinFunc(all, func(a, b choice) int {
		late := func(c choice) int {
			if last[c.at] {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(late(a), late(b)), cmp.Compare(a.tier, b.tier), -cmp.Compare(a.left, b.left), cmp.Compare(a.at, b.at))
	})
	reply.Class, reply.At, reply.Left, reply.More = s.o.Classes[best.at], best.at, best.left, best.left == maxLeft
	for _, x := range s.guesses[best.at].list {
		if len(reply.Items) == n {
			return
		}
		if free(x) {
			reply.Items = append(reply.Items, gridItem{x.id, s.domainOf(x.id), rev(a.image(st, x.id)), x.probability})
		}
	}
}
