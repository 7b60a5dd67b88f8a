package labels

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"
)

// Image is how an image stands.
type Image struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
	Status Status `json:"status"`
	// Class is the label, empty if there is none. By, At and N are of the event that
	// says so, or that the image is bad; N is 0 if none does.
	Class string    `json:"class,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at,omitzero"`
	N     int64     `json:"n,omitempty"`
	// Round is the round in which the image was asked for last, NoRound if it was
	// not, and Asked the number of the event that did so, 0 if there is none.
	Round int   `json:"round"`
	Asked int64 `json:"-"`
	// Turned is the number of the newest event that undid, redid or settled anew something
	// about it, 0 if there is none.
	Turned int64 `json:"-"`
	// Asking is what was known when it was asked for last; nil for nothing.
	Asking *Asking `json:"asking,omitempty"`
}

// Image returns how the image called id stands: IsUnasked if the ledger has nothing
// about it.
func (s *State) Image(id string) Image {
	k, ok := s.index[id]
	if !ok {
		return Image{ID: id, Round: NoRound}
	}
	return s.show(k)
}

func (s *State) show(k int32) Image {
	im := &s.images[k]
	v := Image{ID: im.id, Domain: s.names.list[im.domain], Status: im.status, Class: s.names.list[im.class], Round: NoRound}
	if im.asked >= 0 {
		v.Round, v.Asked, v.Asking = int(s.records[im.asked].round), int64(im.asked)+1, s.asking[im.asked]
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

// Images goes through the images that the ledger has something about, in the order of
// their first events.
func (s *State) Images() iter.Seq[Image] {
	return func(yield func(Image) bool) {
		for k := range s.images {
			if !yield(s.show(int32(k))) {
				return
			}
		}
	}
}

// OpenImages returns up to limit questions that nobody has answered, in the order in which
// they were asked; all if limit is negative.
func (s *State) OpenImages(limit int) []Image {
	var list []Image
	for s.firstOpen < len(s.order) && s.images[s.order[s.firstOpen]].status != IsOpen {
		s.firstOpen++
	}
	for i := s.firstOpen; i < len(s.order) && len(list) != limit; i++ {
		if k := s.order[i]; s.images[k].status == IsOpen {
			list = append(list, s.show(k))
		}
	}
	return list
}

// ImageFor is Image for an annotator who does not see what others say: the status and
// the class are the annotator's own opinion, and without one the image is IsSkipped if
// the annotator has skipped it, else IsOpen if it was asked for or others say something
// about it, unless they say that it is bad or another was asked instead: then it is
// IsUnasked. Corrections are opinions like others here.
func (s *State) ImageFor(by, id string) Image {
	k, ok := s.index[id]
	if !ok {
		return Image{ID: id, Round: NoRound}
	}
	v := s.show(k)
	all := v.Status
	v.Status, v.Class, v.By, v.At, v.N, v.Turned = IsUnasked, "", "", time.Time{}, 0, 0
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
			if i > s.images[k].asked {
				v.Status = IsSkipped
			}
			continue
		case r.is(Bad):
			v.Status = IsBad
		case r.is(Unsure):
			v.Status = IsUnsure
		default:
			v.Status = IsLabelled
		}
		v.Class, v.By, v.At, v.N = s.names.list[r.class], by, time.Unix(0, r.at).UTC(), int64(i)+1
		return v
	}
	if v.Status == IsUnasked && all != IsUnasked && all != IsReplaced && all != IsBad {
		v.Status = IsOpen
	}
	return v
}

// With returns the images of a status: open ones in the order of their asking,
// skipped ones in that of their skipping, and others in that of what made them so;
// IsDisputed ones by ID. All of a status that is neither of these are in the order of
// their first events.
func (s *State) With(status Status) []Image {
	switch status {
	case IsOpen:
		return s.OpenImages(-1)
	case IsUnsure, IsSkipped, IsBad, IsDisputed:
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

// Queue returns up to limit images that an annotator should see next: the open ones,
// then those that differ, then the skipped ones. All if limit is negative.
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

// Label is an image with its class.
type Label struct {
	ID, Domain, Class string
	// Round is the one in which it was asked for, NoRound if it was not.
	Round int
	// By is who gave it, Unsure whether it should be looked at again.
	By     string
	Unsure bool
}

// Labels returns the images that have a class, in the order of their first events,
// which for images that were asked for is that of their asking.
func (s *State) Labels() []Label {
	var list []Label
	for v := range s.Images() {
		if v.Class != "" {
			list = append(list, Label{v.ID, v.Domain, v.Class, v.Round, v.By, v.Status == IsUnsure})
		}
	}
	return list
}

// Counts are numbers of images.
type Counts struct {
	Open      int `json:"open"`
	Labelled  int `json:"labelled"`
	Unsure    int `json:"unsure"`
	Skipped   int `json:"skipped"`
	Replaced  int `json:"replaced"`
	Bad       int `json:"bad"`
	Disputed  int `json:"disputed"`
	WithClass int `json:"with_class"` // labelled ones, and unsure ones that have a class
}

// Add counts n more images of a status, which have a class or not.
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
	}
	if class {
		c.WithClass += n
	}
}

// Count returns the numbers of all images, of those of every domain, and of those of
// every domain that have a class, by [domain][class].
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

// CountRound returns the numbers of images that were asked for last in a round. It
// looks at all that were asked for.
func (s *State) CountRound(round int) (c Counts) {
	for _, k := range s.order {
		if im := &s.images[k]; int(s.records[im.asked].round) == round {
			c.Add(im.status, im.class != 0, 1)
		}
	}
	return c
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
