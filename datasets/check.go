package datasets

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Report is the result of Check. Empty lists are not nil.
type Report struct {
	Name    string   `json:"name"`
	Domains []string `json:"domains"`
	Classes []string `json:"classes"`
	// Dim is the length of feature vectors, 0 for images.
	Dim int `json:"dim,omitempty"`
	// Counts [domain][class] counts the labelled examples.
	Counts [][]Count `json:"counts"`
	// Unlabelled [domain] counts the other examples.
	Unlabelled []int `json:"unlabelled"`
	// Unreadable lists the examples that cannot be decoded, sorted by ID. Prepare fails on them.
	Unreadable []Skipped `json:"unreadable"`
	// Rotated is the number of photos with an EXIF orientation; Decoding determines whether it
	// is applied.
	Rotated  int    `json:"rotated"`
	Decoding string `json:"decoding,omitempty"`
	// Pictures counts what decoding revealed, by domain; empty for pixels that are no files.
	Pictures []PictureCount `json:"pictures,omitempty"`
	// Skipped lists the files that are not examples.
	Skipped []Skipped `json:"skipped"`
	// Identical lists the groups of identical images.
	Identical []Identical `json:"identical"`
	// Missing lists the classes without an example in a domain; unlabelled examples of the
	// domain may have them.
	Missing []Cell `json:"missing"`
	// Overruled lists the images whose label differs from their class folder.
	Overruled []Skipped `json:"overruled"`
	// Differences lists differences from the published data set.
	Differences []string `json:"differences"`
	// Groups is nil without groups.
	Groups *GroupReport `json:"groups,omitempty"`
}

// GroupReport counts groups; a group counts in every class and domain of its images.
type GroupReport struct {
	// All is the number of groups; Ungrouped of these are images without a group.
	All       int `json:"all"`
	Ungrouped int `json:"ungrouped"`
	// Counts counts groups by [domain][class], Unlabelled by domain those with unlabelled
	// images, Domains all by domain, and Classes all by class.
	Counts     [][]int `json:"counts"`
	Unlabelled []int   `json:"unlabelled"`
	Domains    []int   `json:"domains"`
	Classes    []int   `json:"classes"`
	// Mixed lists groups with images of several classes, Crossing names of those with images of
	// several domains.
	Mixed    []MixedGroup `json:"mixed"`
	Crossing []string     `json:"crossing"`
}

func countGroups(d *Dataset, t Truth) *GroupReport {
	if d.Groups == nil {
		return nil
	}
	r := &GroupReport{All: len(d.GroupNames), Ungrouped: d.Ungrouped, Counts: make([][]int, len(d.Domains)), Unlabelled: make([]int, len(d.Domains)),
		Domains: make([]int, len(d.Domains)), Classes: make([]int, len(d.Classes)), Mixed: d.mixedGroups(t), Crossing: []string{}}
	for k := range r.Counts {
		r.Counts[k] = make([]int, len(d.Classes))
	}
	for g, members := range d.GroupMembers() {
		cells, domains, classes := map[[2]int]bool{}, map[int]bool{}, map[int]bool{}
		for _, i := range members {
			k, c := d.Examples[i].Domain, t.Class(i)
			cells[[2]int{k, c}], domains[k], classes[c] = true, true, true
		}
		for cell := range cells {
			if cell[1] == Unknown {
				r.Unlabelled[cell[0]]++
			} else {
				r.Counts[cell[0]][cell[1]]++
			}
		}
		for k := range domains {
			r.Domains[k]++
		}
		for c := range classes {
			if c != Unknown {
				r.Classes[c]++
			}
		}
		if len(domains) > 1 {
			r.Crossing = append(r.Crossing, d.GroupNames[g])
		}
	}
	return r
}

// Identical is a set of examples with the same bytes: of their files, or of their pixels if they
// are generated.
type Identical struct {
	// IDs are sorted.
	IDs []string `json:"ids"`
	// CrossDomain is true if the examples are of several domains, so that target images may leak
	// into training.
	CrossDomain bool `json:"cross_domain"`
	// CrossClass is true if they are of several classes, so that some labels are wrong.
	CrossClass bool `json:"cross_class"`
}

// Cell is a class in a domain.
type Cell struct {
	Domain string `json:"domain"`
	Class  string `json:"class"`
}

