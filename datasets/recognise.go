package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// cameraFolder is what cameras call folders (DCF: three digits and five letters).
var cameraFolder = regexp.MustCompile(`^(DCIM|\d{3}[A-Za-z0-9_]{5})$`)

// Names of dates and of memory cards, in lower case: 2026, 2026-05, 202605, 20260510, 2026-w19, 05-2026, may,
// 10 may 2026; sd1, card 2, check3.
var dated = func() *regexp.Regexp {
	const sep, year, month, day = `[-_. ]?`, `(19|20)\d\d`, `(0?[1-9]|1[0-2])`, `(0?[1-9]|[12]\d|3[01])`
	const word = `(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)`
	return regexp.MustCompile(`^(` + strings.Join([]string{
		year, year + sep + `w\d+`, year + `[-_. ]` + month, year + `(0[1-9]|1[0-2])`,
		year + sep + `(0[1-9]|1[0-2])` + sep + `(0[1-9]|[12]\d|3[01])([-_. t]?\d+)*`, year + `[-_. ]` + month + `[-_. ]` + day,
		month + `[-_. ]` + year, day + `[-_. ]` + month + `[-_. ]` + year, month + `[-_. ]` + day + `[-_. ]` + year,
		`(\d{1,2}` + sep + `)?` + word + `(` + sep + `(\d\d)?\d\d)?`, year + sep + `(\d{1,2}` + sep + `)?` + word + `(` + sep + `\d{1,2})?`,
		`(sd|cf|sd ?card|card|memory ?card|check|visit|deployment|survey|session|week|day|night|roll|retrieval|download)[-_ ]*\d+`,
	}, "|") + `)$`)
}()

// isDated reports whether a folder is called as dates or memory cards are.
func isDated(name string) bool {
	return dated.MatchString(strings.ToLower(name)) || cameraFolder.MatchString(name)
}

// imageEnds are the ends of image files' names, in lower case.
var imageEnds = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp"}

// ImageName reports whether a file is called as images are.
func ImageName(name string) bool { return slices.Contains(imageEnds, strings.ToLower(path.Ext(name))) }

// UnclearError is the error of a folder whose folders in folders may be classes or anything else:
// no two sites have one of the same name, or some are called as dates or memory cards are.
type UnclearError struct {
	// Example is one of the folders.
	Example string
	// Dated is true if it is called as a date or a card is.
	Dated bool
}

// Layouts are what it may be.
const (
	WithClasses    = "{site}/{class}/{name}"
	WithoutClasses = "{site}/**/{name}"
)

func (e *UnclearError) Error() string {
	what := "may be classes or not: no two sites have one of the same name;"
	if e.Dated {
		what = "have names of dates or memory cards, not of classes; --labels or --classes name the classes, or"
	}
	return fmt.Sprintf("the folders of the sites, such as %s, %s --layout '%s' reads them as classes, --layout '%s' does not", printable(e.Example), what, WithClasses, WithoutClasses)
}

