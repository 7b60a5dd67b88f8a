package datasets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// columnOf returns what a column of a table, of the name what, says of images, "" for nothing. by is one of its
// places, empty if it says nothing at all.
func columnOf(ids []string, labels []Label, what string, of func(Label) string) (values []string, by string, err error) {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[SameName(id)] = i
	}
	values, where := make([]string, len(ids)), make(map[int]string)
	for _, l := range labels {
		i, ok := at[SameName(l.ID)]
		value := SameName(of(l))
		if value == "" || !ok {
			continue
		}
		if strings.ContainsFunc(value, unprintable) {
			return nil, "", l.errorf("%s %q has a newline or another character that does not print in its name", what, value)
		}
		if values[i] != "" && values[i] != value {
			return nil, "", l.errorf("%s is of %s %q here, but of %q at %s", ids[i], what, value, values[i], where[i])
		}
		values[i], where[i], by = value, l.Where, cmp.Or(l.Where, "the labels")
	}
	return values, by, nil
}

// resite returns the domains that a table names for images, as numbers of their sorted names, -1
// for an image without one. names is nil if no label names a site.
func resite(ids []string, labels []Label) (domains []int, names []string, err error) {
	sites, by, err := columnOf(ids, labels, "site", func(l Label) string { return l.Site })
	if err != nil || by == "" {
		return nil, nil, err
	}
	names = slices.DeleteFunc(slices.Clone(sites), func(s string) bool { return s == "" })
	slices.Sort(names)
	names = slices.Compact(names)
	domains = make([]int, len(ids))
	for i, site := range sites {
		if domains[i], _ = slices.BinarySearch(names, site); site == "" {
			domains[i] = -1
		}
	}
	return domains, names, nil
}

// noSite is why an image is left out whose site a table should name.
const noSite = "the table of labels names the sites, and none for it"

// bySite gives the images of a listing the domains that labels name, if they do. Where these are the folders'
// domains, images that the labels do not name keep theirs; else they are left out.
func (l *lister) bySite(domains []string, list []named, labels []Label, perClass map[string]int) ([]string, []named, error) {
	numbers, names, err := resite(idsOf(list), labels)
	if err != nil || names == nil {
		return domains, list, err
	}
	differs := false
	for i, e := range list {
		differs = differs || numbers[i] >= 0 && names[numbers[i]] != domains[e.Domain]
	}
	if !differs {
		return domains, list, nil
	}
	var used []named
	for i, e := range list {
		if e.Domain = numbers[i]; e.Domain >= 0 {
			used = append(used, e)
			continue
		}
		l.skip(e.ID, noSite)
		if e.class != "" {
			perClass[e.class]--
		}
	}
	slices.SortStableFunc(used, func(a, b named) int { return a.Domain - b.Domain })
	return names, used, nil
}

// bySplit gives the images of a listing the splits that labels name, if they do, and says where splits are
// specified.
func (l *lister) bySplit(list []named, labels []Label) (by string, err error) {
	if l.splits {
		by = "split folders"
	}
	splits, column, err := splitsOf(idsOf(list), labels)
	for i, s := range splits {
		list[i].Split = s
	}
	return cmp.Or(column, by), err
}

// SitesBy returns where a table names the sites of images, "" if it does not.
func SitesBy(labels []Label) string {
	if i := slices.IndexFunc(labels, func(l Label) bool { return l.Site != "" }); i >= 0 {
		return fmt.Sprintf("the column site of %s", labels[i].Where[:max(strings.LastIndexByte(labels[i].Where, ':'), 0)])
	}
	return ""
}