// Check decodes every image of d, or reads every feature vector, and reports counts, unreadable
// and identical examples, classes missing in a domain, and differences from the published
// counts. Its only error is ctx's. progress, if not nil, is called after every image, by
// one goroutine at a time.
func Check(ctx context.Context, d *Dataset, t Truth, progress func(done, total int)) (*Report, error) {
	if t.Len() != d.Len() {
		return nil, fmt.Errorf("check %s: %d classes for %d examples", d.Name, t.Len(), d.Len())
	}
	r := &Report{
		Name:        d.Name,
		Domains:     slices.Clone(d.Domains),
		Classes:     slices.Clone(d.Classes),
		Counts:      countCells(d, t),
		Skipped:     append([]Skipped{}, d.Skipped...),
		Missing:     []Cell{},
		Unlabelled:  make([]int, len(d.Domains)),
		Overruled:   append([]Skipped{}, d.Overruled...),
		Differences: append([]string{}, d.Differences...),
		Groups:      countGroups(d, t),
	}
	for i, e := range d.Examples {
		if !t.Knows(i) {
			r.Unlabelled[e.Domain]++
		}
	}
	for k, domain := range d.Domains {
		if r.Unlabelled[k] > 0 {
			continue
		}
		for c, class := range d.Classes {
			if r.Counts[k][c] == (Count{}) {
				r.Missing = append(r.Missing, Cell{Domain: domain, Class: class})
			}
		}
	}
	if f, ok := d.Features(); ok {
		r.Dim, r.Identical = f.Dim, []Identical{}
		return r, f.checkAll(ctx, r)
	}
	_, isGenerated := d.source.(generated)
	sums := make([]digest, d.Len())
	var bad unreadable
	var rotated atomic.Int64
	files, _ := d.source.(*fileSource)
	if files != nil {
		r.Decoding = files.decoding.Word()
	}
	err := each(ctx, d.Len(), progress, func(i int) error {
		m, sum, err := d.source.read(ctx, i, 0)
		if files != nil && err == nil {
			if b, err := files.content(i); err == nil && rgb.Orientation(b) > 1 {
				rotated.Add(1)
			}
		}
		if err != nil {
			bad.add(d.Examples[i].ID, err)
		} else if isGenerated {
			sum = pixelDigest(m)
		}
		sums[i] = sum
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", d.Name, err)
	}
	r.Rotated, r.Pictures = int(rotated.Load()), d.Pictures()
	sortSkipped(bad.files)
	r.Unreadable = append([]Skipped{}, bad.files...)
	r.Identical = identical(d, t, sums)
	return r, nil
}

// pixelDigest is equal for images of equal pixels.
func pixelDigest(m *rgb.Image) digest {
	h := registers.SHA256()
	fmt.Fprintf(h, "%d %d\n", m.Width, m.Height)
	h.Write(m.Pix)
	return digest(h.Sum(nil))
}

// identical groups examples by digest, in the order of each group's first
// example. The zero digest, of files that could not be read at all, is no group.
func identical(d *Dataset, t Truth, sums []digest) []Identical {
	members := make(map[digest][]int)
	for i, s := range sums {
		if s != (digest{}) {
			members[s] = append(members[s], i)
		}
	}
	groups := []Identical{}
	for i, s := range sums {
		m := members[s]
		if len(m) < 2 || m[0] != i {
			continue
		}
		var g Identical
		class := Unknown // of the last one that has one
		for _, j := range m {
			g.IDs = append(g.IDs, d.Examples[j].ID)
			g.CrossDomain = g.CrossDomain || d.Examples[j].Domain != d.Examples[i].Domain
			if t.Knows(j) {
				g.CrossClass = g.CrossClass || class != Unknown && t.Class(j) != class
				class = t.Class(j)
			}
		}
		slices.Sort(g.IDs)
		groups = append(groups, g)
	}
	return groups
}

// checkAll reads all vectors of all views.
func (f *Features) checkAll(ctx context.Context, r *Report) error {
	v, err := f.OpenFew(ctx, "")
	if err != nil {
		return fmt.Errorf("check %s: %w", r.Name, err)
	}
	r.Unreadable = []Skipped{}
	x, scratch := make([]float32, f.Dim), []byte(nil)
	for i, e := range f.examples {
		for view := range f.Views {
			if err := v.Read(i, view, x, &scratch); err != nil {
				r.Unreadable = append(r.Unreadable, Skipped{e.ID, err.Error()})
				break
			}
		}
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("check %s: %w", r.Name, err)
		}
	}
	return nil
}
