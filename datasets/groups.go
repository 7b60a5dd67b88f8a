package datasets

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// grouper says which images belong together, by a rule over IDs or else by a list of labels: named
// has their groups by ID.
type grouper struct {
	rule  *regexp.Regexp
	named map[string]string
}

// newGrouper returns nil without groups.
func newGrouper(rule string, labels []Label) (*grouper, error) {
	g := &grouper{}
	if rule != "" {
		var err error
		if g.rule, err = ParseGroup(rule); err != nil {
			return nil, fmt.Errorf("group rule: %w", err)
		}
	}
	for _, l := range labels {
		if l.Group == "" || g.rule != nil {
			continue
		}
		if g.named == nil {
			g.named = make(map[string]string)
		}
		id := SameName(rgb.FilePath(l.ID)) // an image is not divided
		if other, ok := g.named[id]; ok && other != l.Group {
			return nil, l.errorf("%s is of group %q here, and of %q at another place", l.ID, l.Group, other)
		}
		g.named[id] = l.Group
	}
	if g.rule == nil && g.named == nil {
		return nil, nil
	}
	return g, nil
}

// ParseGroup compiles a rule that maps IDs to groups: a regular expression whose first capture
// group, or whole match without one, is the group's name.
func ParseGroup(rule string) (*regexp.Regexp, error) {
	r, err := regexp.Compile(rule)
	if err != nil {
		return nil, fmt.Errorf("%q is no regular expression: %w", rule, err)
	}
	return r, nil
}

// orBoxes returns g, and for nil where items are boxes, one by which an image is the group of its boxes.
func (g *grouper) orBoxes(boxes bool) *grouper {
	if g == nil && boxes {
		return &grouper{}
	}
	return g
}

// of returns the name of an item's group, empty if it is a group of its own. A box without one is of
// its image.
func (g *grouper) of(id string) string {
	if g.rule != nil {
		return GroupName(g.rule, id)
	}
	path := rgb.FilePath(id)
	if name := g.named[SameName(path)]; name != "" || path == id {
		return name
	}
	return path
}

// GroupName returns the group of an ID by a rule of [ParseGroup], empty for none. The rule is over paths; the
// group of a box without one is its image.
func GroupName(rule *regexp.Regexp, id string) string {
	path := rgb.FilePath(id)
	m := rule.FindStringSubmatch(path)
	switch {
	case m != nil && m[min(1, len(m)-1)] != "":
		return m[min(1, len(m)-1)]
	case path != id:
		return path
	}
	return ""
}

// GroupBy sets the groups of a new data set by a rule or else by labels; an empty rule and no labels set none.
func (d *Dataset) GroupBy(rule string, labels ...Label) error {
	g, err := newGrouper(rule, labels)
	if err != nil {
		return err
	}
	return d.setGroups(g)
}

// setGroups fills in Groups, GroupNames and Ungrouped. It is an error if nothing belongs
// together, or if a split divides a group.
func (d *Dataset) setGroups(g *grouper) error {
	if g = g.orBoxes(d.HasBoxes()); g == nil {
		return nil
	}
	numbers, first := make(map[string]int), []int(nil)
	d.Groups, d.GroupNames, d.Ungrouped = make([]int, d.Len()), nil, 0
	for i, e := range d.Examples {
		name := g.of(e.ID)
		k, ok := numbers[name]
		if name == "" || !ok {
			k = len(d.GroupNames)
			d.GroupNames, first = append(d.GroupNames, name), append(first, i)
			if name == "" {
				d.Ungrouped++
			} else {
				numbers[name] = k
			}
		}
		d.Groups[i] = k
		if other := d.Examples[first[k]]; other.Split != e.Split {
			return fmt.Errorf("data set %s: group %s is divided: %s is %v and %s is %v, and the split is specified", d.Name, name, other.ID, other.Split, e.ID, e.Split)
		}
	}
	if len(numbers) == 0 && g.rule == nil {
		d.Groups, d.GroupNames, d.Ungrouped = nil, nil, 0
	} else if len(numbers) == 0 {
		return fmt.Errorf("data set %s: group rule %q matches none of the %s, such as %s", d.Name, g.rule, plural(d.Len(), "image"), d.Examples[0].ID)
	}
	return nil
}

// isBox reports whether an example is a box.
func isBox(e Example) bool { return rgb.FilePath(e.ID) != e.ID }

// HasBoxes reports whether the examples are boxes in images.
func (d *Dataset) HasBoxes() bool { return slices.ContainsFunc(d.Examples, isBox) }

