package regular

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// CopyFile copies a file atomically, with [WriteFile].
func CopyFile(from, to string) error {
	f, err := Open(from, math.MaxInt64)
	if err != nil {
		return err
	}
	defer f.Close()
	return WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// WriteFile atomically replaces the file at path by the output of write: the content is written
// to a temporary file beside it, synced to disk, and renamed. On any error, including write's,
// the old file is unchanged and the temporary one removed. A killed process leaves the old file
// and a hidden temporary one whose name contains ".tmp-".
func WriteFile(path string, write func(w io.Writer) error) (err error) {
	dir, name := filepath.Split(path)
	dir = cmp.Or(dir, ".")
	if err := FolderOf(path); err != nil {
		return err
	}
	f, err := createTemp(dir, name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// Write is [WriteFile] of data.
func Write(path string, data []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// FolderOf returns an error that names the folder of a path if it does not exist.
func FolderOf(path string) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s to write %s into (%w)", dir, filepath.Base(path), fs.ErrNotExist)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s, to write %s into, is no folder", dir, filepath.Base(path))
	}
	return nil
}

// createTemp creates the first free file named ".name.tmp-<process>-<number>",
// with the permissions that a new file gets.
func createTemp(dir, name string) (*os.File, error) {
	for n := 0; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf(".%s%s%d-%d", name, tempMark, os.Getpid(), n))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

const tempMark = ".tmp-"

// IsTemp reports whether name names a temporary file of WriteFile.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, tempMark)
}

// syncDir makes the names in dir reach the disk.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // which cannot sync a directory
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
