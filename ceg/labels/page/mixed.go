package page

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/labels"
)

// mixed lists images whose label differs from the most frequent one of their group (ties go to the
// earlier label) and is not settled, each beside an image with that label. It needs no features
// and is fast.
func (s *Server) mixed(reply *reviewReply) {
	s.o.Ledger.View(func(st *labels.State) {
		for _, group := range s.groups {
			s.mixedIn(st, group, reply)
		}
	})
}

// mixedIn lists such images of one group, up to the limit of the list.
func (s *Server) mixedIn(st *labels.State, group []int, reply *reviewReply) {
	counts := make(map[string]int)
	var images []int
	for _, i := range group {
		if im := st.Image(s.o.Data.Examples[i].ID); im.Status == labels.IsLabelled {
			counts[im.Class]++
			images = append(images, i)
		}
	}
	if len(counts) < 2 {
		return
	}
	slices.SortStableFunc(images, func(a, b int) int {
		x, y := st.Image(s.o.Data.Examples[a].ID), st.Image(s.o.Data.Examples[b].ID)
		if d := counts[y.Class] - counts[x.Class]; d != 0 {
			return d
		}
		return int(x.N - y.N)
	})
	most, _ := s.reviewImage(st, images[0])
	for _, i := range images[1:] {
		item, im := s.reviewImage(st, i)
		e, _ := st.Event(im.N)
		if im.Class != most.Class && e.Kind != labels.Corrected && len(reply.Items) < maxItems {
			reply.Items = append(reply.Items, reviewItem{reviewImage: item, First: &most})
		}
	}
}
