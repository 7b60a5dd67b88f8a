package datasets

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// entry is an Example with its class, or Unknown, while a data set is being put
// together.
type entry struct {
	Example
	class int
	given Split // as it is specified
}

// fileSource reads examples from a file system, where their IDs are paths.
type fileSource struct {
	d    *Dataset
	fsys fs.FS
	// root is the absolute path of fsys, or empty if it is not known to be a
	// folder on disk.
	root string
	// decoding says which pixels a file stands for.
	decoding rgb.Decoding
	// known is the index that was read when the folder was listed, until the next
	// use.
	known atomic.Pointer[knownIndex]
	seen  seen
	// kept returns the digest of an image whose file was compressed again without loss, if not nil.
	kept func(id string) digest
}

// knownIndex is an index and the path that it was read from.
type knownIndex struct {
	path  string
	index index
}

func (s *fileSource) remembered(path string) index {
	if k := s.known.Swap(nil); k != nil && k.path == path {
		return k.index
	}
	return readIndex(path)
}

func (s *fileSource) content(i int) ([]byte, error) {
	b, err := regular.ReadFS(s.fsys, rgb.FilePath(s.d.Examples[i].ID), rgb.MaxFile)
	return b, regular.Bare(err)
}

func (s *fileSource) digest(i int) (digest, error) {
	b, err := s.content(i)
	if err != nil {
		return digest{}, err
	}
	return s.digestOf(i, b), nil
}

// digestOf returns the digest of an image whose file is b.
func (s *fileSource) digestOf(i int, b []byte) digest {
	if s.kept != nil {
		return s.kept(s.d.Examples[i].ID)
	}
	return contentDigest(s.d.Examples[i].ID, b)
}

// contentDigest names the pixels of an item: the file's content, and for formats that were
// once decoded otherwise, how they are decoded now.
func contentDigest(id string, b []byte) digest { return digest(ItemHash(id, b).Sum(nil)) }

// ItemHash returns the hash whose sum is the [Dataset.Digest] of an item with this ID and this content
// of its file.
func ItemHash(id string, data []byte) hash.Hash {
	h := ContentHash(data)
	h.Write(data)
	if _, box, ok := rgb.CutBox(id); ok {
		fmt.Fprintf(h, "\x00box 1 %v", box)
	}
	return h
}

// ContentHash returns the hash whose sum over a file's bytes is its [Dataset.Digest]; head is
// the start of the file.
func ContentHash(head []byte) hash.Hash {
	h := registers.SHA256()
	if rev := rgb.Revision(head); rev != 0 {
		fmt.Fprintf(h, "decoded %d\x00", rev)
	}
	return h
}

func (s *fileSource) read(ctx context.Context, i, view int) (*rgb.Image, digest, error) {
	b, err := s.content(i)
	if err != nil {
		return nil, digest{}, err
	}
	m, err := s.decode(ctx, i, view, b)
	return m, s.digestOf(i, b), err
}

// decode decodes the content of example i.
func (s *fileSource) decode(ctx context.Context, i, view int, b []byte) (*rgb.Image, error) {
	m, facts, err := viewed(s.decoding, view).LookAt(ctx, s.d.Examples[i].ID, b)
	if err == nil {
		s.seen.note(i, facts)
	}
	return m, err
}

// assemble sorts the entries and makes them a data set over fsys.
func assemble(d *Dataset, fsys fs.FS, entries []entry) (*Dataset, Truth, error) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b entry) int { return compareExamples(a.Example, b.Example) })
	sortSkipped(d.Skipped)
	d.Examples = make([]Example, len(entries))
	t := Truth{classes: make([]int, len(entries))}
	for i, e := range entries {
		d.Examples[i], t.classes[i] = e.Example, e.class
		if d.SplitsBy != "" {
			d.given = append(d.given, e.given)
		}
	}
	d.source = &fileSource{d: d, fsys: fsys}
	if err := d.finish(t); err != nil {
		return nil, Truth{}, err
	}
	return d, t, nil
}

// lister walks folders of images and notes what it leaves out.
type lister struct {
	fsys    fs.FS
	exclude map[string]bool // IDs, set to true once they have been met
	// patterns leave files and folders out, and damaged are images that cannot be decoded, with
	// reasons by ID.
	patterns []string
	damaged  map[string]string
	known    index // files that need not be looked into
	// deep takes images of folders inside a class folder, too, and folders of a domain that
	// are none of classes, unless that is nil, for folders of images without a class.
	deep    bool
	classes []string
	// leaves returns the reason why a link is not followed; nil follows all.
	leaves  func(id string) error
	skipped []Skipped
	splits  bool // folders name them
	// looked reports the number of examined files; files is the number before.
	looked func(files int)
	files  int
}

func newLister(fsys fs.FS, exclude []string, known index) *lister {
	l := &lister{fsys: fsys, exclude: make(map[string]bool), known: known}
	for _, id := range exclude {
		l.exclude[id] = false
	}
	return l
}

