package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// decoder reads image files, scaled to squares.
type decoder struct {
	fit      rgb.Fit
	decoding rgb.Decoding
	known    *embedding.Known // features that need not be computed; may be nil

	mu   sync.Mutex
	seen datasets.PictureCount
}

// filled is a batch of files that have been read.
type filled struct {
	paths []string
	views []uint8
	// features are those that are known of each path; nil for the others.
	features [][]float32
	// failed says of each path why it could not be read; nil if it could.
	failed []error
}

// read reads a batch of files. An error is ctx's; errors of a file are in the batch.
func (d *decoder) read(ctx context.Context, paths []string) (*filled, error) {
	n := 3 * d.fit.Size * d.fit.Size
	b := &filled{paths: paths, views: make([]uint8, len(paths)*n), features: make([][]float32, len(paths)), failed: make([]error, len(paths))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range paths {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			b.features[i], b.failed[i] = d.one(ctx, path, b.views[i*n:(i+1)*n:(i+1)*n])
			return context.Cause(ctx)
		})
	}
	return b, g.Wait()
}

// one reads a file, and scales it into dst unless its features are known.
func (d *decoder) one(ctx context.Context, path string, dst []uint8) (features []float32, err error) {
	defer func() {
		if r := recover(); r != nil { // no file may end the work on all others
			err = fmt.Errorf("the decoder failed: %v", r)
		}
	}()
	data, err := readFile(rgb.FilePath(path))
	if err != nil {
		return nil, err
	}
	if d.known != nil && d.known.Len() > 0 {
		if features = d.known.Read(datasets.ItemHash(path, data)); features != nil {
			return features, nil
		}
	}
	m, facts, err := d.decoding.LookAt(ctx, path, data)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.seen.Add(facts)
	d.mu.Unlock()
	d.fit.Into(&rgb.Image{Width: d.fit.Size, Height: d.fit.Size, Pix: dst}, m)
	return nil, nil
}

// readFile reads the file of an image. Of another, it reads the first bytes.
func readFile(path string) ([]byte, error) {
	f, err := regular.Open(path, rgb.MaxFile)
	if info, at := os.Stat(path); err != nil && at == nil && info.IsDir() {
		return nil, noFolder(path)
	}
	if err != nil {
		return nil, regular.Bare(err)
	}
	defer f.Close()
	if _, reason := datasets.NoPhoto(filepath.Base(path)); reason != "" {
		return nil, errors.New(reason)
	}
	if err := rgb.Recognise(path, f); err != nil && !errors.Is(err, io.EOF) {
		return nil, regular.Bare(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, regular.Bare(err)
	}
	var buf bytes.Buffer
	if info, err := f.Stat(); err == nil {
		buf.Grow(int(info.Size()))
	}
	if _, err := io.Copy(&buf, io.LimitReader(f, rgb.MaxFile)); err != nil {
		return nil, regular.Bare(err)
	}
	return buf.Bytes(), nil
}

// noFolder says why a folder, which is not listed unless something is wrong with it, is
// no image.
func noFolder(path string) error {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		_, err = f.ReadDir(1)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the folder cannot be listed: %w", regular.Bare(err))
	}
	return errors.New("it is no file but a folder")
}

// Picture reads an image file as a viewer shows it, at its own size.
func Picture(path string) (*rgb.Image, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := rgb.Photo.Decode(context.Background(), data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Clean(path), err)
	}
	return m, nil
}
