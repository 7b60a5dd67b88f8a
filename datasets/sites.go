package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// resite returns the domains that a table names for images, as numbers of their sorted names, -1
// for an image without one. names is nil if no label names a site.
func resite(ids []string, labels []Label) (domains []int, names []string, err error) {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[SameName(id)] = i
	}
	sites, where := make([]string, len(ids)), make(map[int]string)
	for _, l := range labels {
		i, ok := at[l.ID]
		if l.Site == "" || !ok {
			continue
		}
		l.Site = SameName(l.Site)
		if strings.ContainsFunc(l.Site, unprintable) {
			return nil, nil, l.errorf("site %q has a newline or another character that does not print in its name", l.Site)
		}
		if sites[i] != "" && sites[i] != l.Site {
			return nil, nil, l.errorf("%s is of site %q here, but of %q at %s", ids[i], l.Site, sites[i], where[i])
		}
		sites[i], where[i] = l.Site, l.Where
		names = append(names, l.Site)
	}
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

// bySite gives the images of a listing the domains that labels name, if they do.
func (l *lister) bySite(domains []string, list []named, labels []Label, perClass map[string]int) ([]string, []named, error) {
	ids := make([]string, len(list))
	for i, e := range list {
		ids[i] = e.ID
	}
	numbers, names, err := resite(ids, labels)
	if err != nil || names == nil {
		return domains, list, err
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

// SitesBy returns where a table names the sites of images, "" if it does not.
func SitesBy(labels []Label) string {
	if i := slices.IndexFunc(labels, func(l Label) bool { return l.Site != "" }); i >= 0 {
		return fmt.Sprintf("the column site of %s", labels[i].Where[:max(strings.LastIndexByte(labels[i].Where, ':'), 0)])
	}
	return ""
}
