package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/ledg-go/ledg/ceg/labels"
)

// action is the body of POST act.
type action struct {
	Client string `json:"client"`
	// Op is label, group, confirm, none, skip, unsure, bad, page, undo, redo or again. confirm
	// settles the class that an image has; group labels all of its group.
	Op string `json:"op"`
	// ID, Rev and Class describe one image; Rev is the state that the page showed. Class is used
	// by label, group and confirm only.
	ID    string `json:"id"`
	Rev   string `json:"rev"`
	Class string `json:"class"`
	// Seconds is how long it was on screen, PredictionShown whether the model's prediction was
	// shown.
	Seconds         float64 `json:"seconds"`
	PredictionShown bool    `json:"prediction_shown"`
	// Items are the images of a page; one with neither class nor none is set aside.
	Items []item `json:"items"`
	// State is the status of the images that again shows: skipped or unsure.
	State string `json:"state"`
}

// item is an image in a page of thumbnails; None says that it shows none of the classes.
type item struct {
	ID    string `json:"id"`
	Rev   string `json:"rev"`
	Class string `json:"class"`
	None  bool   `json:"none"`
}

// actReply is the reply to POST act.
type actReply struct {
	View view `json:"view"`
	// Notice is a message for the user; empty on success.
	Notice string `json:"notice,omitempty"`
}

// conflict is the reply to an act that was refused because the image has changed since the page
// showed it.
type conflict struct{ reply actReply }

// maxItems is the maximum number of images in a page of thumbnails.
const maxItems = 200

