package page

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
)

// sure is an image with the probability of its predicted class.
type sure struct {
	id          string
	probability float64
}

// classPredictions are the images predicted as one class, the most confident first.
type classPredictions struct {
	list   []sure
	sorted bool
}

// tiers are probability thresholds, from the top. All classes of a tier come before the next tier:
// images that are confirmed together should be easy.
var tiers = []float64{0.95, 0.9, 0.8, 0.65, 0.5, 0}

const (
	minGrid, maxGrid = 12, 30
	// maxLeft is where the count of remaining images stops.
	maxLeft = 2000
)

// readPredictions reads the predictions of the options, and new ones recorded with queries.
// Callers hold s.mu.
func (s *Server) readPredictions() {
	add := func(id string, g Prediction) {
		if k, ok := s.class[g.Class]; ok {
			s.predictions[k].list = append(s.predictions[k].list, sure{id, g.Probability})
			s.predictions[k].sorted = false
		}
	}
	if s.predictions == nil {
		s.predictions = make([]classPredictions, len(s.o.Classes))
		for id, g := range s.o.Predictions {
			if _, ok := s.o.Data.Index(id); ok {
				add(id, g)
			}
		}
	}
	s.o.Ledger.View(func(st *labels.State) {
		for ; s.searched < st.Last(); s.searched++ {
			e, _ := st.Event(s.searched + 1)
			if _, here := s.o.Predictions[e.ID]; e.QueryInfo != nil && !here && !s.o.Unaided {
				add(e.ID, Prediction{Class: e.QueryInfo.Predicted, Probability: e.QueryInfo.Probability})
			}
		}
	})
	for k := range s.predictions {
		g := &s.predictions[k]
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

// predictionReply is a model's prediction; Class is empty if there is none.
type predictionReply struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"`
	Source      string  `json:"source,omitempty"`
}

// showPrediction serves GET prediction.
func (s *Server) showPrediction(r *http.Request) (any, error) {
	id, err := s.known(r.URL.Query().Get("id"))
	if err != nil {
		return nil, err
	}
	var g Prediction
	s.o.Ledger.View(func(st *labels.State) { g = s.prediction(st.Image(id)) })
	return predictionReply(g), nil
}

// prediction returns a model's prediction of an image: the one recorded with its query, which is
// newer, or else the one in the options.
func (s *Server) prediction(im labels.Image) Prediction {
	if a := im.QueryInfo; a != nil && !s.o.Unaided {
		if _, ok := s.class[a.Predicted]; ok {
			g := Prediction{Class: a.Predicted, Probability: a.Probability}
			if a.Model == labels.ByNames {
				g.Source = "Class names"
			}
			return g
		}
	}
	return s.o.Predictions[im.ID]
}

// gridReply is a page of thumbnails that are all predicted as one class.
type gridReply struct {
	Class string     `json:"class"`
	At    int        `json:"at"` // the class's number
	Left  int        `json:"left"`
	More  bool       `json:"more"` // there are more than Left
	Items []gridItem `json:"items"`
	// Classes is the number of classes with images to confirm.
	Classes int `json:"classes"`
}

type gridItem struct {
	ID          string  `json:"id"`
	Domain      string  `json:"domain"`
	Rev         string  `json:"rev"`
	Probability float64 `json:"probability"`
}

// grid serves GET grid. The classes whose numbers are listed in the parameter not come last.
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
	s.readPredictions()
	reply := gridReply{Items: []gridItem{}}
	s.o.Ledger.View(func(st *labels.State) {
		c, key := s.window(a, st, name)
		for _, id := range c.grid {
			if !slices.Contains(c.queries, id) {
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
	for k, g := range s.predictions {
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
	for _, x := range s.predictions[best.at].list {
		if len(reply.Items) == n {
			return
		}
		if free(x) {
			reply.Items = append(reply.Items, gridItem{x.id, s.domainOf(x.id), rev(a.image(st, x.id)), x.probability})
		}
	}
}
