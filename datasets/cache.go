package datasets

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Images holds the decoded pixels of a Dataset, all of one size, in a file. They are read one by
// one, so a data set may be larger than memory; the operating system's page cache keeps what
// fits. Images is safe for concurrent use until it is closed.
type Images struct {
	file  *os.File
	size  int
	sums  []uint32 // CRC-32C of every image
	start int64    // where the first image begins
	key   digest
}

// Size returns the width and height of every image in pixels.
func (im *Images) Size() int { return im.size }

// Len returns the number of images, which equals the number of examples.
func (im *Images) Len() int { return len(im.sums) }

// Digest returns the SHA-256, in hexadecimal, of the digests of the image files, in order, and
// the size. Equal digests mean equal pixels.
func (im *Images) Digest() string { return hex.EncodeToString(im.key[:]) }

// Path returns the path of the cache file.
func (im *Images) Path() string { return im.file.Name() }

// Close closes the file and leaves it in the cache.
func (im *Images) Close() error { return im.file.Close() }

// Read copies the pixels of example i into dst, which must have the size of the images. A
// checksum mismatch is an error and deletes the file, so that the next Prepare makes it again.
// Read panics if i is out of range.
func (im *Images) Read(i int, dst *rgb.Image) error {
	if dst.Width != im.size || dst.Height != im.size || len(dst.Pix) != imageBytes(im.size) {
		return fmt.Errorf("%s: images are %d x %d pixels, the destination is %d x %d", im.Path(), im.size, im.size, dst.Width, dst.Height)
	}
	want := im.sums[i]
	if _, err := im.file.ReadAt(dst.Pix, im.start+int64(i)*int64(len(dst.Pix))); err != nil {
		return fmt.Errorf("read image %d: %w", i, err)
	}
	if crc32.Checksum(dst.Pix, castagnoli) != want {
		return fmt.Errorf("%s: image %d: %w; %s", im.Path(), i, errDamaged, im.discard())
	}
	return nil
}

// discard deletes the file, unless it was replaced, and returns advice.
func (im *Images) discard() string {
	own, err := im.file.Stat()
	if err != nil {
		return "delete it: " + err.Error()
	}
	there, err := os.Stat(im.Path())
	if err == nil && os.SameFile(own, there) {
		err = os.Remove(im.Path())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "delete it: " + regular.Bare(err).Error()
	}
	return "it is deleted and will be made anew the next time"
}

// errDamaged is wrapped when a cache file is not what was written to it.
var errDamaged = errors.New("the image cache is damaged")

// A cache file is, in little-endian order:
//
//	magic   [8]byte
//	key     [32]byte, cacheKey
//	size    uint32
//	count   uint64
//	sums    [count]uint32, CRC-32C of each image
//	headSum uint32, CRC-32C of all the above
//	images  [count][size*size*3]byte
const (
	cacheMagic = "ledgimg\x01"
	fixedBytes = 8 + 32 + 4 + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func imageBytes(size int) int { return 3 * size * size }

func headBytes(count int) int64 { return fixedBytes + 4*int64(count) + 4 }

// cacheHead returns everything before the images.
func cacheHead(key digest, size int, sums []uint32) []byte {
	b := make([]byte, 0, headBytes(len(sums)))
	b = append(b, cacheMagic...)
	b = append(b, key[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(sums)))
	for _, s := range sums {
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// openCache opens a cache file. The error wraps errDamaged if its length or its head
// is wrong; the images are verified when they are read.
func openCache(path string, key digest, size, count int) (*Images, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("image cache: %w", err)
	}
	im, err := verifyCache(f, key, size, count)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return im, nil
}

func verifyCache(f *os.File, key digest, size, count int) (*Images, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	im := &Images{file: f, size: size, sums: make([]uint32, count), start: headBytes(count), key: key}
	if info.Size() != im.start+int64(count)*int64(imageBytes(size)) {
		return nil, fmt.Errorf("%w: it has %d bytes", errDamaged, info.Size())
	}
	head := make([]byte, im.start)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil, err
	}
	for i := range im.sums {
		im.sums[i] = binary.LittleEndian.Uint32(head[fixedBytes+4*i:])
	}
	if !bytes.Equal(head, cacheHead(key, size, im.sums)) {
		return nil, fmt.Errorf("%w: its head is wrong", errDamaged)
	}
	return im, nil
}

// lockInterval is how often a process asks whether another has finished.
const lockInterval = 50 * time.Millisecond

// buildCache makes the file at path. The caller holds its lock.
func buildCache(ctx context.Context, d *Dataset, path string, key digest, size int, sums []digest, progress func(done, total int)) (err error) {
	removeLeftovers(path)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	images, err := writeImages(ctx, d, f, size, sums, progress)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(cacheHead(key, size, images), 0); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write image cache: %w", err)
	}
	return nil
}

// removeLeftovers deletes what a killed process left of the same file.
func removeLeftovers(path string) {
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // creating the file will report the error
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+".") && strings.HasSuffix(e.Name(), ".tmp") {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// writeImages decodes all images into f, behind the room for the head, and
// returns their checksums.
func writeImages(ctx context.Context, d *Dataset, f *os.File, size int, sums []digest, progress func(done, total int)) ([]uint32, error) {
	checksums := make([]uint32, d.Len())
	start, length := headBytes(d.Len()), imageBytes(size)
	pool := sync.Pool{New: func() any { return rgb.New(size, size) }}
	var bad unreadable
	err := each(ctx, d.Len(), progress, func(i int) error {
		m := pool.Get().(*rgb.Image)
		defer pool.Put(m)
		sum, err := d.shrink(i, m)
		if err != nil {
			bad.add(d.Examples[i].ID, err)
			return nil // the others may be bad, too: report all in one error
		}
		if sum != sums[i] {
			return fmt.Errorf("%s: %w", d.Examples[i].ID, errChanged)
		}
		checksums[i] = crc32.Checksum(m.Pix, castagnoli)
		if _, err := f.WriteAt(m.Pix, start+int64(i)*int64(length)); err != nil {
			return fmt.Errorf("write image cache: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return checksums, bad.err()
}