func (l *lister) skip(id, reason string) {
	l.skipped = append(l.skipped, Skipped{ID: id, Reason: reason})
}

// excluded notes a file that the caller does not want.
func (l *lister) excluded(id string) bool {
	if reason, ok := l.damaged[id]; ok {
		l.skip(id, reason)
		return true
	}
	if _, listed := l.exclude[id]; !listed {
		return false
	}
	l.exclude[id] = true
	l.skip(id, "excluded by request")
	return true
}

// finish returns an error for excluded IDs that were never met.
func (l *lister) finish() error {
	var unmet []string
	for id, met := range l.exclude {
		if !met {
			unmet = append(unmet, id)
		}
	}
	if len(unmet) > 0 {
		slices.Sort(unmet)
		return fmt.Errorf("there is no image %s to exclude", strings.Join(unmet, ", "))
	}
	return nil
}

// folders returns the folders in dir, in byte order of their names. Files beside
// them are skipped with the given reason.
func (l *lister) folders(dir, reason string) ([]string, error) {
	names, files, err := l.read(dir)
	for _, name := range files {
		l.skip(path.Join(dir, name), reason)
	}
	return names, err
}

// images returns the IDs of the image files in dir, detected by their first bytes, and skips
// everything else. Only these bytes are read: damage further on is found in decoding. Known
// files are not opened.
func (l *lister) images(dir string) ([]string, error) {
	folders, files, err := l.read(dir)
	if err != nil {
		return nil, err
	}
	ids, err := l.pick(dir, files)
	for _, name := range folders {
		if inside := path.Join(dir, name); !l.deep {
			l.skip(inside, "a folder inside a class folder")
		} else if err == nil {
			var more []string
			more, err = l.images(inside)
			ids = append(ids, more...)
		}
	}
	return ids, err
}

// pick returns the IDs of those files in dir that are images, and skips the others.
func (l *lister) pick(dir string, files []string) ([]string, error) {
	var all []string
	for _, name := range files {
		if id := path.Join(dir, name); !l.excluded(id) {
			all = append(all, id)
		}
	}
	reasons := make([]string, len(all))
	var done func(done, total int)
	if l.looked != nil {
		done = func(done, _ int) { l.looked(l.files + done) }
	}
	err := each(context.Background(), len(all), done, func(i int) error {
		if !l.known.has(l.fsys, all[i]) {
			reasons[i] = notAnImage(l.fsys, all[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.files += len(all)
	var ids []string
	for i, id := range all {
		if reasons[i] != "" {
			l.skip(id, reasons[i])
		} else {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// walk calls each with the files of every folder.
func (l *lister) walk(each func(dir string, files []string) error) error {
	for open := []string{"."}; len(open) > 0; {
		here := open[len(open)-1]
		open = open[:len(open)-1]
		folders, files, err := l.read(here)
		if err != nil {
			return err
		}
		for _, name := range folders {
			open = append(open, path.Join(here, name))
		}
		if err := each(here, files); err != nil {
			return err
		}
	}
	return nil
}

// walkImages calls each with the ID of every image in all folders.
func (l *lister) walkImages(each func(id string) error) error {
	return l.walk(func(dir string, files []string) error {
		ids, err := l.pick(dir, files)
		for i := 0; i < len(ids) && err == nil; i++ {
			err = each(ids[i])
		}
		return err
	})
}

// read lists dir in byte order, following links, but for those that it must not follow, which it
// skips. Hidden files, and files of operating systems, are ignored.
func (l *lister) read(dir string) (folders, files []string, err error) {
	list, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range list {
		name := e.Name()
		if photo, reason := NoPhoto(name); reason != "" && !e.IsDir() {
			l.skip(path.Join(dir, photo), reason)
			continue
		}
		if Ignored(name) {
			continue
		}
		if p := matching(l.patterns, path.Join(dir, name)); p != "" {
			l.skip(path.Join(dir, name), "excluded by "+p)
			continue
		}
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			if l.leaves != nil {
				if err := l.leaves(path.Join(dir, name)); err != nil {
					l.skip(path.Join(dir, name), err.Error())
					continue
				}
			}
			info, err := fs.Stat(l.fsys, path.Join(dir, name))
			isDir = err == nil && info.IsDir() // a broken link fails later, as a file
		}
		if isDir {
			folders = append(folders, name)
		} else {
			files = append(files, name)
		}
	}
	return folders, files, nil
}

// notAnImage returns the reason why a file is not an image, or "".
func notAnImage(fsys fs.FS, id string) string {
	f, err := regular.OpenFS(fsys, id, math.MaxInt64)
	if err != nil {
		return "cannot be opened: " + regular.Bare(err).Error()
	}
	defer f.Close()
	var strange *fs.PathError
	switch err := rgb.Recognise(id, f); {
	case err == io.EOF:
		return "the file is empty: download or copy it again"
	case errors.As(err, &strange):
		return "cannot be read: " + regular.Bare(err).Error()
	case err != nil:
		return err.Error()
	}
	return ""
}
