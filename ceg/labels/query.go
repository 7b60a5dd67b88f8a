package labels

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"
)

// Image is the current state of an image.
type Image struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
	Status Status `json:"status"`
	// Class is the label, or empty. By, At and N describe the deciding event, which may be Bad;
	// N is 0 if there is none.
	Class string    `json:"class,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at,omitzero"`
	N     int64     `json:"n,omitempty"`
	// Round is the image's last query round, or NoRound. Query is the number of that query's
	// event, or 0.
	Round int   `json:"round"`
	Query int64 `json:"-"`
	// Turned is the number of the newest event that undid, redid or re-settled something about
	// the image, or 0.
	Turned int64 `json:"-"`
	// QueriedBy names the program of that query.
	QueriedBy string `json:"-"`
	// Later is true for an image without a label that was put off since its last query.
	Later bool `json:"later,omitempty"`
	// QueryInfo is what was known at the last query, or nil.
	QueryInfo *QueryInfo `json:"query_info,omitempty"`
}

// Image returns the state of an image: IsUnqueried without events.
func (s *State) Image(id string) Image {
	k, ok := s.index[id]
	if !ok {
		return Image{ID: id, Round: NoRound}
	}
	return s.show(k)
}

func (s *State) show(k int32) Image {
	im := &s.images[k]
	v := Image{ID: im.id, Domain: s.names.list[im.domain], Status: im.status, Class: s.names.list[im.class], Round: NoRound,
		Later: (im.status == IsOpen || im.status == IsSkipped) && im.putOff()}
	if im.query >= 0 {
		v.Round, v.Query, v.QueryInfo = int(s.records[im.query].round), int64(im.query)+1, s.infos[im.query]
		v.QueriedBy = s.names.list[s.records[im.query].by]
	}
	if im.decided >= 0 {
		r := &s.records[im.decided]
		v.By, v.At, v.N = s.names.list[r.by], time.Unix(0, r.at).UTC(), int64(im.decided)+1
	}
	v.Turned = s.ruled
	for i := im.last; i >= 0; i = s.records[i].before {
		v.Turned = max(v.Turned, int64(s.records[i].turned))
	}
	return v
}

// Images iterates over the images with events, in the order of their first events.
func (s *State) Images() iter.Seq[Image] {
	return func(yield func(Image) bool) {
		for k := range s.images {
			if !yield(s.show(int32(k))) {
				return
			}
		}
	}
}

// OpenImages returns up to limit open images, all if limit is negative: queries in their order,
// then the images that were put off, in the order of putting off.
func (s *State) OpenImages(limit int) []Image {
	var list []Image
	for s.firstOpen < len(s.order) && (s.images[s.order[s.firstOpen]].status != IsOpen || s.later[s.order[s.firstOpen]]) {
		s.firstOpen++
	}
	for i := s.firstOpen; i < len(s.order) && len(list) != limit; i++ {
		if k := s.order[i]; s.images[k].status == IsOpen && !s.later[k] {
			list = append(list, s.show(k))
		}
	}
	if len(s.later) == 0 || len(list) == limit {
		return list
	}
	for _, v := range s.PutOff() {
		if len(list) != limit {
			list = append(list, v)
		}
	}
	return list
}

// PutOff returns the open images that were put off, in the order of putting off.
func (s *State) PutOff() []Image {
	list := slices.SortedFunc(maps.Keys(s.later), func(a, b int32) int { return cmp.Compare(s.images[a].later, s.images[b].later) })
	images := make([]Image, len(list))
	for i, k := range list {
		images[i] = s.show(k)
	}
	return images
}

// ImageFor is Image for blind labelling: status and class are the annotator's own opinion.
// Without one the image is IsSkipped if the annotator skipped it, and otherwise IsOpen if the
// annotator put it off, or if it was queried or labelled by others. It is IsUnqueried if others
// marked it bad or it was replaced. Corrections count as opinions.
func (s *State) ImageFor(by, id string) Image {
	k, ok := s.index[id]
	if !ok {
		return Image{ID: id, Round: NoRound}
	}
	v := s.show(k)
	all := v.Status
	v.Status, v.Class, v.By, v.At, v.N, v.Turned, v.Later = IsUnqueried, "", "", time.Time{}, 0, 0, false
	who, known := s.names.number[by]
	for i := s.images[k].last; known && i >= 0; i = s.records[i].before {
		if r := &s.records[i]; r.by == who {
			v.Turned = max(v.Turned, int64(r.turned))
		}
	}
	for i := s.images[k].last; known && i >= 0; i = s.records[i].before {
		r := &s.records[i]
		switch {
		case r.by != who || r.undone || !kinds[r.kind].acts():
			continue
		case r.is(Skipped):
			if i > s.images[k].query {
				v.Status = IsSkipped
			}
			continue
		case r.is(Later):
			if i > s.images[k].query {
				v.Later = true
				if v.Status == IsUnqueried {
					v.Status = IsOpen
				}
			}
			continue
		case r.is(Bad):
			v.Status = IsBad
		case r.is(None):
			v.Status = IsNone
		case r.is(Unsure):
			v.Status = IsUnsure
		default:
			v.Status = IsLabelled
		}
		v.Class, v.By, v.At, v.N, v.Later = s.names.list[r.class], by, time.Unix(0, r.at).UTC(), int64(i)+1, false
		return v
	}
	if v.Status == IsUnqueried && all != IsUnqueried && all != IsReplaced && all != IsBad {
		v.Status = IsOpen
	}
	return v
}

