package predict

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// find lists the files in folders, at any depth, and the files that are named themselves, unless
// leaveOut says otherwise, in byte order, each once. In folders names that begin with a dot or are a
// system's are left out, and links to folders are not followed. Entries that cannot be images, such as
// a pipe, a broken link or an unreadable folder, are listed, too, so that reading them reports the
// error. A folder that goes away meanwhile is left out. A root that does not exist is an error.
func find(roots []string, leaveOut func(path string) bool) ([]string, error) {
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
	return slices.Compact(list), nil
}

// ignored reports whether a name stands for nothing, not even for a photo that is elsewhere.
func ignored(name string) bool {
	_, reason := datasets.NoPhoto(name)
	return datasets.Ignored(name) && reason == ""
}

// SameKind returns an error for a run on boxes and whole images, or the other way round; decoding is
// the run's.
func SameKind(decoding rgb.Decoding, boxes *datasets.Boxes) error {
	switch {
	case decoding.Boxes() && boxes == nil:
		return fmt.Errorf("the run was trained on boxes in images: %w", rgb.ErrNoBox)
	case !decoding.Boxes() && boxes != nil:
		return errors.New("the run was trained on whole images, and would not know the crops of boxes: leave out --boxes, or train on boxes")
	}
	return nil
}

// boxesIn returns the boxes in image files below roots, in byte order.
func boxesIn(roots, paths []string, b *datasets.Boxes) (items []string, of *datasets.BoxesOf, err error) {
	dir, root, fsys := "", "", fs.FS(files{})
	if len(roots) == 1 && isFolder(roots[0]) {
		dir, fsys = roots[0], os.DirFS(roots[0])
		if root, err = filepath.Abs(dir); err != nil {
			return nil, nil, err
		}
	}
	ids := make([]string, len(paths))
	for i, path := range paths {
		if ids[i] = filepath.ToSlash(path); dir != "" {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return nil, nil, err
			}
			ids[i] = filepath.ToSlash(rel)
		}
	}
	if of, err = b.Find(fsys, root, ids); err != nil {
		return nil, nil, err
	}
	for i, path := range paths {
		for k, id := range of.Items[i] {
			of.Items[i][k] = path + strings.TrimPrefix(id, ids[i])
		}
		items = append(items, of.Items[i]...)
	}
	slices.Sort(items)
	return items, of, nil
}

// files opens files by their paths.
type files struct{}

func (files) Open(name string) (fs.File, error) { return os.Open(filepath.FromSlash(name)) }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
