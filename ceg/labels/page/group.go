package page

import (
	"errors"
	"net/http"

	"github.com/ledg-go/ledg/ceg/labels"
)

// questionGroup is the group of the image on screen, if other images of it are unlabelled.
type questionGroup struct {
	Name string `json:"name"`
	// N is the number of images that a label for the group applies to; Others are the first of
	// them, without the one on screen.
	N      int      `json:"n"`
	Others []string `json:"others"`
}

// maxOthers is how many images of a group are shown beside the one on screen.
const maxOthers = 11

// ofGroup calls f with the image and the unlabelled images of its group: open queries, and
// images neither queried nor of known class.
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
		if status := a.image(st, other).Status; s.isOpen(a, st, other) || !a.blind && status == labels.IsUnqueried && (s.o.Known == nil || !s.o.Known(k)) {
			f(other)
		}
	}
}

// groupOf returns the image's group for a window; nil if no other image of it is unlabelled.
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

// group assigns the class of the image on screen to its group, as one act. Labelled images keep
// their class, except that image.
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
			return nil, nil // the request was repeated after a lost reply
		}
		if rev(now) != a.Rev {
			return nil, errMoved
		}
		s.ofGroup(by, st, id, func(other string) { ids = append(ids, other) })
		each := action{Op: "label", Class: a.Class, Seconds: a.Seconds / float64(len(ids)), PredictionShown: a.PredictionShown}
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