// Recognise returns the layout of the images in a folder where it is another than
// {site}/{class}/{name} or {site}/{name}, which is empty: by names alone, of folders that have
// files called as images are. It knows class/image where classes are named, a flat folder,
// folders of splits, of dates, of a camera's card, and one around all others. classes are the names
// that are given, or nil; labels those of a table. Where none of a table's classes is a folder's name, folders
// are no classes. Folders that may be classes or not are an UnclearError.
func Recognise(fsys fs.FS, patterns, classes []string, labels []Label) (template string, err error) {
	l := &lister{fsys: fsys, patterns: patterns, leaves: func(string) error { return fs.ErrInvalid }}
	var dirs [][]string // of images, by their elements
	err = l.walk(func(dir string, files []string) error {
		switch {
		case !slices.ContainsFunc(files, ImageName):
		case dir == ".":
			dirs = append(dirs, nil)
		default:
			dirs = append(dirs, strings.Split(dir, "/"))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	r := &recogniser{classes: make(map[string]bool), closed: classes != nil}
	for _, name := range classes {
		r.classes[SameName(name)] = true
	}
	if labelled := ofClass(labels); classes == nil && len(labelled) > 0 {
		for _, l := range labelled {
			r.classes[SameName(l.Class)] = true
		}
		r.closed = !slices.ContainsFunc(dirs, func(d []string) bool { return slices.ContainsFunc(d, r.isClass) })
	}
	template = r.template(dirs)
	switch {
	case r.dated != "":
		return "", &UnclearError{Example: r.dated, Dated: true}
	case template == "" && classes == nil && len(labels) == 0 && unclear(dirs):
		return "", &UnclearError{Example: path.Join(dirs[0]...)}
	}
	return template, nil
}

// unclear reports whether there are several sites with several folders each, and no
// folder name occurs in two of them.
func unclear(dirs [][]string) bool {
	in := map[string]int{}
	for _, d := range dirs {
		if len(d) != 2 || d[1] == Unlabelled {
			return false
		}
		in[d[0]]++
	}
	for _, n := range in {
		if n < 2 {
			return false
		}
	}
	return len(in) > 1 && !repeated(dirs)
}

// recogniser finds the template of folders that have images.
type recogniser struct {
	classes map[string]bool // known names
	closed  bool            // no other name is a class
	dated   string          // a folder that would be a class, with the name of a date or a card
}

func (r *recogniser) isClass(name string) bool {
	return r.classes[SameName(name)] || name == Unlabelled
}

// template returns the template of folders, empty for {site}/{class}/{name} and {site}/{name}.
func (r *recogniser) template(dirs [][]string) string {
	for depth := range 3 {
		if t := r.split(dirs, depth); t != "" {
			return t
		}
	}
	t := r.unsplit(dirs)
	at := slices.Index(strings.Split(cmp.Or(t, WithClasses), "/"), "{class}")
	for _, d := range dirs {
		if at >= 0 && at < len(d) && !r.closed && !r.isClass(d[at]) && isDated(d[at]) {
			r.dated = path.Join(d[:at+1]...)
		}
	}
	return t
}

// split returns the template of folders whose folders at a depth are splits, empty if they are not. Where
// sites and classes are is seen in those that are not held out.
func (r *recogniser) split(dirs [][]string, depth int) string {
	var rest [][]string
	trained, twice := false, true
	for _, d := range dirs {
		if len(d) <= depth {
			return ""
		}
		s, ok := parseSplit(d[depth])
		if !ok {
			return ""
		}
		trained = trained || s == Train
		if s == Test {
			continue
		}
		rest = append(rest, slices.Delete(slices.Clone(d), depth, depth+1))
		twice = twice && len(d) > depth+1 && SameName(d[depth+1]) == SameName(d[depth]) // as train/train
	}
	if !trained {
		return ""
	}
	most, split := 0, "{split}"
	if twice {
		split += "/*"
	}
	for i := range rest {
		if twice {
			rest[i] = slices.Delete(rest[i], depth, depth+1)
		}
		most = max(most, len(rest[i]))
	}
	t := r.template(rest)
	switch {
	case t != "":
	case most == 0:
		t = "{name}"
	case most == 1 && depth == 0 && (r.closed || !slices.ContainsFunc(rest, func(d []string) bool { return len(d) > 0 && !isImages(d[0]) })):
		t = "**/{name}"
	case most == 1 && depth == 0:
		t = "{class}/{name}"
		for _, d := range rest {
			if len(d) > 0 && !r.isClass(d[0]) && isDated(d[0]) {
				r.dated = d[0]
			}
		}
	case most == 1:
		t = "{site}/{name}"
	default:
		t = WithClasses
	}
	parts := strings.Split(t, "/")
	return strings.Join(slices.Insert(parts, min(depth, len(parts)-1), split), "/")
}

// isImages reports whether a folder's name only says that images are in it.
func isImages(name string) bool {
	return slices.Contains([]string{"images", "image", "img", "imgs", "jpegimages", "photos", "data"}, strings.ToLower(name))
}

// unsplit returns the template of folders without splits.
func (r *recogniser) unsplit(dirs [][]string) string {
	if len(dirs) == 0 {
		return ""
	}
	least, most := len(dirs[0]), len(dirs[0])
	for _, d := range dirs {
		least, most = min(least, len(d)), max(most, len(d))
	}
	// all reports whether the folders at a depth, as far as there are, are of a kind.
	all := func(depth int, is func(name string) bool) bool {
		some := false
		for _, d := range dirs {
			if depth < len(d) {
				if some = true; !is(d[depth]) {
					return false
				}
			}
		}
		return some
	}
	noClass := r.closed && all(1, func(name string) bool { return !r.isClass(name) }) && (most < 3 || all(2, func(name string) bool { return !r.isClass(name) }))
	switch {
	case most == 0:
		return "{name}"
	case least == 0: // beside folders: the files there are skipped and reported
		return ""
	case all(0, r.isClass) && (most == 1 || !all(1, r.isClass)):
		return "{class}/" + strings.Repeat("**/", min(most-1, 1)) + "{name}"
	case most == 1:
		return ""
	case all(1, cameraFolder.MatchString) || most == 2 && noClass:
		return WithoutClasses
	case most == 2:
		return ""
	case least == 3 && most == 3 && all(2, r.isClass):
		return "{site}/*/{class}/{name}"
	case least > 2 && all(0, func(name string) bool { return name == dirs[0][0] }): // a folder around all
		inside := make([][]string, len(dirs))
		for i, d := range dirs {
			inside[i] = d[1:]
		}
		return "*/" + cmp.Or(r.template(inside), WithClasses)
	case least >= 2 && all(1, r.isClass), least >= 2 && !r.closed && repeated(dirs):
		return "{site}/{class}/**/{name}"
	case least >= 2 || noClass:
		return WithoutClasses
	}
	return ""
}

// repeated reports whether the folders at the second level have the same names in several
// folders at the first, as classes have.
func repeated(dirs [][]string) bool {
	in := map[string]string{}
	for _, d := range dirs {
		if other, ok := in[d[1]]; ok && other != d[0] {
			return true
		}
		in[d[1]] = d[0]
	}
	return false
}

// DescribeLayout says in one line how a folder was read: by a layout, or by a site rule.
func (d *Dataset) DescribeLayout(template, site string, t Truth) string {
	if template == "" && site == "" {
		template = "{site}/{name}"
		if slices.ContainsFunc(d.Examples, func(e Example) bool { return strings.Count(e.ID, "/") > 1 }) {
			template = "{site}/{class}/{name}"
		}
	}
	read := strings.NewReplacer("{", "", "}", "").Replace(strings.TrimSuffix(strings.TrimSuffix(template, "{name}"), "/"))
	if template != "" && !strings.Contains(template, "{class}") {
		read += "/image"
	}
	read = strings.TrimPrefix(read, "/")
	if site != "" {
		read = strings.TrimPrefix(read+", sites by "+site, ", ")
	}
	sites, classes := plural(len(d.Domains), "site"), "no classes"
	if len(d.Classes) > 0 {
		classes = plural(len(d.Classes), "class")
	}
	if len(d.Domains) == 1 && !strings.Contains(template, "{site}") && site == "" {
		sites = "one site"
	}
	line := fmt.Sprintf("read as %s: %s, %s; --layout sets another reading", read, sites, classes)
	if template == "{site}/{name}" && len(d.Domains) > 1 && t.Known() == 0 {
		line += ", such as --layout '{class}/{name}' where the folders are classes"
	}
	if len(d.Domains) == 1 {
		line += "; with one site there is no estimate for a new site"
	}
	return line
}
