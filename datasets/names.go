package datasets

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// relativeTo makes absolute paths in labels and groups relative to a folder.
func (o *Options) relativeTo(root string) error {
	o.Labels = relative(o.Labels, root)
	if o.groups == nil {
		return nil
	}
	g, err := newGrouper(o.Group, o.Labels)
	if err == nil {
		*o.groups = *g
	}
	return err
}

// relative returns labels with absolute paths as paths from a folder, and so those that begin with
// the folder's own name, or with folders above it, too. A path of another folder or computer is the
// longest end of it that is a file in the folder, unless two paths have the same.
func relative(list []Label, root string) []Label {
	if root == "" {
		return list
	}
	list = slices.Clone(list)
	ends, paths := make(map[string][]int), make(map[string]map[string]bool)
	for i, l := range list {
		if !isAbs(l.ID) {
			list[i].ID = below(l.ID, root)
			continue
		}
		if rel, err := filepath.Rel(root, l.ID); filepath.IsAbs(l.ID) && err == nil && filepath.IsLocal(rel) {
			list[i].ID = filepath.ToSlash(rel)
			continue
		}
		p, isURL := strings.CutPrefix(l.ID, "file://")
		if plain, err := url.PathUnescape(p); isURL && err == nil {
			p = plain
		}
		parts := strings.Split(strings.ReplaceAll(p, `\`, "/"), "/")
		for k := range parts[1:] {
			end := strings.Join(parts[k+1:], "/")
			if info, err := os.Stat(filepath.Join(root, end)); err == nil && info.Mode().IsRegular() && filepath.IsLocal(end) {
				if ends[end] = append(ends[end], i); paths[end] == nil {
					paths[end] = make(map[string]bool)
				}
				paths[end][l.ID] = true
				break
			}
		}
	}
	for end, of := range ends {
		if len(paths[end]) == 1 {
			for _, i := range of {
				list[i].ID = end
			}
		}
	}
	return list
}

// below returns a path without the folders at its begin that the path of root ends in, unless root
// has a file of the whole path.
func below(id, root string) string {
	at := strings.TrimPrefix(strings.TrimSpace(Unguard(strings.ReplaceAll(id, `\`, "/"))), "./")
	for n := strings.Count(at, "/"); n > 0; n-- {
		parts := strings.SplitN(at, "/", n+1)
		if !strings.HasSuffix(filepath.ToSlash(root)+"/", "/"+strings.Join(parts[:n], "/")+"/") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(at))); err != nil {
			return parts[n]
		}
	}
	return id
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
