package page

import (
	"net/http"
	"path"
	"slices"
	"strconv"

	"github.com/ledg-go/ledg/ceg/labels"
)

// listReply is a part of the labelled images, newest first.
type listReply struct {
	Items []listItem `json:"items"`
	// Next is the start of the next part; 0 if there is none.
	Next int64 `json:"next"`
}

type listItem struct {
	ID      string `json:"id"`
	Domain  string `json:"domain"`
	File    string `json:"file"`
	Current string `json:"current"`
}

// maxList is the largest number of entries in a reply.
const maxList = 100

// list serves GET list: the images with state labelled, unsure, skipped or bad, optionally of one
// class.
func (s *Server) list(r *http.Request) (any, error) {
	q, a := r.URL.Query(), who(r)
	n, err := strconv.Atoi(q.Get("n"))
	if err != nil || n < 1 || n > maxList {
		return nil, refuse(http.StatusBadRequest, "n: want 1 to %d", maxList)
	}
	var from int64
	if q.Has("from") {
		if from, err = strconv.ParseInt(q.Get("from"), 10, 64); err != nil || from < 0 {
			return nil, refuse(http.StatusBadRequest, "from: want a number from a reply")
		}
	}
	if err := s.o.Ledger.Refresh(); err != nil {
		return nil, err
	}
	class := q.Get("class")
	if _, ok := s.class[class]; !ok && class != "" {
		return nil, refuse(http.StatusBadRequest, "there is no class %q", class)
	}
	reply := listReply{Items: []listItem{}}
	add := func(im labels.Image) {
		reply.Items = append(reply.Items, listItem{im.ID, s.domainOf(im.ID), text(path.Base(im.ID)), statusText(im)})
	}
	status, known := map[string]labels.Status{"unsure": labels.IsUnsure, "skipped": labels.IsSkipped, "bad": labels.IsBad, "none": labels.IsNone}[q.Get("state")]
	switch {
	case q.Get("state") == "labelled":
		s.o.Ledger.View(func(st *labels.State) {
			if from == 0 || from > st.Last() {
				from = st.Last()
			}
			// An image is listed at the event that gave it its current class.
			for ; from > 0; from-- {
				e, _ := st.Event(from)
				if e.ID == "" {
					continue
				}
				if im := a.image(st, e.ID); im.N == from && im.Status == labels.IsLabelled && (class == "" || im.Class == class) {
					if len(reply.Items) == n {
						reply.Next = from
						return
					}
					add(im)
				}
			}
		})
	case known:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.o.Ledger.View(func(st *labels.State) {
			all := slices.DeleteFunc(a.with(st, status), func(im labels.Image) bool { return class != "" && im.Class != class })
			for ; from < int64(len(all)) && len(reply.Items) < n; from++ {
				add(all[len(all)-1-int(from)])
			}
			if from < int64(len(all)) {
				reply.Next = from
			}
		})
	default:
		return nil, refuse(http.StatusBadRequest, "state: want labelled, none, unsure, skipped or bad")
	}
	return reply, nil
}
