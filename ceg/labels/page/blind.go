package page

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ledg-go/ledg/ceg/labels"
)

// annotatorView is the state of the images for one annotator, who does not see the labels of
// others. It is updated event by event, since labels.State has no counts for one annotator. The
// server's mutex guards it.
type annotatorView struct {
	by        string
	seen      int64          // number of the last event included
	order     []labels.Image // images with events, in the order of their first events
	place     map[string]int // index in order by ID
	firstOpen int            // no image before this index of order is open
	later     map[int]bool   // indices in order of open images that were put off
	cells     map[cell]int
}

// cell is a key of the counts of images.
type cell struct {
	domain, class string
	status        labels.Status
}

func newAnnotatorView(by string) *annotatorView {
	return &annotatorView{by: by, place: make(map[string]int), later: make(map[int]bool), cells: make(map[cell]int)}
}

// follow includes the events since the last call.
func (a *annotatorView) follow(st *labels.State) {
	if a.seen > st.Last() {
		*a = *newAnnotatorView(a.by) // the ledger file was replaced
	}
	for a.seen < st.Last() {
		a.seen++
		e, _ := st.Event(a.seen)
		if e.ID != "" {
			a.update(st, e.ID)
		}
		for _, turned := range st.Act(e.Of) {
			a.update(st, turned.ID)
		}
	}
}

func (a *annotatorView) update(st *labels.State, id string) {
	k, ok := a.place[id]
	if !ok {
		k = len(a.order)
		a.place[id] = k
		a.order = append(a.order, labels.Image{})
	} else {
		a.cells[cellOf(a.order[k])]--
	}
	v := st.ImageFor(a.by, id)
	a.order[k] = v
	a.cells[cellOf(v)]++
	delete(a.later, k)
	switch {
	case v.Status != labels.IsOpen:
	case v.Later:
		a.later[k] = true
	default:
		a.firstOpen = min(a.firstOpen, k)
	}
}

func cellOf(v labels.Image) cell { return cell{v.Domain, v.Class, v.Status} }

// eachOpen calls f with the images that are open for the annotator, until it returns false; those
// that were put off come last.
func (a *annotatorView) eachOpen(st *labels.State, f func(id string) bool) {
	a.follow(st)
	for a.firstOpen < len(a.order) && (a.order[a.firstOpen].Status != labels.IsOpen || a.later[a.firstOpen]) {
		a.firstOpen++
	}
	for k := a.firstOpen; k < len(a.order); k++ {
		if v := a.order[k]; v.Status == labels.IsOpen && !a.later[k] && !f(v.ID) {
			return
		}
	}
	for _, k := range slices.Sorted(maps.Keys(a.later)) {
		if !f(a.order[k].ID) {
			return
		}
	}
}

// count is labels.State.Count for the annotator.
func (a *annotatorView) count(st *labels.State) (all labels.Counts, domains map[string]labels.Counts, classes map[string]map[string]int) {
	a.follow(st)
	domains, classes = make(map[string]labels.Counts), make(map[string]map[string]int)
	for c, n := range a.cells {
		d := domains[c.domain]
		d.Add(c.status, c.class != "", n)
		domains[c.domain] = d
		all.Add(c.status, c.class != "", n)
		if c.class != "" {
			if classes[c.domain] == nil {
				classes[c.domain] = make(map[string]int)
			}
			classes[c.domain][c.class] += n
		}
	}
	return all, domains, classes
}

// image returns an image with its status for the annotator.
func (a *annotator) image(st *labels.State, id string) labels.Image {
	if a.own != nil {
		return st.ImageFor(a.name, id)
	}
	return st.Image(id)
}

// with returns the images that have a status for the annotator. Callers hold the server's mutex.
func (a *annotator) with(st *labels.State, status labels.Status) []labels.Image {
	if a.own == nil {
		return st.With(status)
	}
	a.own.follow(st)
	list := slices.DeleteFunc(slices.Clone(a.own.order), func(v labels.Image) bool { return v.Status != status })
	slices.SortStableFunc(list, func(x, y labels.Image) int { return cmp.Compare(x.N, y.N) })
	return list
}
