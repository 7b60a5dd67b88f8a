package predict

import (
	"bufio"
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/foreign"
)

// listing is a sorted list of paths of any length, in memory up to runLength and
// on the disk beyond: sorted runs in one temporary file, merged when read.
type listing struct {
	file  *os.File
	runs  []int64 // where they end
	chunk []string
	size  int64
	// total is the number of paths; each passes on the paths from from to to.
	total, from, to int
	digest          []byte // of all, once only has been called
}

// runLength is the number of paths in memory at a time.
const runLength = 1 << 16

func newListing() (*listing, error) {
	f, err := os.CreateTemp("", "ledg-paths-*")
	if err != nil {
		return nil, err
	}
	return &listing{file: f}, nil
}

func (l *listing) close() {
	l.file.Close()
	os.Remove(l.file.Name())
}

func (l *listing) add(path string) error {
	l.chunk = append(l.chunk, path)
	l.total++
	l.to = l.total
	if len(l.chunk) < runLength {
		return nil
	}
	return l.spill()
}

func (l *listing) spill() error {
	slices.Sort(l.chunk)
	w := bufio.NewWriterSize(l.file, 1<<16)
	for _, path := range l.chunk {
		b := append(binary.AppendUvarint(nil, uint64(len(path))), path...)
		w.Write(b) // its error stays for Flush
		l.size += int64(len(b))
	}
	clear(l.chunk)
	l.chunk = l.chunk[:0]
	l.runs = append(l.runs, l.size)
	return w.Flush()
}

// only has each pass on the paths of a shard, and computes a digest of all paths, sizes and
// times of the files. It does not read them: every shard would read all images.
func (l *listing) only(s shard.Shard) error {
	total, h := 0, sha256.New()
	if err := l.each(func(path string) error {
		total++
		fmt.Fprintf(h, "%s\x00", path)
		if info, err := os.Stat(path); err == nil { // else reading it fails
			fmt.Fprintf(h, "%d %d", info.Size(), info.ModTime().UnixNano())
		}
		return nil
	}); err != nil {
		return err
	}
	l.total, l.digest = total, h.Sum(nil)
	l.from, l.to = s.Range(total)
	return nil
}

// each calls f with every path in byte order, each once.
func (l *listing) each(f func(path string) error) error {
	i := 0
	return l.all(func(path string) error {
		i++
		if i <= l.from || i > l.to {
			return nil
		}
		return f(path)
	})
}

func (l *listing) all(f func(path string) error) error {
	var h runHeap
	slices.Sort(l.chunk)
	begin := int64(0)
	for _, end := range l.runs {
		r := bufio.NewReader(io.NewSectionReader(l.file, begin, end-begin))
		h = append(h, &sortedRun{next: func() (string, error) { return readPath(r) }})
		begin = end
	}
	rest := l.chunk
	h = append(h, &sortedRun{next: func() (string, error) {
		if len(rest) == 0 {
			return "", io.EOF
		}
		path := rest[0]
		rest = rest[1:]
		return path, nil
	}})
	all := h
	h = nil
	for _, r := range all {
		if err := r.advance(); err == nil {
			h = append(h, r)
		} else if !errors.Is(err, io.EOF) {
			return err
		}
	}
	heap.Init(&h)
	last, begun := "", false
	for len(h) > 0 {
		r := h[0]
		if !begun || r.path != last {
			last, begun = r.path, true
			if err := f(last); err != nil {
				return err
			}
		}
		switch err := r.advance(); {
		case err == nil:
			heap.Fix(&h, 0)
		case errors.Is(err, io.EOF):
			heap.Pop(&h)
		default:
			return err
		}
	}
	return nil
}

func readPath(r *bufio.Reader) (string, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return string(b), err
}

// sortedRun is a sorted run that is being read.
type sortedRun struct {
	path string
	next func() (string, error)
}

func (r *sortedRun) advance() (err error) {
	r.path, err = r.next()
	return err
}

// runHeap has the run with the smallest path first.
type runHeap []*sortedRun

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i].path < h[j].path }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*sortedRun)) }
func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// find lists the files in folders, at any depth, and the files that are named themselves, unless
// leaveOut says otherwise. In folders names that begin with a dot or are a system's are left out,
// and links to folders are not followed. Entries that cannot be images, such as a pipe, a broken link or an
// unreadable folder, are listed, too, so that reading them reports the error. A folder that goes
// away meanwhile is left out. A root that does not exist is an error.
func find(roots []string, leaveOut func(path string) bool) (_ *listing, err error) {
	l, err := newListing()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	for _, root := range roots {
		info, err := os.Stat(root)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			if err := foreign.Check(root); err != nil {
				return nil, err
			}
			if err := l.add(filepath.Clean(root)); err != nil {
				return nil, err
			}
			continue
		}
		if err := l.walk(filepath.Clean(root), leaveOut); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// walk lists the files of a folder. It reads folders piece by piece: os.ReadDir
// keeps a whole one in memory.
func (l *listing) walk(root string, leaveOut func(path string) bool) error {
	folders := []string{root}
	for len(folders) > 0 {
		dir := folders[len(folders)-1]
		inside, err := l.folder(dir, leaveOut)
		if err != nil {
			return err
		}
		folders = append(folders[:len(folders)-1], inside...)
	}
	return nil
}

// folder lists the files that are in a folder itself, and returns the folders in it.
func (l *listing) folder(dir string, leaveOut func(path string) bool) (folders []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, l.unlisted(dir, err)
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch kind := e.Type(); {
			case ignored(e.Name()) || leaveOut(path):
			case kind.IsDir():
				folders = append(folders, path)
			case kind&fs.ModeSymlink == 0 || !isFolder(path):
				if err := l.add(path); err != nil {
					return nil, err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return folders, nil
		}
		if err != nil {
			return folders, l.unlisted(dir, err)
		}
	}
}

// ignored reports whether a name stands for nothing, not even for a photo that is elsewhere.
func ignored(name string) bool {
	_, reason := datasets.NoPhoto(name)
	return datasets.Ignored(name) && reason == ""
}

// unlisted is about a folder that could not be listed: it is to be among the files
// that cannot be read, unless it has gone.
func (l *listing) unlisted(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return l.add(dir)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
