package exchange

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/ledg-go/ledg/datasets"
)

// Matcher finds the data set's image of an imported label.
type Matcher struct {
	d       *datasets.Dataset
	digests func() ([]string, error)
	// These indices are built when first needed: by digest, base name, path without extension,
	// and base name as Label Studio spells that of an upload.
	byDigest, byName, byStem, byUpload map[string][]int
}

// NewMatcher returns a matcher for a data set. digests returns the SHA-256 of every image file,
// in the order of the examples; it is called at most once, when a label has neither a known ID
// nor a path.
func NewMatcher(d *datasets.Dataset, digests func() ([]string, error)) *Matcher {
	return &Matcher{d: d, digests: digests}
}

// Match returns the ID of the image of a label: by ID, else by digest, else by path. A path may
// have leading folders that the ID lacks, may lack class folder and extension, and may be a base
// name if that is unique. Of images with equal content, the one with the path is taken, or else
// the first.
func (m *Matcher) Match(a Label) (string, error) {
	id, _, err := m.match(a)
	return id, err
}

// match is Match. exact is false if a path was found that is not the whole ID.
func (m *Matcher) match(a Label) (id string, exact bool, err error) {
	for _, id := range []string{a.ID, datasets.Unguard(a.ID), slashes(a.ID), strings.TrimSpace(a.ID)} {
		if _, ok := m.d.Index(id); ok && strings.TrimSpace(a.ID) != "" {
			return id, true, nil
		}
	}
	var equal []int
	if a.Digest != "" {
		if m.byDigest == nil {
			sums, err := m.digests()
			if err != nil {
				return "", false, err
			}
			m.byDigest = make(map[string][]int)
			for i, sum := range sums {
				m.byDigest[sum] = append(m.byDigest[sum], i)
			}
		}
		if equal = m.byDigest[strings.ToLower(a.Digest)]; len(equal) == 1 {
			return m.d.Examples[equal[0]].ID, true, nil
		}
	}
	named, many := m.byPath(a.Path)
	for _, i := range equal {
		if m.d.Examples[i].ID == named {
			return named, true, nil
		}
	}
	if named == "" {
		named = m.below(a.ID)
	}
	switch {
	case len(equal) > 0:
		return m.d.Examples[equal[0]].ID, true, nil
	case named != "":
		return named, false, nil
	}
	name := a.ID
	if name == "" {
		name = a.Path
	}
	if name == "" {
		name = "the image of digest " + a.Digest
	}
	if many > 1 {
		return "", false, fmt.Errorf("%q: %d images of the data set are called so; an export with images, or with ledg_id, tells which", name, many)
	}
	return "", false, fmt.Errorf("%q is no image of the data set", name)
}

// maxPath is the maximum length of a path, in bytes.
const maxPath = 1 << 12

// below returns the ID of the image whose path, or the end of it, a path ends in.
func (m *Matcher) below(p string) string {
	if p = slashes(p); p == "" || len(p) > maxPath {
		return ""
	}
	parts := strings.Split(p, "/")
	for i := range parts {
		rest := parts[i:]
		if id := strings.Join(rest, "/"); m.has(id) {
			return id
		}
		if n := len(rest); n > 2 { // the class folder in front of the name
			if id := path.Join(path.Join(rest[:n-2]...), rest[n-1]); m.has(id) {
				return id
			}
		}
	}
	return ""
}

// byPath returns the ID of the image with a path, or how many have its name.
func (m *Matcher) byPath(p string) (id string, many int) {
	if id := m.below(p); id != "" {
		return id, 1
	}
	if p = datasets.SameName(slashes(p)); p == "" || len(p) > maxPath {
		return "", 0
	}
	m.index()
	base := path.Base(p)
	for _, names := range []struct {
		of   map[string][]int
		name string
	}{{m.byStem, p}, {m.byName, base}, {m.byUpload, base}, {m.byUpload, uploadPrefix.ReplaceAllString(base, "")}} {
		if same := names.of[names.name]; len(same) == 1 {
			return m.d.Examples[same[0]].ID, 1
		} else if len(same) > 1 {
			return "", len(same)
		}
	}
	return "", 0
}

// uploadPrefix is what Label Studio puts in front of names of uploaded files.
var uploadPrefix = regexp.MustCompile(`^[0-9a-f]{8}-`)

// notUploaded are characters that Label Studio takes out of names of uploaded files.
var notUploaded = regexp.MustCompile(`[^-\pL\pN_.]`)

// index builds the maps of names.
func (m *Matcher) index() {
	if m.byName != nil {
		return
	}
	m.byName, m.byStem, m.byUpload = make(map[string][]int), make(map[string][]int), make(map[string][]int)
	for i, e := range m.d.Examples {
		id := datasets.SameName(e.ID)
		base, stem := path.Base(id), strings.TrimSuffix(id, path.Ext(id))
		m.byName[base], m.byStem[stem] = append(m.byName[base], i), append(m.byStem[stem], i)
		upload := notUploaded.ReplaceAllString(strings.ReplaceAll(base, " ", "_"), "")
		m.byUpload[upload] = append(m.byUpload[upload], i)
	}
}

func (m *Matcher) has(id string) bool {
	_, ok := m.d.Index(id)
	return ok
}

// slashes cleans a path and separates its elements with slashes.
func slashes(p string) string {
	if p == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean(strings.ReplaceAll(p, `\`, "/")), "/")
}
