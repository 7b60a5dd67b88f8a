package datasets

import (
	"fmt"
	"path"
	"regexp"
	"slices"
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

// imageNames are endings of images; backups and halfDone are endings behind these of copies that
// programs keep, and endings of downloads that have not ended.
var (
	imageNames = strings.Fields(".jpg .jpeg .jpe .jfif .png .gif .bmp .tif .tiff .webp .heic .avif")
	backups    = strings.Fields("~ .bak .backup .orig .original _original .old .sav .save .swp .tmp .temp")
	halfDone   = strings.Fields(".part .partial .!ut .aria2 .crdownload .download .filepart .opdownload .icloud")
)

// NoPhoto returns the reason why a file is no photo of its own, by its name: a backup, a download
// that has not ended, or a stub of a photo in iCloud, whose name photo is. It returns "" for others.
func NoPhoto(name string) (photo, reason string) {
	lower := strings.ToLower(name)
	if strings.HasPrefix(name, ".") && strings.HasSuffix(lower, ".icloud") {
		return name[1 : len(name)-len(".icloud")], "it is in iCloud only: download it, then run again"
	}
	if strings.HasPrefix(name, ".") {
		return name, ""
	}
	for _, end := range halfDone {
		if strings.HasSuffix(lower, end) {
			return name, "a partial download, by its name"
		}
	}
	if m := emacs.FindStringSubmatch(lower); m != nil {
		lower = m[1] + m[2] + "~"
	} else if m := numberedCopy.FindStringSubmatch(lower); m != nil { // as wget and logrotate number them
		lower = m[1] + "~"
	}
	lower = strings.TrimRight(lower, "0123456789") // .bak2
	for _, end := range backups {
		if rest, ok := strings.CutSuffix(lower, end); ok && slices.Contains(imageNames, path.Ext(rest)) {
			return name, "a backup of an image, by its name"
		}
	}
	return name, ""
}

// emacs matches numbered backups and files that are saved automatically.
var emacs = regexp.MustCompile(`^(?:(.+)\.~\d+~|#(.+)#)$`)

// numberedCopy matches an image's name with a number behind its ending.
var numberedCopy = regexp.MustCompile(`^(.+\.[a-z]+)\.\d{1,3}$`)

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
	return fmt.Sprintf("%s %s left out: %s", plural(len(items), "file"), verb(len(items), "is", "are"), firstFew(items))
}
