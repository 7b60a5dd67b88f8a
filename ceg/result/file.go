package result

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// CopyFile copies a file with [WriteFile], so that the copy is whole or not there.
func CopyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// WriteFile replaces the file at path by what write writes, whole or not at all:
// the content goes to a temporary file beside it, reaches the disk, and takes
// the name in one step. When anything fails (write's own error included) the
// old file is untouched and the temporary one removed; a process killed halfway
// leaves the old file and a hidden one whose name holds ".tmp-".
func WriteFile(path string, write func(w io.Writer) error) (err error) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
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

// FolderOf returns an error that names the folder if the one that a file is to be
// written into is not there.
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

// isTemp reports whether name is one that createTemp gives.
func isTemp(name string) bool {
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

// appendFile appends data to the file at path and waits until it is on the
// disk. If it cannot write everything it takes back what it wrote.
func appendFile(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		if info.Mode().IsRegular() {
			err = errors.Join(err, f.Truncate(info.Size()))
		}
		return err
	}
	return f.Sync()
}

// fileLength returns the length of the file at path in bytes, 0 if there is none.
func fileLength(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// truncateFile cuts the file at path to length bytes. A file that is absent or
// shorter has lost something, which is an error, unless length is 0.
func truncateFile(path string, length int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) && length == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < length {
		return fmt.Errorf("%s has %d bytes, want at least the %d of the checkpoint", path, info.Size(), length)
	}
	if info.Size() == length {
		return nil
	}
	if err := f.Truncate(length); err != nil {
		return err
	}
	return f.Sync()
}
