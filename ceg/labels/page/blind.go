package page

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ledg-go/ledg/ceg/labels"
)

// image returns an image with its status for the annotator, who sees no labels of others with
// Options.Blind.
func (a *annotator) image(st *labels.State, id string) labels.Image {
	if a.blind {
		return st.ImageFor(a.name, id)
	}
	return st.Image(id)
}

// images are the images with events as a blind annotator sees them, in the order of first events.
func (a *annotator) images(st *labels.State) iter.Seq[labels.Image] {
	return func(yield func(labels.Image) bool) {
		for v := range st.Images() {
			if !yield(st.ImageFor(a.name, v.ID)) {
				return
			}
		}
	}
}

// with returns the images that have a status for the annotator, open ones that were put off last.
func (a *annotator) with(st *labels.State, status labels.Status) (list []labels.Image) {
	if !a.blind {
		return st.With(status)
	}
	for v := range a.images(st) {
		if v.Status == status {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(x, y labels.Image) int {
		if x.Later != y.Later && status == labels.IsOpen {
			return map[bool]int{true: 1, false: -1}[x.Later]
		}
		return cmp.Compare(x.N, y.N)
	})
	return list
}

// count is labels.State.Count for the annotator, and the number of open images that were put off.
func (a *annotator) count(st *labels.State) (all labels.Counts, domains map[string]labels.Counts, classes map[string]map[string]int, later int) {
	if !a.blind {
		all, domains, classes = st.Count()
		return all, domains, classes, len(st.PutOff())
	}
	domains, classes = make(map[string]labels.Counts), make(map[string]map[string]int)
	for v := range a.images(st) {
		d := domains[v.Domain]
		d.Add(v.Status, v.Class != "", 1)
		domains[v.Domain] = d
		all.Add(v.Status, v.Class != "", 1)
		if v.Class != "" {
			if classes[v.Domain] == nil {
				classes[v.Domain] = make(map[string]int)
			}
			classes[v.Domain][v.Class]++
		}
		if v.Status == labels.IsOpen && v.Later {
			later++
		}
	}
	return all, domains, classes, later
}