// With returns the images with a status: open ones in query order, skipped ones in the order of
// skipping, IsDisputed ones by ID, and others in the order of the deciding event. Images without
// either are in the order of their first events.
func (s *State) With(status Status) []Image {
	switch status {
	case IsOpen:
		return s.OpenImages(-1)
	case IsUnsure, IsSkipped, IsBad, IsDisputed, IsNone:
		list := slices.Collect(maps.Keys(s.special[status]))
		slices.SortFunc(list, func(a, b int32) int {
			x, y := &s.images[a], &s.images[b]
			if status == IsSkipped {
				return cmp.Compare(x.skip, y.skip)
			}
			return cmp.Or(cmp.Compare(x.decided, y.decided), cmp.Compare(x.id, y.id))
		})
		images := make([]Image, len(list))
		for i, k := range list {
			images[i] = s.show(k)
		}
		return images
	}
	var list []Image
	for v := range s.Images() {
		if v.Status == status {
			list = append(list, v)
		}
	}
	return list
}

// Queue returns up to limit images to label next: open ones, then disputed ones, then skipped
// ones. All if limit is negative.
func (s *State) Queue(limit int) []Image {
	list := s.OpenImages(limit)
	for _, status := range []Status{IsDisputed, IsSkipped} {
		if limit < 0 || len(list) < limit {
			list = append(list, s.With(status)...)
		}
	}
	if limit >= 0 && len(list) > limit {
		list = list[:limit]
	}
	return list
}

// Label is a labelled image.
type Label struct {
	ID, Domain, Class string
	// Round is the image's query round, or NoRound.
	Round int
	// By is the annotator; Unsure is true if a second look is wanted.
	By     string
	Unsure bool
}

// Labels returns the labelled images in the order of their first events, which for queried
// images is query order.
func (s *State) Labels() []Label {
	var list []Label
	for v := range s.Images() {
		if v.Class != "" {
			list = append(list, Label{v.ID, v.Domain, v.Class, v.Round, v.By, v.Status == IsUnsure})
		}
	}
	return list
}

// Counts are numbers of images by status.
type Counts struct {
	Open      int `json:"open"`
	Labelled  int `json:"labelled"`
	Unsure    int `json:"unsure"`
	Skipped   int `json:"skipped"`
	Replaced  int `json:"replaced"`
	Bad       int `json:"bad"`
	Disputed  int `json:"disputed"`
	None      int `json:"none"`
	WithClass int `json:"with_class"` // labelled ones, and unsure ones with a class
}

// Add adds n images of a status, with or without a class.
func (c *Counts) Add(status Status, class bool, n int) {
	switch status {
	case IsOpen:
		c.Open += n
	case IsLabelled:
		c.Labelled += n
	case IsUnsure:
		c.Unsure += n
	case IsSkipped:
		c.Skipped += n
	case IsReplaced:
		c.Replaced += n
	case IsBad:
		c.Bad += n
	case IsDisputed:
		c.Disputed += n
	case IsNone:
		c.None += n
	}
	if class {
		c.WithClass += n
	}
}

// Count counts the images in total, by domain, and, if labelled, by [domain][class].
func (s *State) Count() (all Counts, domains map[string]Counts, classes map[string]map[string]int) {
	domains, classes = make(map[string]Counts), make(map[string]map[string]int)
	for c, n := range s.cells {
		domain, class := s.names.list[c.domain], s.names.list[c.class]
		all.Add(c.status, class != "", n)
		d := domains[domain]
		d.Add(c.status, class != "", n)
		domains[domain] = d
		if class != "" {
			if classes[domain] == nil {
				classes[domain] = make(map[string]int)
			}
			classes[domain][class] += n
		}
	}
	return all, domains, classes
}

// Annotators returns who has given an opinion or skipped, sorted.
func (s *State) Annotators() []string {
	var list []string
	for by, st := range s.stacks {
		if len(st.done) > 0 {
			list = append(list, s.names.list[by])
		}
	}
	slices.Sort(list)
	return list
}
