package datasets

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// oneDomain is the name of the domain of images that a layout gives no site.
const oneDomain = "all"

// layout reads domain and class of an image in its path.
type layout struct {
	template string
	path     *regexp.Regexp // with the groups site, class and split, as far as there are
	site     *regexp.Regexp // names the site instead; nil if the path does
}

// fields are what a folder of a template may stand for.
var fields = map[string]string{
	"site": `(?P<site>[^/]+)`, "domain": `(?P<site>[^/]+)`, "class": `(?P<class>[^/]+)`, "split": `(?P<split>[^/]+)`, "name": `[^/]+`,
}

// newLayout compiles a template, such as "{site}/{class}/{name}", and a rule for sites; of two
// empty ones it is nil. A folder of a template is a word in braces (site, class, split or name),
// * for any one folder, ** for any number of them, or a folder's own name. With a split, images may
// also lie beside the folders of classes, without a class.
func newLayout(template, site string) (*layout, error) {
	if template == "" && site == "" {
		return nil, nil
	}
	l := &layout{template: template}
	if site != "" {
		r, err := regexp.Compile(site)
		if err != nil {
			return nil, fmt.Errorf("site rule: %w", err)
		}
		if l.site = r; template == "" {
			template = "**/{name}"
		}
	}
	var b strings.Builder
	b.WriteString("^")
	parts := strings.Split(template, "/")
	used := map[string]bool{}
	for i, part := range parts {
		last := i == len(parts)-1
		word := strings.TrimSuffix(strings.TrimPrefix(part, "{"), "}")
		group, isField := fields[word]
		isField = isField && part == "{"+word+"}"
		if word == "domain" {
			word = "site"
		}
		switch {
		case last != (isField && word == "name"):
			return nil, fmt.Errorf("layout %q: want {name} at its end, and there alone, such as {site}/{class}/{name}", template)
		case isField && used[word]:
			return nil, fmt.Errorf("layout %q: {%s} is there twice", template, word)
		case word == "class" && isField && used["split"]:
			used[word] = true
			b.WriteString("(?:" + group + "/)?")
			continue
		case isField:
			used[word] = true
			b.WriteString(group)
		case part == "**":
			b.WriteString(`(?:[^/]+/)*`)
			continue
		case part == "*":
			b.WriteString(`[^/]+`)
		case part == "" || strings.ContainsAny(part, "{}*"):
			return nil, fmt.Errorf("layout %q: %q is no folder of one: want {site}, {class}, {split}, *, ** or a name", template, part)
		default:
			b.WriteString(regexp.QuoteMeta(part))
		}
		if !last {
			b.WriteString("/")
		}
	}
	if used["site"] && l.site != nil {
		return nil, fmt.Errorf("layout %q has {site}, and there is a site rule, %s: sites come from one of the two", template, site)
	}
	var err error
	l.path, err = regexp.Compile(b.String() + "$")
	return l, err
}

// CheckLayout returns an error for a layout that is none.
func CheckLayout(template, site string) error {
	_, err := newLayout(template, site)
	return err
}

// of returns site, class and split of an image, empty for none; ok is false for one that the layout
// does not fit, and why says so.
func (l *layout) of(id string) (site, class, split, why string, ok bool) {
	m := l.path.FindStringSubmatch(id)
	if m == nil {
		return "", "", "", "its path is not of the layout " + l.template, false
	}
	for i, name := range l.path.SubexpNames() {
		switch name {
		case "site":
			site = m[i]
		case "class":
			class = m[i]
		case "split":
			split = m[i]
		}
	}
	if l.site == nil {
		site = cmp.Or(site, oneDomain)
		return site, class, split, "", true
	}
	m = l.site.FindStringSubmatch(id)
	if m == nil {
		return "", "", "", "the site rule " + l.site.String() + " does not match its path", false
	}
	if site = m[0]; len(m) > 1 {
		site = m[1]
	}
	return site, class, split, "", site != ""
}

// byLayout lists the images of all folders, with their domains and classes by a layout.
func (l *lister) byLayout(rule *layout, perClass map[string]int) (domains []string, list []named, err error) {
	sites := make(map[string][]named)
	err = l.walkImages(func(id string) error {
		site, class, split, why, ok := rule.of(id)
		if !ok {
			l.skip(id, why)
			return nil
		}
		e := named{Example: Example{ID: id}}
		if split != "" {
			if e.Split, ok = parseSplit(split); !ok {
				return fmt.Errorf("%s: the folder %q is no split, such as train, val or test; in a layout * stands for a folder of any name", id, split)
			}
			l.splits = true
		}
		if e.class = SameName(class); e.class == Unlabelled {
			e.class = ""
		}
		if e.class != "" {
			if err := ValidClass(e.class); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		site = SameName(site)
		sites[site] = append(sites[site], e)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for site := range sites {
		if strings.ContainsFunc(site, unprintable) {
			return nil, nil, fmt.Errorf("site %q has a character that does not print in its name", site)
		}
		domains = append(domains, site)
	}
	slices.Sort(domains)
	for k, site := range domains {
		for _, e := range sites[site] {
			e.Domain = k
			list = append(list, e)
		}
	}
	withoutPlaceholders(list)
	for _, e := range list {
		if e.class != "" {
			perClass[e.class]++
		}
	}
	if len(list) == 0 {
		if len(l.skipped) == 0 {
			return nil, nil, noImages("there are no images in it")
		}
		sortSkipped(l.skipped)
		return nil, nil, noImages(fmt.Sprintf("there are no images in it; %s left out, first %s: %s", plural(len(l.skipped), "file"), l.skipped[0].ID, l.skipped[0].Reason))
	}
	return domains, list, nil
}
