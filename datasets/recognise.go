package datasets

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// splitNames are what people call folders of splits, in lower case.
var splitNames = map[string]bool{"train": true, "training": true, "val": true, "valid": true, "validation": true, "dev": true, "test": true, "testing": true, "crossval": true}

// cameraFolder is what cameras call folders (DCF: three digits and five letters).
var cameraFolder = regexp.MustCompile(`^(DCIM|\d{3}[A-Za-z0-9_]{5})$`)

// imageEnds are the ends of image files' names, in lower case.
var imageEnds = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp"}

// ImageName reports whether a file is called as images are.
func ImageName(name string) bool { return slices.Contains(imageEnds, strings.ToLower(path.Ext(name))) }

// UnclearError is the error of a folder whose folders in folders may be classes or, since no two
// sites have one of the same name, anything else: days, cards, bursts.
type UnclearError struct {
	// Example is one of the folders.
	Example string
}

// Layouts are what it may be.
const (
	WithClasses    = "{site}/{class}/{name}"
	WithoutClasses = "{site}/**/{name}"
)

func (e *UnclearError) Error() string {
	return fmt.Sprintf("the folders of the sites, such as %s, may be classes or not: no two sites have one of the same name; --layout '%s' reads them as classes, --layout '%s' does not", printable(e.Example), WithClasses, WithoutClasses)
}

// Recognise returns the layout of the images in a folder where it is another than
// {site}/{class}/{name} or {site}/{name}, which is empty: by names alone, of folders that have
// files called as images are. It knows class/image where classes are named, a flat folder,
// folders of splits, of a camera's card, and one around all others. classes are the names that
// are given, or nil. Folders that may be classes or not are an UnclearError.
func Recognise(fsys fs.FS, patterns, classes []string) (template string, err error) {
	l := &lister{fsys: fsys, patterns: patterns, leaves: func(string) error { return fs.ErrInvalid }}
	var dirs [][]string // of images, by their elements
	for open := []string{"."}; len(open) > 0; {
		here := open[len(open)-1]
		open = open[:len(open)-1]
		folders, files, err := l.read(here)
		if err != nil {
			return "", err
		}
		for _, name := range folders {
			open = append(open, path.Join(here, name))
		}
		if slices.ContainsFunc(files, ImageName) {
			if here == "." {
				dirs = append(dirs, nil)
			} else {
				dirs = append(dirs, strings.Split(here, "/"))
			}
		}
	}
	template = recognise(dirs, classes)
	if template == "" && classes == nil && unclear(dirs) {
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

// recognise returns the template of folders that have images.
func recognise(dirs [][]string, classes []string) string {
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
	isClass := func(name string) bool {
		return slices.Contains(sameNames(classes), SameName(name)) || name == Unlabelled
	}
	isSplit := func(name string) bool { return splitNames[strings.ToLower(name)] }
	isCamera := func(name string) bool { return cameraFolder.MatchString(name) }
	switch {
	case most == 0:
		return "{name}"
	case least == 0: // beside folders: the files there are skipped and reported
		return ""
	case all(0, isClass) && (most == 1 || !all(1, isClass)):
		return "{class}/" + strings.Repeat("**/", min(most-1, 1)) + "{name}"
	case most == 1:
		return ""
	case all(1, isCamera) || most == 2 && least == 2 && classes != nil && !slices.ContainsFunc(dirs, func(d []string) bool { return isClass(d[1]) }):
		return "{site}/**/{name}"
	case least == 2 && most == 2 && all(0, isSplit):
		return "{split}/{class}/{name}"
	case least == 2 && most == 2 && all(1, isSplit):
		return "{site}/{split}/{name}"
	case most == 2:
		return ""
	case least == 3 && most == 3 && all(1, isSplit):
		return "{site}/{split}/{class}/{name}"
	case least == 3 && most == 3 && all(0, isSplit):
		return "{split}/{site}/{class}/{name}"
	case least == 3 && most == 3 && classes != nil && all(2, isClass):
		return "{site}/*/{class}/{name}"
	case least > 2 && all(0, func(name string) bool { return name == dirs[0][0] }): // a folder around all
		inside := make([][]string, len(dirs))
		for i, d := range dirs {
			inside[i] = d[1:]
		}
		t := recognise(inside, classes)
		if t == "" {
			t = "{site}/{class}/{name}"
		}
		return "*/" + t
	case least >= 2 && classes != nil && all(1, isClass), least >= 2 && classes == nil && repeated(dirs):
		return "{site}/{class}/**/{name}"
	case least >= 2:
		return "{site}/**/{name}"
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
		if t.Known() > 0 {
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
	if template == "{site}/{name}" && len(d.Domains) > 1 {
		line += ", such as --layout '{class}/{name}' where the folders are classes"
	}
	if len(d.Domains) == 1 {
		line += "; with one site there is no estimate for a new site"
	}
	return line
}
