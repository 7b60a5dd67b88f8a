package datasets

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// SameName returns the one spelling of names that Unicode calls canonically equivalent (NFC):
// macOS writes a decomposed ä in names of files, others a composed one.
func SameName(name string) string { return norm.NFC.String(name) }

// sameNames returns SameName of every name.
func sameNames(names []string) []string {
	if names == nil {
		return nil
	}
	same := make([]string, len(names))
	for i, name := range names {
		same[i] = SameName(name)
	}
	return same
}

// isAbs reports whether a path is absolute here or on Windows, or the address of a file.
func isAbs(p string) bool {
	return filepath.IsAbs(p) || strings.HasPrefix(p, "file://") || windowsPath.MatchString(p)
}

var windowsPath = regexp.MustCompile(`^([A-Za-z]:[\\/]|\\\\)`)

// NearClasses lists pairs of classes that may be one, in a line each: their names differ in upper
// and lower case alone or, from four letters on, in one letter or two swapped ones.
func (d *Dataset) NearClasses() (lines []string) {
	for i, a := range d.Classes {
		for _, b := range d.Classes[i+1:] {
			if strings.EqualFold(a, b) || oneTypo([]rune(strings.ToLower(a)), []rune(strings.ToLower(b))) {
				lines = append(lines, fmt.Sprintf("classes %s and %s are nearly the same name: if they are one, rename the folders or correct the labels", a, b))
			}
		}
	}
	return lines
}

// oneTypo reports whether two words differ in one letter that is another, missing or swapped with
// its neighbour; not in a digit, which numbers classes.
func oneTypo(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 4 || len(b)-len(a) > 1 {
		return false
	}
	from := 0
	for from < len(a) && a[from] == b[from] {
		from++
	}
	x, y := a[from:], b[from:]
	for len(x) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	if strings.ContainsAny(string(x)+string(y), "0123456789") {
		return false
	}
	swapped := len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
	return swapped || len(x) <= 1 && len(y) == 1
}
