package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadPrivate returns the content of a regular file of at most most bytes that belongs to this
// user and that nobody else can read or write. Symbolic links are not followed.
func ReadPrivate(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = Check(info, most)
	}
	if err == nil {
		err = CheckOwner(info, 0o077)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// CheckOwner returns an error if a file or a folder belongs to another user, or if its mode has
// one of the bits of others. On systems other than Unix it returns nil.
func CheckOwner(info fs.FileInfo, others fs.FileMode) error {
	owner, self, ok := owners(info)
	switch mode := info.Mode().Perm(); {
	case !ok:
		return nil
	case owner != self:
		return fmt.Errorf("it belongs to user %d, and this is user %d", owner, self)
	case mode&others != 0:
		return fmt.Errorf("its mode is %#o, want none of the bits %#o", mode, others)
	}
	return nil
}