// body decodes the JSON of a request.
func body(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return refuse(http.StatusBadRequest, "the request is not understood: %v", labels.Undecoded(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return refuse(http.StatusBadRequest, "there is something behind the request")
	}
	return nil
}

// act serves POST act.
func (s *Server) act(r *http.Request) (any, error) {
	var a action
	if err := body(r, &a); err != nil {
		return nil, err
	}
	if _, err := clientName(a.Client); err != nil {
		return nil, err
	}
	if !(a.Seconds >= 0) {
		return nil, refuse(http.StatusBadRequest, "seconds are %v", a.Seconds)
	}
	a.Seconds = min(a.Seconds, 24*3600)
	switch a.Op {
	case "label", "group", "confirm", "none", "skip", "unsure", "bad":
		return s.one(who(r), a)
	case "page":
		return s.page(who(r), a)
	case "undo", "redo":
		return s.turn(who(r), a)
	case "again":
		return s.again(who(r), a)
	}
	return nil, refuse(http.StatusBadRequest, "there is no op %q", a.Op)
}

// event returns the event of an action on an image in the given state; ok is false if there is
// nothing to write.
func (s *Server) event(by *annotator, a action, id string, im labels.Image) (e labels.Event, ok bool) {
	e = labels.Event{ID: id, By: by.name, Tool: s.o.Tool, Seconds: a.Seconds}
	if a.PredictionShown {
		e.Tool += ", prediction shown"
	}
	if a.Op == "group" {
		e.Tool += ", group"
	}
	switch a.Op {
	case "label", "group":
		e.Kind, e.Class = labels.Labelled, a.Class
		switch im.Status {
		case labels.IsLabelled, labels.IsBad, labels.IsNone, labels.IsDisputed:
			if !s.o.Blind {
				e.Kind = labels.Corrected // a different class for a labelled image on screen is a correction
			}
		}
		return e, im.Status != labels.IsLabelled || im.Class != a.Class
	case "confirm":
		e.Kind, e.Class = labels.Corrected, a.Class
		return e, im.Status == labels.IsLabelled && im.Class == a.Class
	case "none":
		e.Kind = labels.None
		return e, im.Status != labels.IsNone
	case "bad":
		e.Kind = labels.Bad
		return e, im.Status != labels.IsBad
	case "unsure":
		e.Kind, e.Class = labels.Unsure, im.Class
		return e, im.Status != labels.IsUnsure
	}
	if e.Kind = labels.Later; im.Later { // for the second time
		e.Kind = labels.Skipped
	}
	return e, im.Status == labels.IsOpen || im.Status == labels.IsUnqueried
}

// errMoved is the error of an image whose state has changed since the page showed it.
var errMoved = errors.New("somebody has labelled it meanwhile")

// one writes the label of one image, or of its group.
func (s *Server) one(by *annotator, a action) (any, error) {
	id, err := s.known(a.ID)
	if err != nil {
		return nil, err
	}
	_, ok := s.class[a.Class]
	switch hasClass := a.Op == "label" || a.Op == "group" || a.Op == "confirm"; {
	case a.Op == "confirm" && s.o.Blind:
		return nil, refuse(http.StatusBadRequest, "blind labels settle nothing")
	case a.Op == "none" && s.noneIsClass():
		return nil, refuse(http.StatusBadRequest, "%q is a class here", labels.None)
	case hasClass && !ok:
		return nil, refuse(http.StatusBadRequest, "there is no class %q", a.Class)
	case !hasClass && a.Class != "":
		return nil, refuse(http.StatusBadRequest, "%s has no class", a.Op)
	}
	var now labels.Image
	var ids []string // the image, and with group the others that get its class
	_, err = s.o.Ledger.Update(func(st *labels.State) (events []labels.Event, err error) {
		now, ids = by.image(st, id), []string{id}
		e, change := s.event(by, a, id, now)
		switch {
		case !change && (a.Op != "label" && a.Op != "group" || now.By == by.name):
			return nil, nil // repeated after a lost reply, or unchanged
		case rev(now) != a.Rev && a.Op == "skip" && now.Later:
			return nil, nil // repeated after a lost reply
		case rev(now) != a.Rev:
			return nil, errMoved
		case !change:
			e.Kind = labels.Labelled // agrees with somebody else
		}
		if a.Op == "group" {
			ids = s.ofGroup(by, st, id)
		}
		for i, other := range ids {
			if i > 0 {
				e, _ = s.event(by, a, other, by.image(st, other))
			}
			e.Seconds = a.Seconds / float64(len(ids))
			events = append(events, e)
		}
		return events, nil
	})
	if err == nil || errors.Is(err, errMoved) {
		for _, id := range ids {
			s.leaveBehind(by, a.Client, id, a.Op == "skip" && now.Status == labels.IsDisputed)
		}
	}
	switch {
	case errors.Is(err, errMoved):
		return s.movedReply(by, a.Client, now), nil
	case err != nil:
		return nil, err
	}
	return actReply{View: s.view(by, a.Client)}, nil
}

// movedReply returns the reply to a refused action, with the image's current state.
func (s *Server) movedReply(by *annotator, client string, now labels.Image) conflict {
	what := cmp.Or(statusText(now), "taken back")
	return conflict{actReply{s.view(by, client), fmt.Sprintf("Not saved: that image was labelled in another window meanwhile (%s).", text(what))}}
}

// leaveBehind removes an image from a window's queue. An open image that was passed over is not
// shown in that window again.
func (s *Server) leaveBehind(by *annotator, name, id string, passed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, key := s.client(by, name)
	s.free(by, id, key)
	c.queries = slices.DeleteFunc(c.queries, func(q string) bool { return q == id }) // put off, it is the last one now
	c.pinned = slices.DeleteFunc(c.pinned, func(p pin) bool { return p.id == id })
	if passed {
		c.passed[id] = true
	}
}

// page writes the labels of many images as one act.
func (s *Server) page(by *annotator, a action) (any, error) {
	if len(a.Items) == 0 || len(a.Items) > maxItems {
		return nil, refuse(http.StatusBadRequest, "a page has %d images, want 1 to %d", len(a.Items), maxItems)
	}
	ids := make(map[string]item)
	var order, aside []string
	for _, it := range a.Items {
		id, err := s.known(it.ID)
		if err != nil {
			return nil, err
		}
		if _, twice := ids[id]; twice {
			return nil, refuse(http.StatusBadRequest, "an image is there twice")
		}
		if _, ok := s.class[it.Class]; !ok && it.Class != "" {
			return nil, refuse(http.StatusBadRequest, "there is no class %q", it.Class)
		}
		switch {
		case it.None && it.Class != "":
			return nil, refuse(http.StatusBadRequest, "none has no class")
		case it.None && s.noneIsClass():
			return nil, refuse(http.StatusBadRequest, "%q is a class here", labels.None)
		}
		ids[id] = it
		if it.Class == "" && !it.None {
			aside = append(aside, id)
		} else {
			order = append(order, id)
		}
	}
	moved := 0
	_, err := s.o.Ledger.Update(func(st *labels.State) ([]labels.Event, error) {
		moved = 0
		var events []labels.Event
		for _, id := range order {
			im := by.image(st, id)
			one := action{Op: "label", Class: ids[id].Class, Seconds: a.Seconds / float64(len(a.Items))}
			if ids[id].None {
				one.Op = "none"
			}
			e, change := s.event(by, one, id, im)
			e.Tool = s.o.Tool + ", many"
			switch {
			case !change:
			case rev(im) != ids[id].Rev:
				moved++
			default:
				events = append(events, e)
			}
		}
		return events, nil
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	for _, id := range aside {
		s.aside[by.lease(id)] = true
	}
	s.mu.Unlock()
	reply := actReply{View: s.view(by, a.Client)}
	if moved > 0 {
		reply.Notice = fmt.Sprintf("%d of these were labelled in another window meanwhile and are left as they are.", moved)
	}
	return reply, nil
}

// turn undoes or redoes the annotator's newest act.
func (s *Server) turn(by *annotator, a action) (any, error) {
	turn := s.o.Ledger.Undo
	if a.Op == "redo" {
		turn = s.o.Ledger.Redo
	}
	events, err := turn(by.name, s.o.Tool)
	switch {
	case errors.Is(err, labels.ErrNothingToUndo), errors.Is(err, labels.ErrNothingToRedo):
		return actReply{s.view(by, a.Client), "There is nothing to " + a.Op + "."}, nil
	case err != nil:
		return nil, err
	}
	if len(events) > 1 {
		done := "undone"
		if a.Op == "redo" {
			done = "redone"
		}
		return actReply{s.view(by, a.Client), fmt.Sprintf("%d labels are %s.", len(events), done)}, nil
	}
	id := events[0].ID
	if a.Op == "redo" {
		s.leaveBehind(by, a.Client, id, false)
		return actReply{View: s.view(by, a.Client)}, nil
	}
	return actReply{View: s.view(by, a.Client, id)}, nil
}

// again puts skipped or unsure images at the front of a window's queue.
func (s *Server) again(by *annotator, a action) (any, error) {
	status, ok := map[string]labels.Status{"skipped": labels.IsSkipped, "unsure": labels.IsUnsure}[a.State]
	if !ok {
		return nil, refuse(http.StatusBadRequest, "there is no state %q to go through again", a.State)
	}
	if err := s.o.Ledger.Refresh(); err != nil {
		return nil, err
	}
	var ids []string
	s.mu.Lock()
	s.o.Ledger.View(func(st *labels.State) {
		for _, im := range by.with(st, status) {
			if _, ok := s.o.Data.Index(im.ID); ok {
				ids = append(ids, im.ID)
			}
		}
	})
	s.mu.Unlock()
	slices.Reverse(ids)
	return actReply{View: s.view(by, a.Client, ids...)}, nil
}
