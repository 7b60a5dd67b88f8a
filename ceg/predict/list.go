package predict

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/foreign"
)

// listing is the sorted list of the files of a call, of a shard its part.
type listing struct {
	paths []string
	// total is the number of all files, and digest a digest of their paths, sizes and times, once
	// only has been called.
	total  int
	digest []byte
}

// only keeps the paths of a shard, and computes the digest of all files. It does not read them:
// every shard would read all images.
func (l *listing) only(s shard.Shard) {
	h := sha256.New()
	for _, path := range l.paths {
		fmt.Fprintf(h, "%s\x00", path)
		if info, err := os.Stat(path); err == nil { // else reading it fails
			fmt.Fprintf(h, "%d %d", info.Size(), info.ModTime().UnixNano())
		}
	}
	l.digest = h.Sum(nil)
	from, to := s.Range(l.total)
	l.paths = l.paths[from:to]
}

// find lists the files in folders, at any depth, and the files that are named themselves, unless
// leaveOut says otherwise, in byte order, each once. In folders names that begin with a dot or are a
// system's are left out, and links to folders are not followed. Entries that cannot be images, such as
// a pipe, a broken link or an unreadable folder, are listed, too, so that reading them reports the
// error. A folder that goes away meanwhile is left out. A root that does not exist is an error.
func find(roots []string, leaveOut func(path string) bool) (*listing, error) {
	var list []string
	for _, root := range roots {
		info, err := os.Stat(root)
		if err != nil {
			return nil, err
		}
		root = filepath.Clean(root)
		if !info.IsDir() {
			if err := foreign.Check(root); err != nil {
				return nil, err
			}
			list = append(list, root)
			continue
		}
		// With the dot, a root that is a link is followed.
		err = filepath.WalkDir(root+string(filepath.Separator)+".", func(path string, e fs.DirEntry, err error) error {
			path = filepath.Clean(path)
			switch {
			case errors.Is(err, fs.ErrNotExist) || err == nil && path == root:
				return nil
			case err != nil: // the folder is among the files that cannot be read
			case ignored(e.Name()) || leaveOut(path):
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			case e.IsDir() || e.Type()&fs.ModeSymlink != 0 && isFolder(path):
				return nil
			}
			list = append(list, path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return &listing{paths: list, total: len(list)}, nil
}

// ignored reports whether a name stands for nothing, not even for a photo that is elsewhere.
func ignored(name string) bool {
	_, reason := datasets.NoPhoto(name)
	return datasets.Ignored(name) && reason == ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
