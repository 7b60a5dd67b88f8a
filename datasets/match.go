package datasets

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Finder finds the images that names in tables and in files of other tools stand for. Names are
// IDs, paths with folders in front that the ID lacks, the end of an ID, or one of these without
// extension. A folder in a name never contradicts the folders of its image, or of the data set's
// root. A Finder is not safe for concurrent use.
type Finder struct {
	ids []string
	// images is the number of IDs of images; those of left-out files follow.
	images int
	root   namedPath // without parts if it is not known
	// These are built when first needed: IDs and IDs without extension.
	whole, stems *nameIndex
}

// newFinder returns a finder of images with IDs below an absolute root, empty for an unknown
// one. leftOut are the IDs of files that are no images of the data set.
func newFinder(root string, ids []string, leftOut ...string) *Finder {
	return &Finder{ids: append(slices.Clip(ids), leftOut...), images: len(ids), root: parsePath(root)}
}

// Finder returns a finder of the data set's images.
func (d *Dataset) Finder() *Finder {
	root := ""
	switch s := d.source.(type) {
	case *fileSource:
		root = s.root
	case *Features:
		if root, _ = s.ImageRoot(); root == "" {
			o, _ := s.Origin()
			root = o.Root
		}
	}
	ids, leftOut := make([]string, d.Len()), make([]string, len(d.Skipped))
	for i, e := range d.Examples {
		ids[i] = e.ID
	}
	for i, f := range d.Skipped {
		leftOut[i] = f.ID
	}
	return newFinder(root, ids, leftOut...)
}

// fit is how a name fits an ID, best first.
type fit int

const (
	sameName  fit = iota // all of the ID
	longName             // folders in front are those of the root
	movedName            // an absolute path of another place
	shortName            // the end of the ID
)

// Found is the image of a name.
type Found struct {
	// Index is the image's index, -1 if Err is not nil.
	Index int
	// Fits are all images that the name may stand for. Several are an error.
	Fits []int
	// LeftOut reports that the name is of a file that is left out of the data set.
	LeftOut bool
	Err     error

	name   namedPath
	fit    fit
	stem   bool   // the name lacks the extension
	folder string // of a movedName: what stands for the root
	common int    // and how many of its folders are the root's
}

// Whole reports that the name is the whole ID, or this behind folders of the root.
func (f Found) Whole() bool { return f.Err == nil && f.fit <= longName && !f.stem }

// namedPath is a name as a path.
type namedPath struct {
	// from is where an absolute path begins, such as / or C:/, and empty for a relative one.
	from  string
	parts []string
	// whole reports that the path begins at the data set's root: ./name.
	whole bool
}

func (p namedPath) String() string { return p.from + strings.Join(p.parts, "/") }

// maxName is the maximum length of a name, in bytes.
const maxName = 1 << 12

// volume is how absolute paths begin: with a scheme and a host, a drive, a share, or a slash.
var volume = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+://[^/]*/|[A-Za-z]:/|//[^/]+/|/)`)

