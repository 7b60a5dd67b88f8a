package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// maxFile is the largest file that is read, in bytes: what an image of rgb.MaxPixels
// takes without any compression, with 16 bits a channel.
const maxFile = 1 << 29

// decoder reads image files, several at a time as long as they are not large
// together.
type decoder struct {
	size   int
	pixels *semaphore.Weighted
}

func newDecoder(size int) *decoder {
	return &decoder{size: size, pixels: semaphore.NewWeighted(rgb.MaxPixels)}
}

// filled is a batch of files that have been read.
type filled struct {
	paths []string
	views []uint8
	// failed says of each path why it could not be read; nil if it could.
	failed []error
}

// read reads a batch of files. An error is ctx's; what is wrong with a file is
// said in the batch.
func (d *decoder) read(ctx context.Context, paths []string, batch int) (*filled, error) {
	n := 3 * d.size * d.size
	b := &filled{paths: paths, views: make([]uint8, batch*n), failed: make([]error, len(paths))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range paths {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			b.failed[i] = d.one(ctx, path, b.views[i*n:(i+1)*n:(i+1)*n])
			return context.Cause(ctx)
		})
	}
	return b, g.Wait()
}

// one reads a file and scales it into dst.
func (d *decoder) one(ctx context.Context, path string, dst []uint8) (err error) {
	defer func() {
		if r := recover(); r != nil { // no file may end the work on all others
			err = fmt.Errorf("the decoder failed: %v", r)
		}
	}()
	data, err := readFile(path)
	if err != nil {
		return err
	}
	width, height, err := rgb.Size(data)
	if err != nil {
		return err
	}
	weight := int64(width) * int64(height)
	if err := d.pixels.Acquire(ctx, weight); err != nil {
		return err
	}
	defer d.pixels.Release(weight)
	m, err := rgb.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	m.ResizeInto(&rgb.Image{Width: d.size, Height: d.size, Pix: dst})
	return nil
}

// readFile reads a file that begins as an image does, and of another its first
// bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path) // to open a pipe is to wait for its writer
	if err != nil {
		return nil, bare(err)
	}
	switch {
	case info.IsDir():
		return nil, noFolder(path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is no file but %s", kindOf(info.Mode()))
	case info.Size() > maxFile:
		return nil, fmt.Errorf("the file has %d bytes, the limit is %d", info.Size(), int64(maxFile))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, bare(err)
	}
	head = head[:n]
	if rgb.Format(head) == "" {
		return head, nil
	}
	data := make([]byte, 0, info.Size()+1)
	buf := bytes.NewBuffer(append(data, head...))
	if _, err := io.Copy(buf, io.LimitReader(f, maxFile)); err != nil {
		return nil, bare(err)
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
		return fmt.Errorf("the folder cannot be listed: %w", bare(err))
	}
	return errors.New("it is no file but a folder")
}

// kindOf says what is in a place for files.
func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// bare takes the path off an error: it is said beside it.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
