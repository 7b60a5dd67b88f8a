package examples

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/datasets"
)

// Shared caches data for several runs of one process: open files of features, which each run
// would otherwise read, check and normalise, and the initial labels that a strategy selected. On
// features these take most of a small run's time. The zero value is ready and safe for
// concurrent use.
type Shared struct {
	mu      sync.Mutex
	files   map[sharedKey]*sharedFile
	choices map[[sha256.Size]byte][]string
}

// Choice returns the IDs that choose selects, cached under key, the digest of everything that
// the selection depends on. The result must not be modified. A nil s caches nothing and does not
// call key.
func (s *Shared) Choice(key func() ([sha256.Size]byte, error), choose func() ([]string, error)) (ids []string, err error) {
	if s == nil {
		return choose()
	}
	k, err := key()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	ids, ok := s.choices[k]
	s.mu.Unlock()
	if ok {
		return ids, nil
	}
	if ids, err = choose(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.choices == nil {
		s.choices = map[[sha256.Size]byte][]string{}
	}
	s.choices[k] = ids
	return ids, nil
}

// sharedKey identifies the current content of a file and the data derived from it.
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

// openShared returns the vectors of f with their digest. They are shared, so the caller must not
// close them. It closes f if they are open already. A nil s shares nothing.
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
	return file.vectors.Of(f), file.digest, free, nil
}

func (file *sharedFile) read(ctx context.Context, f *datasets.Features, normal config.Normalisation, cacheDir string) {
	if file.digest, file.err = f.Digest(); file.err != nil {
		return
	}
	if file.vectors, file.err = f.Open(ctx, cacheDir); file.err == nil && normal != "" {
		file.vectors.Change(func(x []float32) { scaler.Normalise(normal, x) })
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

// Len returns the number of open files, counted once for each normalisation.
func (s *Shared) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files)
}

// Choices returns the number of cached selections.
func (s *Shared) Choices() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.choices)
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
