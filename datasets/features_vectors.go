package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/regular"
)

// ViewKind is the kind of a stored view.
type ViewKind string

// Kinds of views. AnyView is an augmented view of unknown kind.
const (
	CleanView  ViewKind = "clean"
	WeakView   ViewKind = "weak"
	StrongView ViewKind = "strong"
	AnyView    ViewKind = "any"
)

// Features are the feature vectors of a data set.
type Features struct {
	// Views are the kinds of the stored views of every example; the first is clean.
	Views []ViewKind
	// Dim is the length of a feature vector.
	Dim int

	path      string
	array     *arrays.Array // [rows, views*dim]
	rows      []int         // of the examples
	examples  []Example
	originals *originals       // nil where the file does not say
	names     *ClassEmbeddings // likewise
	close     func() error
}

// Features returns the data set's feature vectors; ok is false if it has images.
func (d *Dataset) Features() (f *Features, ok bool) {
	f, ok = d.source.(*Features)
	return f, ok
}

func (f *Features) errorf(i int, err error) error {
	return fmt.Errorf("%s: features: %s (row %d): %w", f.path, f.examples[i].ID, f.rows[i], err)
}
func (f *Features) size() int64 { return int64(len(f.rows)) * int64(len(f.Views)*f.Dim) * 4 }

// Len returns the number of examples.
func (f *Features) Len() int { return len(f.rows) }

// Path returns the path of the file.
func (f *Features) Path() string { return f.path }

// Close closes the file.
func (f *Features) Close() error { return f.close() }

// Digest returns the SHA-256 of the whole file in hexadecimal. This process reads a file again only
// if its size or modification time has changed.
func (f *Features) Digest() (string, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return "", err
	}
	key := wholeFile{f.path, stamp{info.Size(), info.ModTime().UnixNano()}}
	if sum, ok := wholeFiles.Load(key); ok {
		return sum.(string), nil
	}
	sum, err := regular.Digest(f.path)
	if err == nil && time.Since(info.ModTime()) > settled {
		wholeFiles.Store(key, sum)
	}
	return sum, err
}

// wholeFile is a file in the state in which wholeFiles has its digest.
type wholeFile struct {
	path string
	stamp
}

var wholeFiles sync.Map

// Vectors provides random access to features.
type Vectors struct {
	*Features
	memory []float32 // all rows, or nil
	array  *arrays.Array
	spill  *os.File
}

// inMemory is up to how many bytes of float32 [Features.Open] keeps all features.
const inMemory = 1 << 30

// Open prepares random access. Up to a GiB of features is read into memory. Larger ones are read
// from the file; compressed and Parquet files are first unpacked into an unnamed temporary file
// in cacheDir. Vectors are safe for concurrent use.
func (f *Features) Open(ctx context.Context, cacheDir string) (*Vectors, error) {
	v := &Vectors{Features: f, array: f.array}
	switch {
	case f.size() <= inMemory:
		all, err := arrays.ReadAll[float32](ctx, f.array)
		if err != nil {
			return nil, err
		}
		v.memory = all
		for i := range f.rows {
			if err := v.check(i, v.row(i)); err != nil {
				return nil, err
			}
		}
	case f.array.ReaderAt() == nil:
		if err := v.unpack(ctx, cacheDir); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// OpenFew is Open for reading only a few vectors: they stay in the file if possible.
func (f *Features) OpenFew(ctx context.Context, cacheDir string) (*Vectors, error) {
	if f.array.ReaderAt() == nil {
		return f.Open(ctx, cacheDir)
	}
	return &Vectors{Features: f, array: f.array}, nil
}

func (v *Vectors) row(i int) []float32 {
	n := len(v.Views) * v.Dim
	return v.memory[v.rows[i]*n : (v.rows[i]+1)*n]
}

// check returns an error if a feature of example i is not a number.
func (v *Vectors) check(i int, x []float32) error {
	for j, y := range x {
		if y-y != 0 {
			return v.errorf(i, fmt.Errorf("feature %d is %v", j%v.Dim, y))
		}
	}
	return nil
}

// unpack writes the features to a file without a name.
func (v *Vectors) unpack(ctx context.Context, cacheDir string) error {
	dir, err := CacheFolder(cacheDir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	temp, err := os.CreateTemp(dir, "features-*.raw")
	if err != nil {
		return err
	}
	name := temp.Name()
	temp.Close()
	root, err := os.OpenRoot(dir) // whose files Windows, too, removes while they are open
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	defer root.Close()
	if v.spill, err = root.OpenFile(filepath.Base(name), os.O_RDWR, 0); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	err = arrays.Unpack(ctx, v.Features.array, v.spill)
	if err == nil {
		v.array, err = arrays.Raw(v.Features.array, v.spill)
	}
	return errors.Join(err, os.Remove(name))
}

// View returns a view of example i if all features are in memory, else nil. It must not be
// modified.
func (v *Vectors) View(i, view int) []float32 {
	if v.memory == nil {
		return nil
	}
	return v.row(i)[view*v.Dim : (view+1)*v.Dim]
}

// Read copies a view of example i to dst, which has Dim elements. scratch belongs to the caller
// and may grow.
func (v *Vectors) Read(i, view int, dst []float32, scratch *[]byte) error {
	if x := v.View(i, view); x != nil {
		copy(dst, x)
		return nil
	}
	first := v.rows[i]*len(v.Views)*v.Dim + view*v.Dim
	if err := arrays.ReadAt(v.array, first, dst, scratch); err != nil {
		return v.errorf(i, err)
	}
	return v.check(i, dst)
}

// Change applies fn to every vector in memory, in place and on several goroutines. It returns
// false, without effect, if they are not in memory. It must not run concurrently with Read.
func (v *Vectors) Change(fn func(x []float32)) bool {
	if v.memory == nil {
		return false
	}
	n := len(v.memory) / v.Dim
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				fn(v.memory[i*v.Dim : (i+1)*v.Dim])
			}
		})
	}
	wg.Wait()
	return true
}

// Of returns the same vectors in the order of f, which has opened the same file with other domains
// or labels. Closing it is closing v.
func (v *Vectors) Of(f *Features) *Vectors {
	other := *v
	other.Features = f
	return &other
}

// InMemory reports whether all features are in memory.
func (v *Vectors) InMemory() bool { return v.memory != nil }

// Row returns the file's row of example i.
func (v *Vectors) Row(i int) int { return v.rows[i] }

// Close frees memory and temporary files, and closes the file.
func (v *Vectors) Close() error {
	v.memory = nil
	if v.spill != nil {
		v.spill.Close()
	}
	return v.Features.Close()
}
