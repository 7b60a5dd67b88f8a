package datasets

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// systemNames are names, in lower case, of folders and files that operating systems and network
// drives put beside photos.
var systemNames = map[string]bool{
	"__macosx": true, "@eadir": true, "#recycle": true, "#snapshot": true, "@recycle": true,
	"system volume information": true, "$recycle.bin": true, "found.000": true, "lost+found": true,
	"thumbs.db": true, "desktop.ini": true,
}

// Ignored reports whether a folder or file is nobody's image: its name begins with a dot, or is
// one of a system's.
func Ignored(name string) bool {
	return strings.HasPrefix(name, ".") || systemNames[strings.ToLower(name)]
}

// CheckPatterns returns an error for patterns of Options.Patterns that are none.
func CheckPatterns(patterns []string) error {
	for _, p := range patterns {
		if p == "" || !doublestar.ValidatePattern(p) {
			return fmt.Errorf("%q is no pattern: want one such as 'thumb_*', old/** or '*.gif'", p)
		}
	}
	return nil
}

// matching returns the pattern of a list that leaves a file or folder out, "" for none. A
// pattern without a slash is matched with its name, another with its whole path.
func matching(patterns []string, id string) string {
	for _, p := range patterns {
		name := id
		if !strings.Contains(p, "/") {
			name = path.Base(id)
		}
		if ok, _ := doublestar.Match(p, name); ok {
			return p
		}
	}
	return ""
}

// ExactPattern is the pattern of one file.
func ExactPattern(id string) string {
	var b strings.Builder
	for _, r := range id {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// LeftOut says in one line which files a data set leaves out, "" for none.
func (d *Dataset) LeftOut() string {
	if len(d.Skipped) == 0 {
		return ""
	}
	var items []string
	for _, f := range d.Skipped {
		items = append(items, printable(f.ID)+": "+f.Reason)
	}
	is := "are"
	if len(items) == 1 {
		is = "is"
	}
	return fmt.Sprintf("%s %s left out: %s", plural(len(items), "file"), is, firstFew(items))
}