// GroupMembers returns the examples of every group, by index; nil without groups.
func (d *Dataset) GroupMembers() [][]int {
	if d.Groups == nil {
		return nil
	}
	members := make([][]int, len(d.GroupNames))
	for i, k := range d.Groups {
		members[k] = append(members[k], i)
	}
	return members
}

// MixedGroup is a group with images of several classes.
type MixedGroup struct {
	Name string `json:"name"`
	// Classes counts its images by class.
	Classes map[string]int `json:"classes"`
}

// String returns the name with the classes, most frequent first.
func (m MixedGroup) String() string {
	names := slices.SortedFunc(maps.Keys(m.Classes), func(a, b string) int {
		return cmp.Or(m.Classes[b]-m.Classes[a], strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, m.Classes[name])
	}
	return printable(m.Name) + ": " + strings.Join(names, ", ")
}

// mixedGroups returns the groups with images of several known classes, by index. Their labels
// are wrong, or the groups too large.
func (d *Dataset) mixedGroups(t Truth) []MixedGroup {
	list := []MixedGroup{}
	for k, members := range d.GroupMembers() {
		classes := map[string]int{}
		for _, i := range members {
			if t.Knows(i) {
				classes[d.Classes[t.Class(i)]]++
			}
		}
		if len(classes) > 1 {
			list = append(list, MixedGroup{d.GroupNames[k], classes})
		}
	}
	return list
}

// GroupNotes returns sentences with the number of groups, the ungrouped images, and groups with
// conflicting labels; nothing without groups.
func (d *Dataset) GroupNotes(t Truth) (notes []string) {
	if d.Groups == nil {
		return nil
	}
	notes = append(notes, fmt.Sprintf("%s of %s; no split divides a group", plural(d.Len(), "image"), plural(len(d.GroupNames), "group")))
	if d.Ungrouped > 0 {
		notes[0] += fmt.Sprintf("; %s without a group, and each is one of its own", plural(d.Ungrouped, "image"))
	}
	if mixed := d.mixedGroups(t); len(mixed) > 0 {
		notes = append(notes, fmt.Sprintf("labels of %s do not agree, as of %s; ledg data check lists them", plural(len(mixed), "group"), mixed[0]))
	}
	return notes
}

// splitByGroup assigns every entry to Train or Val, all of a group to one of them: groups are
// visited in an order drawn from the seed and their names alone. A group becomes Val if that
// brings the number of Val images closer, or equally close, to a tenth for every class in a
// domain, and leaves a training image of each. So of groups of one size a class needs five. A group with an image of unknown class is
// Train, since unlabelled images are trained on, too.
func splitByGroup(entries []entry, seedValue uint64, g *grouper) {
	type cell [2]int // domain, class
	type unit struct {
		key     string
		order   uint64
		members []*entry
		unknown bool
	}
	units, missing := make(map[string]*unit), make(map[cell]int) // tenths of Val images that are still missing
	train := make(map[cell]int)                                  // ten times the Train images
	for i := range entries {
		e := &entries[i]
		e.Split = Train
		key := "image " + e.ID
		if name := g.of(e.ID); name != "" {
			key = "group " + name
		}
		u := units[key]
		if u == nil {
			u = &unit{key: key, order: seed.New(seedValue, "train/val split of "+key).Uint64()}
			units[key] = u
		}
		u.members = append(u.members, e)
		u.unknown = u.unknown || e.class == Unknown
		missing[cell{e.Domain, e.class}]++
		train[cell{e.Domain, e.class}] += 10
	}
	drawn := slices.SortedFunc(maps.Values(units), func(a, b *unit) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.key, b.key))
	})
	for _, u := range drawn {
		if u.unknown {
			continue
		}
		own, farther, last := make(map[cell]int), 0, false
		for _, e := range u.members {
			own[cell{e.Domain, e.class}] += 10
		}
		for c, n := range own {
			farther += max(missing[c]-n, n-missing[c]) - max(missing[c], -missing[c])
			last = last || n == train[c]
		}
		if farther > 0 || last {
			continue
		}
		for _, e := range u.members {
			e.Split = Val
			missing[cell{e.Domain, e.class}] -= 10
			train[cell{e.Domain, e.class}] -= 10
		}
	}
}

// errorf returns an error with the label's position.
func (l Label) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if l.Where != "" {
		err = fmt.Errorf("%s: %w", l.Where, err)
	}
	return err
}
