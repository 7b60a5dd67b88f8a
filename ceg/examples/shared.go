package examples

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/standard"
	"github.com/ledg-go/ledg/datasets"
)

// Shared keeps files of features open for several runs of one process, which would
// otherwise read, check and normalise them each for itself: of a small run's second that
// is the larger half. The zero value is ready for use, by any number of goroutines.
type Shared struct {
	mu    sync.Mutex
	files map[sharedKey]*sharedFile
}

// sharedKey tells a file, as it is now, and what is made of it.
type sharedKey struct {
	path           string
	size, modified int64
	normal         config.Normalisation
}

// sharedFile is a file that is read once.
type sharedFile struct {
	sync.Once
	vectors *datasets.Vectors
	digest  string
	err     error
}

// openShared returns the vectors of f, of which nobody else may be closed by the caller, and
// their digest. It closes f if it has them already. A nil s shares nothing.
func (s *Shared) openShared(ctx context.Context, f *datasets.Features, normal config.Normalisation, cacheDir string) (v *datasets.Vectors, digest string, free func() error, err error) {
	if s == nil {
		file := &sharedFile{}
		file.read(ctx, f, normal, cacheDir)
		if file.err != nil {
			return nil, "", nil, file.err
		}
		return file.vectors, file.digest, file.vectors.Close, nil
	}
	key, err := keyOf(f.Path(), normal)
	if err != nil {
		return nil, "", nil, err
	}
	s.mu.Lock()
	if s.files == nil {
		s.files = map[sharedKey]*sharedFile{}
	}
	file := s.files[key]
	if file == nil {
		file = &sharedFile{}
		s.files[key] = file
	}
	s.mu.Unlock()
	first := false
	file.Do(func() {
		first = true
		file.read(ctx, f, normal, cacheDir)
	})
	if file.err != nil {
		s.mu.Lock()
		delete(s.files, key) // an interruption is no reason for the next to fail
		s.mu.Unlock()
		return nil, "", nil, file.err
	}
	free = func() error { return nil }
	if !first {
		free = f.Close
	}
	return file.vectors, file.digest, free, nil
}

func (file *sharedFile) read(ctx context.Context, f *datasets.Features, normal config.Normalisation, cacheDir string) {
	if file.digest, file.err = f.Digest(); file.err != nil {
		return
	}
	if file.vectors, file.err = f.Open(ctx, cacheDir); file.err == nil && normal != "" {
		file.vectors.Change(func(x []float32) { standard.Normalise(normal, x) })
	}
}

func keyOf(path string, normal config.Normalisation) (sharedKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return sharedKey{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return sharedKey{}, fmt.Errorf("features: %w", err)
	}
	return sharedKey{path, info.Size(), info.ModTime().UnixNano(), normal}, nil
}

// Len returns the number of files that are open, each once for every normalisation.
func (s *Shared) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files)
}

// Close closes the files. No run may be using them.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, file := range s.files {
		if file.vectors != nil {
			if e := file.vectors.Close(); err == nil {
				err = e
			}
		}
	}
	s.files = nil
	return err
}
