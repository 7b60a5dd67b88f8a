// Package regular reads and writes regular files at untrusted paths, with size limits. It
// refuses pipes, which would block, and devices, which have no end; where required, it refuses
// symbolic links. It writes files atomically.
package regular

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ledg-go/ledg/datasets/registers"
)

// ErrKind and ErrSize are wrapped by errors about files that are not regular, and that are too
// large.
var (
	ErrKind = errors.New("want a regular file")
	ErrSize = errors.New("too large")
)

// Check returns an error if info does not describe a regular file of at most most bytes.
func Check(info fs.FileInfo, most int64) error {
	mode := info.Mode()
	kind := "a device"
	switch {
	case mode.IsRegular() && info.Size() > most:
		return fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrSize, info.Size(), most)
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	}
	return fmt.Errorf("it is %s, %w", kind, ErrKind)
}

// Open opens the regular file at path, of at most most bytes, for reading. The error names it.
func Open(path string, most int64) (*os.File, error) {
	f, err := OpenFS(dir{}, path, most)
	if err != nil {
		return nil, err
	}
	return f.(*os.File), nil
}

// dir is the file system of the process, with paths as the system takes them.
type dir struct{}

func (dir) Open(path string) (fs.File, error)     { return os.Open(path) }
func (dir) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// OpenFS is [Open] of the file called name in fsys.
func OpenFS(fsys fs.FS, name string, most int64) (fs.File, error) {
	if info, err := fs.Stat(fsys, name); err == nil { // checked before Open, which would block on a pipe; Open reports other errors
		if err := Check(info, most); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return fsys.Open(name)
}

// Read returns the content of the file that [Open] opens.
func Read(path string, most int64) ([]byte, error) { return ReadFS(dir{}, path, most) }

// ReadFS is [Read] of the file called name in fsys.
func ReadFS(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := OpenFS(fsys, name, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most { // it grows, or its file system does not report its size
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: at most %d bytes are read", ErrSize, most)}
	}
	return data, err
}

// Own opens the file at path for reading and writing, with further flags of os.OpenFile, and
// creates it if needed. A symbolic link is an error, and so is anything but a regular file.
func Own(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil {
		err = Check(info, info.Size())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow|flag, 0o666)
}

// Digest returns the SHA-256 of the file at path in hexadecimal.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := registers.SHA256()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ReadAt fills p from offset off of r. An early end is io.ErrUnexpectedEOF.
func ReadAt(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Lines reads r, with an error that wraps [ErrSize] for a line of more than most bytes.
func Lines(r io.Reader, most int) io.Reader { return &lines{r, most, 0} }

type lines struct {
	r           io.Reader
	most, since int
}

func (l *lines) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for rest := p[:n]; ; {
		i := bytes.IndexByte(rest, '\n')
		if l.since += len(rest); i >= 0 {
			l.since += i - len(rest)
		}
		if l.since > l.most {
			return n, fmt.Errorf("%w: a line has more than %d bytes", ErrSize, l.most)
		}
		if i < 0 {
			return n, err
		}
		rest, l.since = rest[i+1:], 0
	}
}

// Bare removes the path from an error of a file system, for a message that names the file already.
func Bare(err error) error {
	var named *fs.PathError
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}
