package page

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
)

// query is the image on screen.
type query struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
	File   string `json:"file"` // the last element of the ID: those before may name the class
	Round  int    `json:"round"`
	// Rev names the state that the window has seen.
	Rev string `json:"rev"`
	// Current describes the image's current label; Class is its class.
	Current string `json:"current,omitempty"`
	Class   string `json:"class,omitempty"`
	// Predicted is true if there is a model's prediction.
	Predicted bool `json:"predicted"`
	// Later is true if it was put off before.
	Later bool `json:"later,omitempty"`
	// Group is its group, if other images of it are unlabelled.
	Group *queryGroup `json:"group,omitempty"`
}

// counts are numbers of images.
type counts struct {
	Total    int `json:"total"`
	Open     int `json:"open"`
	Labelled int `json:"labelled"`
	Unsure   int `json:"unsure"`
	Later    int `json:"later"` // of the open ones
	Skipped  int `json:"skipped"`
	Bad      int `json:"bad"`
	None     int `json:"none"` // of the classes
}

// view is what a window shows.
type view struct {
	Query *query `json:"question"`
	// Next are the images to preload.
	Next     []string `json:"next"`
	N        counts   `json:"n"`
	ByClass  []int    `json:"byClass"`
	ByDomain [][2]int `json:"byDomain"` // settled images, all images
	Undo     bool     `json:"undo"`
	Redo     bool     `json:"redo"`
	// Elsewhere is the number of open queries that other windows hold, if none is left for this
	// one. Notice is a message for the user.
	Elsewhere int    `json:"elsewhere,omitempty"`
	Notice    string `json:"notice,omitempty"`
	// Run is set if there is no query. Ending is true if the server is about to stop.
	Run    *Run `json:"run,omitempty"`
	Ending bool `json:"ending,omitempty"`
}

// rev names a state of an image. It is never reused: an image that was labelled, undone and is
// open again has another one.
func rev(im labels.Image) string {
	later := ""
	if im.Later {
		later = ".later"
	}
	return fmt.Sprintf("%d.%d.%d.%d%s", im.Status, im.N, im.Query, im.Turned, later)
}

// statusText is the display name of an image's status.
func statusText(im labels.Image) string {
	switch im.Status {
	case labels.IsLabelled:
		return im.Class
	case labels.IsUnsure:
		if im.Class != "" {
			return im.Class + ", unsure"
		}
		return "unsure"
	case labels.IsSkipped:
		if im.Later {
			return "left out"
		}
		return "skipped"
	case labels.IsReplaced:
		return "skipped"
	case labels.IsNone:
		return string(labels.None)
	case labels.IsBad:
		return "bad image"
	case labels.IsDisputed:
		return "annotators differ"
	case labels.IsOpen:
		if im.Later {
			return "put off"
		}
	}
	return ""
}

func (s *Server) query(a *annotator, st *labels.State, id string) *query {
	im := a.image(st, id)
	return &query{ID: id, Domain: s.domainOf(id), File: text(path.Base(id)), Round: im.Round, Rev: rev(im), Current: statusText(im), Class: im.Class, Later: im.Later && im.Status == labels.IsOpen,
		Predicted: s.prediction(im).Class != "", Group: s.groupOf(a, st, id)}
}

func (s *Server) domainOf(id string) string {
	i, ok := s.o.Data.Index(id)
	if !ok {
		return ""
	}
	return text(s.o.Data.Domains[s.o.Data.Examples[i].Domain])
}

// text makes a name safe to display.
func text(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// clientName checks the name that a window gives itself.
func clientName(name string) (string, error) {
	if len(name) < 1 || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' }) {
		return "", refuse(http.StatusBadRequest, "client: want 1 to 64 visible ASCII characters")
	}
	return name, nil
}

// known checks that an ID is in the data set.
func (s *Server) known(id string) (string, error) {
	if _, ok := s.o.Data.Index(id); !ok {
		return "", refuse(http.StatusNotFound, "there is no such image")
	}
	return id, nil
}

// showView serves GET view: the next query of a window, or with id an image to label again.
func (s *Server) showView(r *http.Request) (any, error) {
	q := r.URL.Query()
	name, err := clientName(q.Get("client"))
	if err != nil {
		return nil, err
	}
	var again []string
	if q.Has("id") {
		id, err := s.known(q.Get("id"))
		if err != nil {
			return nil, err
		}
		again = append(again, id)
	}
	if err := s.o.Ledger.Refresh(); err != nil {
		return nil, err
	}
	v := s.view(who(r), name, again...)
	if len(again) > 0 && (v.Query == nil || v.Query.ID != again[0]) {
		v.Notice = "Somebody else has that image on screen now."
	}
	return v, nil
}

// view makes a window's view, with the images pinned in front.
func (s *Server) view(a *annotator, name string, again ...string) view {
	v := s.viewNow(a, name, again)
	if v.Query == nil {
		v.Run = s.runState()
	}
	return v
}

func (s *Server) viewNow(a *annotator, name string, again []string) view {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := view{Ending: s.ending}
	s.o.Ledger.View(func(st *labels.State) {
		c, key := s.window(a, st, name)
		for _, id := range c.grid { // it is no longer on screen, or is queried again
			if !slices.Contains(c.queries, id) {
				s.free(a, id, key)
			}
		}
		c.grid = nil
		if pinned := make(map[string]bool); len(again) > 0 {
			var list []pin
			for _, id := range again {
				pinned[id] = true
				delete(c.passed, id)
				list = append(list, pin{id, rev(a.image(st, id))})
			}
			c.pinned = slices.Concat(list, slices.DeleteFunc(c.pinned, func(p pin) bool { return pinned[p.id] }))
		}
		v.Next = []string{}
		for i, id := range s.show(st, c, key) {
			if i == 0 {
				v.Query = s.query(a, st, id)
			} else {
				v.Next = append(v.Next, id)
			}
		}
		if c.atEnd = v.Query == nil; c.atEnd {
			v.Elsewhere = c.elsewhere
		}
		s.count(a, st, &v)
		v.Undo, v.Redo = st.CanUndo(a.name) != 0, st.CanRedo(a.name) != 0
	})
	return v
}

// count fills in the progress.
func (s *Server) count(a *annotator, st *labels.State, v *view) {
	all, domains, classes, later := a.count(st)
	v.N = counts{Open: all.Open + all.Disputed, Later: later, Labelled: all.Labelled, Unsure: all.Unsure, Skipped: all.Skipped, Bad: all.Bad, None: all.None}
	v.ByClass = make([]int, len(s.o.Classes))
	for _, row := range classes {
		for name, n := range row {
			if k, ok := s.class[name]; ok {
				v.ByClass[k] += n
			}
		}
	}
	v.ByDomain = make([][2]int, len(s.o.Data.Domains))
	for k, name := range s.o.Data.Domains {
		c := domains[text(name)]
		done := c.Labelled + c.Unsure + c.Bad + c.None
		total := max(done+c.Open+c.Disputed+c.Skipped, s.unknown[k])
		v.ByDomain[k] = [2]int{done, total}
		v.N.Total += total
	}
	v.N.Open = max(0, v.N.Total-v.N.Labelled-v.N.Unsure-v.N.Bad-v.N.None-v.N.Skipped)
}
