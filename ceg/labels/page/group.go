package page

import (
	"github.com/ledg-go/ledg/ceg/labels"
)

// queryGroup is the group of the image on screen, if other images of it are unlabelled.
type queryGroup struct {
	Name string `json:"name"`
	// N is the number of images that a label for the group applies to; Others are the first of
	// them, without the one on screen.
	N      int      `json:"n"`
	Others []string `json:"others"`
}

// maxOthers is how many images of a group are shown beside the one on screen.
const maxOthers = 11

// ofGroup returns the image and the unlabelled images of its group: open queries, and images
// neither queried nor of known class.
func (s *Server) ofGroup(a *annotator, st *labels.State, id string) []string {
	ids := []string{id}
	i, ok := s.o.Data.Index(id)
	if !ok || s.groups == nil {
		return ids
	}
	for _, k := range s.groups[s.o.Data.Groups[i]] {
		other := s.id(int32(k))
		if k == i {
			continue
		}
		if status := a.image(st, other).Status; s.isOpen(a, st, other) || !a.blind && status == labels.IsUnqueried && (s.o.Known == nil || !s.o.Known(k)) {
			ids = append(ids, other)
		}
	}
	return ids
}

// groupOf returns the image's group for a window; nil if no other image of it is unlabelled.
func (s *Server) groupOf(a *annotator, st *labels.State, id string) *queryGroup {
	ids := s.ofGroup(a, st, id)
	if len(ids) < 2 {
		return nil
	}
	i, _ := s.o.Data.Index(id)
	return &queryGroup{Name: text(s.o.Data.GroupNames[s.o.Data.Groups[i]]), N: len(ids), Others: ids[1:min(len(ids), 1+maxOthers)]}
}
