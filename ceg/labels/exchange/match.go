package exchange

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/ledg-go/ledg/datasets"
)

// Matcher finds the data set's image of an imported label.
type Matcher struct {
	d       *datasets.Dataset
	finder  *datasets.Finder
	digests func() ([]string, error)
	// These are filled in when first needed: digests by image, images by digest, why there are
	// none, and images by base name as Label Studio spells that of an upload.
	sums     map[int]string
	byDigest map[string][]int
	failed   error
	byUpload map[string][]int
}

// NewMatcher returns a matcher for a data set. digests returns the SHA-256 of every image file,
// in the order of the examples; it is called at most once, when a label has a digest and no name
// of an image with it.
func NewMatcher(d *datasets.Dataset, digests func() ([]string, error)) *Matcher {
	return &Matcher{d: d, finder: d.Finder(), digests: digests, sums: make(map[int]string)}
}

// Whole returns the ID of the image with a path, that in the data set or behind folders of its
// root, and an empty one if there is none.
func (m *Matcher) Whole(path string) string {
	if f := m.finder.Find(path); f.Whole() {
		return m.d.Examples[f.Index].ID
	}
	return ""
}

// Match returns the ID of the image of a label: by digest if it has one, among the images that
// its ID or else its path fits, or else by these (see [datasets.Finder]). A path may have the
// label's class as its last folder. An image with another digest is never returned.
func (m *Matcher) Match(a Label) (string, error) {
	f := m.find(a)
	if f.Err != nil {
		return "", f.Err
	}
	return m.d.Examples[f.Index].ID, nil
}

// find is Match before the labels of a file are compared.
func (m *Matcher) find(a Label) datasets.Found {
	f := m.named(a)
	if a.Digest == "" {
		return f
	}
	want := strings.ToLower(a.Digest)
	var same []int
	for _, i := range f.Fits {
		if i >= m.d.Len() {
			continue // it is left out
		}
		sum, err := m.sum(i)
		if errors.Is(err, datasets.ErrNoImages) {
			return f
		}
		if err != nil {
			return failed(err)
		}
		if sum == want {
			same = append(same, i)
		}
	}
	if len(same) == 0 {
		if err := m.index(); errors.Is(err, datasets.ErrNoImages) {
			return f
		} else if err != nil {
			return failed(err)
		}
		same = m.byDigest[want]
	}
	switch {
	case len(same) == 1:
		return m.finder.At(same[0])
	case len(same) > 1:
		return failed(fmt.Errorf("the image of digest %.12s is there %d times, as %s and %s: want the path from the data set's folder", want, len(same), m.d.Examples[same[0]].ID, m.d.Examples[same[1]].ID))
	case f.Err == nil:
		return failed(fmt.Errorf("%s has another content: its digest is not %.12s", m.d.Examples[f.Index].ID, want))
	case a.ID == "" && a.Path == "":
		return failed(fmt.Errorf("the image of digest %s is no image of the data set", a.Digest))
	}
	return f
}

func failed(err error) datasets.Found { return datasets.Found{Index: -1, Err: err} }

// named finds the image of a label by its names.
func (m *Matcher) named(a Label) datasets.Found {
	f := m.finder.Find(a.ID)
	if len(f.Fits) == 0 && a.Path != "" {
		f = m.byPath(a)
	}
	if f.Err != nil && a.ID == "" && a.Path == "" {
		return failed(errors.New("it names no image"))
	}
	return f
}

// byPath finds the image of a label by its path.
func (m *Matcher) byPath(a Label) datasets.Found {
	f := m.finder.Find(a.Path)
	if len(f.Fits) > 0 || f.LeftOut {
		return f
	}
	p := slashes(a.Path)
	if dir := path.Dir(p); a.Class != "" && datasets.SameName(path.Base(dir)) == datasets.SameName(a.Class) {
		if in := m.finder.Find(path.Join(path.Dir(dir), path.Base(p))); in.Err == nil {
			return in
		}
	}
	name, ok := Uploaded(p)
	if !ok {
		return f
	}
	if m.byUpload == nil {
		m.byUpload = make(map[string][]int)
		for i, e := range m.d.Examples {
			upload := notUploaded.ReplaceAllString(strings.ReplaceAll(path.Base(datasets.SameName(e.ID)), " ", "_"), "")
			m.byUpload[upload] = append(m.byUpload[upload], i)
		}
	}
	if f.Fits = m.byUpload[datasets.SameName(name)]; len(f.Fits) == 1 {
		return m.finder.At(f.Fits[0])
	} else if len(f.Fits) > 1 {
		f.Err = fmt.Errorf("%q: %d images of the data set are called so; an export with images, or with ledg_id, tells which", name, len(f.Fits))
	}
	return f
}

// manySums is the number of images from which on the digests of all are read: unchanged files
// are not read again for these.
const manySums = 64

// sum returns the digest of an image.
func (m *Matcher) sum(i int) (string, error) {
	sum, ok := m.sums[i]
	if !ok && len(m.sums) == manySums {
		if err := m.index(); err != nil {
			return "", err
		}
		sum, ok = m.sums[i]
	}
	if ok {
		return sum, nil
	}
	sum, err := m.d.Digest(i)
	if err == nil {
		m.sums[i] = sum
	}
	return sum, err
}

// index fills in byDigest.
func (m *Matcher) index() error {
	if m.byDigest != nil || m.failed != nil {
		return m.failed
	}
	sums, err := m.digests()
	if m.failed = err; err != nil {
		return err
	}
	m.byDigest = make(map[string][]int)
	for i, sum := range sums {
		m.sums[i], m.byDigest[sum] = sum, append(m.byDigest[sum], i)
	}
	return nil
}

// notUploaded are characters that Label Studio takes out of names of uploaded files.
var notUploaded = regexp.MustCompile(`[^-\pL\pN_.]`)

// slashes cleans a path and separates its elements with slashes.
func slashes(p string) string {
	if p == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean(strings.ReplaceAll(p, `\`, "/")), "/")
}