// parsePath reads a name as a path of this or another system, or as a URL.
func parsePath(name string) (p namedPath) {
	name = strings.ReplaceAll(strings.TrimSpace(name), `\`, "/")
	p.from = volume.FindString(name)
	rest := name[len(p.from):]
	if strings.Contains(p.from, "://") {
		rest, _, _ = strings.Cut(rest, "?")
		if plain, err := url.PathUnescape(rest); err == nil {
			rest = plain
		}
		p.from = strings.Replace(p.from, "file:///", "/", 1)
		if drive := volume.FindString(rest); p.from == "/" && drive != "" {
			p.from, rest = drive, rest[len(drive):]
		}
	}
	p.whole = strings.HasPrefix(rest, "./")
	if rest = path.Clean(SameName(rest)); rest != "." {
		p.parts = strings.Split(strings.TrimPrefix(rest, "/"), "/")
	}
	return p
}

// Find returns the image of a name.
func (n *Finder) Find(name string) Found {
	f := Found{Index: -1, Err: fmt.Errorf("%.200q is no image of the data set", name)}
	if len(name) > maxName || strings.TrimSpace(name) == "" {
		return f
	}
	n.build()
	f.name = parsePath(name)
	spellings := []string{name, Unguard(name)}
	if plain, err := url.PathUnescape(name); err == nil {
		spellings = append(spellings, plain)
	}
	for _, exact := range spellings[:2] { // with and without a spreadsheet's apostrophe both may be there
		f.Fits = append(f.Fits, n.exact(exact)...)
	}
	for _, spelling := range spellings {
		if len(f.Fits) == 0 {
			n.find(&f, parsePath(spelling))
		}
	}
	slices.Sort(f.Fits)
	f.Fits = slices.Compact(f.Fits)
	n.decide(&f, name)
	return f
}

// At returns an image as it is found by its ID.
func (n *Finder) At(i int) Found {
	return Found{Index: i, Fits: []int{i}, name: parsePath(n.ids[i])}
}

// exact returns the image with an ID.
func (n *Finder) exact(id string) []int {
	same := n.whole.path[SameName(id)]
	if i := slices.IndexFunc(same, func(i int) bool { return n.ids[i] == id }); i >= 0 {
		return same[i : i+1]
	}
	return same
}

// find fills in the images that a path fits.
func (n *Finder) find(f *Found, p namedPath) {
	if len(n.root.parts) > 0 && p.from == n.root.from && len(p.parts) > len(n.root.parts) && slices.Equal(p.parts[:len(n.root.parts)], n.root.parts) {
		p = namedPath{parts: p.parts[len(n.root.parts):], whole: true}
	}
	if len(p.parts) == 0 || p.parts[0] == ".." {
		return
	}
	for _, f.stem = range []bool{false, true} {
		index := n.whole
		if f.stem {
			index = n.stems
		}
		if p.from == "" {
			f.fit, f.Fits = sameName, slices.Clone(index.path[p.String()])
		}
		if len(f.Fits) == 0 && !p.whole {
			n.longer(f, p, index)
		}
		if len(f.Fits) == 0 && !p.whole && p.from == "" {
			f.fit = shortName
			for _, i := range index.base[p.parts[len(p.parts)-1]] {
				if strings.HasSuffix(n.spelled(i, f.stem), "/"+p.String()) {
					f.Fits = append(f.Fits, i)
				}
			}
		}
		if len(f.Fits) > 0 {
			return
		}
	}
}

// longer fills in the images that a path with more folders fits.
func (n *Finder) longer(f *Found, p namedPath, index *nameIndex) {
	root := n.root.parts
	for k := range p.parts {
		front, rest := p.parts[:k], p.parts[k:]
		fits := index.path[strings.Join(rest, "/")]
		if len(fits) == 0 {
			continue
		}
		common := 0
		for common < min(k, len(root)) && front[k-1-common] == root[len(root)-1-common] {
			common++
		}
		switch {
		case p.from == "" && k > 0 && (common == k || common > 0 && common == len(root) || k == 1 && slices.Contains(toolFolders, front[0])):
			f.fit = longName
		case p.from != "" && len(rest)+common > 1 && !n.another(p, fits):
			f.fit, f.folder, f.common = movedName, namedPath{from: p.from, parts: front}.String(), common
		default:
			continue
		}
		f.Fits = slices.Clone(fits)
		return
	}
}

// toolFolders are folders in which tools put all images.
var toolFolders = []string{"images", "data"}

// another reports whether an absolute path is of a file on this computer that is none of some images.
func (n *Finder) another(p namedPath, fits []int) bool {
	there, err := os.Stat(filepath.FromSlash(p.String()))
	return err == nil && !slices.ContainsFunc(fits, func(i int) bool {
		here, err := os.Stat(filepath.FromSlash(n.root.String() + "/" + n.ids[i]))
		return err == nil && os.SameFile(here, there)
	})
}

// decide takes the only image that a name fits, or says why there is none.
func (n *Finder) decide(f *Found, name string) {
	if len(f.Fits) == 1 {
		if i := f.Fits[0]; i < n.images {
			f.Index, f.Err = i, nil
		} else {
			f.LeftOut, f.Err = true, fmt.Errorf("%.200q is left out of the data set", name)
		}
		return
	}
	if len(f.Fits) > 1 {
		f.Err = fmt.Errorf("%.200q fits %d images, %s: want the path from the data set's folder", name, len(f.Fits), firstFew(n.idsOf(f.Fits)))
		return
	}
	for dir := path.Dir(strings.Join(f.name.parts, "/")); dir != "." && dir != "/"; dir = path.Dir(dir) { // a folder that is left out
		if slices.ContainsFunc(n.whole.path[dir], func(i int) bool { return i >= n.images }) {
			f.LeftOut, f.Err = true, fmt.Errorf("%.200q is left out of the data set", name)
			return
		}
	}
	if k := len(f.name.parts); k > 0 {
		switch same := n.whole.base[f.name.parts[k-1]]; len(same) {
		case 0:
		case 1:
			f.Err = fmt.Errorf("%w; %s has its name, but not its folders", f.Err, n.ids[same[0]])
		default:
			f.Err = fmt.Errorf("%w; %d images have its name, but not its folders", f.Err, len(same))
		}
	}
}

func (n *Finder) idsOf(list []int) (ids []string) {
	for _, i := range list {
		ids = append(ids, n.ids[i])
	}
	return ids
}

// spelled returns an ID as it is indexed.
func (n *Finder) spelled(i int, stem bool) string {
	id := SameName(n.ids[i])
	if stem {
		id = strings.TrimSuffix(id, path.Ext(id))
	}
	return id
}

func (n *Finder) build() {
	if n.whole != nil {
		return
	}
	n.whole, n.stems = newNameIndex(), newNameIndex()
	for i := range n.ids {
		n.whole.add(n.spelled(i, false), i)
		n.stems.add(n.spelled(i, true), i)
	}
}

// nameIndex holds indices of IDs, by path and by base name.
type nameIndex struct{ path, base map[string][]int }

func newNameIndex() *nameIndex {
	return &nameIndex{make(map[string][]int), make(map[string][]int)}
}

func (x *nameIndex) add(id string, i int) {
	base := path.Base(id)
	x.path[id], x.base[base] = append(x.path[id], i), append(x.base[base], i)
}

// Settle compares what the names of one file stand for, and turns what cannot all be right into
// errors. Of several names that fit an image, the best one has it, or none if several are
// equally good. Absolute paths of another place have one folder on each drive that stands for the
// root: the one with most of its folders. notes are lines about what is assumed.
func (n *Finder) Settle(list []Found) (notes []string) {
	n.settleMoved(list)
	best, names := make(map[int]int), make(map[int]map[string]bool)
	rank := func(f Found) int {
		if f.stem {
			return 2*int(f.fit) + 1
		}
		return 2 * int(f.fit)
	}
	for _, f := range list {
		if f.Err != nil {
			continue
		}
		r, met := best[f.Index]
		if !met || rank(f) < r {
			best[f.Index], names[f.Index] = rank(f), make(map[string]bool)
		}
		if rank(f) == best[f.Index] {
			names[f.Index][f.name.String()] = true
		}
	}
	moved := make(map[string]bool)
	for k := range list {
		f := &list[k]
		if f.Err != nil {
			continue
		}
		switch same := names[f.Index]; {
		case rank(*f) > best[f.Index]:
			f.Err = fmt.Errorf("%.200q is not taken for %s, which has the name %s in another line", f.name, n.ids[f.Index], firstFew(slices.Sorted(maps.Keys(same))))
		case len(same) > 1 && best[f.Index] > 0:
			f.Err = fmt.Errorf("%s all look like %s", firstFew(slices.Sorted(maps.Keys(same))), n.ids[f.Index])
		case f.fit == movedName && f.common < len(n.root.parts):
			moved[f.folder] = true
		}
	}
	for k := range list {
		if list[k].Err != nil {
			list[k].Index = -1
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(moved)) {
		notes = append(notes, fmt.Sprintf("paths in %s are taken for those in %s", folder, n.root))
	}
	return notes
}

// settleMoved lets one folder on each drive stand for the root.
func (n *Finder) settleMoved(list []Found) {
	most, folders := make(map[string]int), make(map[string][]string)
	for _, f := range list {
		from := f.name.from
		switch {
		case f.Err != nil || from == "":
			continue
		case f.fit != movedName: // in the root itself
			f.folder, f.common = n.root.String(), len(n.root.parts)
		}
		if len(folders[from]) == 0 || f.common > most[from] {
			most[from], folders[from] = f.common, nil
		}
		if f.common == most[from] && !slices.Contains(folders[from], f.folder) {
			folders[from] = append(folders[from], f.folder)
		}
	}
	for k := range list {
		f := &list[k]
		of := folders[f.name.from]
		switch {
		case f.Err != nil || f.fit != movedName:
		case len(of) > 1:
			f.Err = fmt.Errorf("%.200q: paths in %s all look like those in %s", f.name, firstFew(of), n.root)
		case of[0] != f.folder:
			f.Err = fmt.Errorf("%.200q is no image of the data set, where %s is %s", f.name, of[0], n.root)
		}
	}
}
