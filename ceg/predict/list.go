package predict

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/foreign"
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

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
