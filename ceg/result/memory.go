package result

import (
	"io/fs"
	"strings"
	"time"
)

// memory are files by name, as a file system.
type memory map[string]string

// Open opens a file for reading.
func (m memory) Open(name string) (fs.File, error) {
	text, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return memoryFile{strings.NewReader(text), name}, nil
}

// memoryFile is an open file, and what there is to say about it.
type memoryFile struct {
	*strings.Reader
	name string
}

func (f memoryFile) Close() error               { return nil }
func (f memoryFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f memoryFile) Name() string               { return f.name }
func (f memoryFile) Mode() fs.FileMode          { return 0o444 }
func (f memoryFile) ModTime() time.Time         { return time.Time{} }
func (f memoryFile) IsDir() bool                { return false }
func (f memoryFile) Sys() any                   { return nil }
