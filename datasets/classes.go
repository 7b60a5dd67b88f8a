package datasets

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxClass is how many bytes a class's name may have; more is no name of a folder.
const maxClass = 200

// ValidClass returns an error for an invalid class name. A class is also a folder name and a
// line of a text file: UTF-8 of at most 200 bytes, without control characters, slashes, or white
// space at its ends.
func ValidClass(name string) error {
	bad := func(why string) error { return fmt.Errorf("class %q %s", name, why) }
	switch {
	case name == "":
		return errors.New("a class has no name")
	case !utf8.ValidString(name):
		return bad("is not UTF-8")
	case len(name) > maxClass:
		return bad(fmt.Sprintf("has %d bytes, want at most %d", len(name), maxClass))
	case name == "." || name == "..":
		return bad("is the name of every folder")
	case strings.ContainsAny(name, `/\`):
		return bad("has a slash")
	case strings.ContainsFunc(name, unprintable):
		return bad("has a newline or another character that does not print")
	case strings.TrimSpace(name) != name:
		return bad("begins or ends with white space")
	}
	return nil
}

// unprintable reports whether a rune is a control character, ends a line, or changes
// the direction of the text around it.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\ufeff'
}

// ValidClasses returns an error for an invalid or repeated class name.
func ValidClasses(names []string) error {
	if len(names) == 0 {
		return errors.New("there are no classes")
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if err := ValidClass(name); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("class %q is there twice", name)
		}
		seen[name] = true
	}
	return nil
}
