package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ledg-go/ledg/datasets/regular"
)

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
			err = errors.Join(err, os.Truncate(path, info.Size())) // f is open for appending, when Windows cuts nothing
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
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && length == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if err := regular.Check(info, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if info.Size() < length {
		return fmt.Errorf("%s has %d bytes, want at least the %d of the checkpoint", path, info.Size(), length)
	}
	if info.Size() == length {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(length); err != nil {
		return err
	}
	return f.Sync()
}
