package page

import (
	"errors"
	"net/http"

	"github.com/ledg-go/ledg/ceg/labels"
)

// questionGroup is the group of the image on screen, if others of it have no answer yet.
type questionGroup struct {
	Name string `json:"name"`
	// N is how many images an answer for all of the group is about, Others are the first of
	// them beside the one on screen.
	N      int      `json:"n"`
	Others []string `json:"others"`
}

// maxOthers is how many images of a group are shown beside the one on screen.
const maxOthers = 11

// ofGroup calls f with the image and the others of its group that have no answer: those that are
// asked for, and those that nobody has asked for nor knows the class of.
func (s *Server) ofGroup(a *annotator, st *labels.State, id string, f func(id string)) {
	f(id)
	i, ok := s.o.Data.Index(id)
	if !ok || s.groups == nil {
		return
	}
	for _, k := range s.groups[s.o.Data.Groups[i]] {
		other := s.id(int32(k))
		if k == i {
			continue
		}
		if status := a.image(st, other).Status; s.isOpen(a, st, other) || a.own == nil && status == labels.IsUnasked && (s.o.Known == nil || !s.o.Known(k)) {
			f(other)
		}
	}
}

// groupOf is what a window shows of an image's group; nil if it is the last one without an answer.
func (s *Server) groupOf(a *annotator, st *labels.State, id string) *questionGroup {
	g := &questionGroup{Others: []string{}}
	s.ofGroup(a, st, id, func(other string) {
		if g.N++; other != id && len(g.Others) < maxOthers {
			g.Others = append(g.Others, other)
		}
	})
	if g.N < 2 {
		return nil
	}
	i, _ := s.o.Data.Index(id)
	g.Name = text(s.o.Data.GroupNames[s.o.Data.Groups[i]])
	return g
}

// group gives all of a group the class of the image on screen, as one act. What has an answer
// keeps it, but for that image.
func (s *Server) group(by *annotator, a action) (any, error) {
	id, err := s.known(a.ID)
	if err != nil {
		return nil, err
	}
	if _, ok := s.class[a.Class]; !ok {
		return nil, refuse(http.StatusBadRequest, "there is no class %q", a.Class)
	}
	var now labels.Image
	var ids []string
	_, err = s.o.Ledger.Update(func(st *labels.State) (events []labels.Event, err error) {
		now, ids = by.image(st, id), nil
		if now.Status == labels.IsLabelled && now.Class == a.Class && now.By == by.name {
			return nil, nil // a reply was lost
		}
		if rev(now) != a.Rev {
			return nil, errMoved
		}
		s.ofGroup(by, st, id, func(other string) { ids = append(ids, other) })
		each := action{Op: "answer", Class: a.Class, Seconds: a.Seconds / float64(len(ids)), Guess: a.Guess}
		for _, other := range ids {
			e, _ := s.event(by, each, other, by.image(st, other))
			e.Tool += ", group"
			events = append(events, e)
		}
		return events, nil
	})
	switch {
	case errors.Is(err, errMoved):
		s.leaveBehind(by, a.Client, id, false)
		return s.movedReply(by, a.Client, now), nil
	case err != nil:
		return nil, err
	}
	for _, id := range append(ids, id) {
		s.leaveBehind(by, a.Client, id, false)
	}
	return actReply{View: s.view(by, a.Client)}, nil
}
