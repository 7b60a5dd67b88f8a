package datasets

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Prepare decodes every image of d, resizes it to size x size pixels with Pillow's BILINEAR
// filter (without keeping the aspect ratio), and returns the pixels, stored in one file in
// cacheDir. The file name is a hash of the image files' digests, the size and the decoding rule,
// so anything that changes pixels makes a new file. Files may be deleted at any time; Prepare
// deletes none. An empty cacheDir means the folder ledg in os.UserCacheDir.
//
// Images are decoded on GOMAXPROCS goroutines, and only if the file is missing or its length or
// header is wrong; pixels are verified when read. A complete file is renamed atomically, and
// concurrent processes wait for the one that writes it. Digests of image files are cached by
// size and modification time.
//
// progress, if not nil, is called after every decoded image, by one goroutine at a time; not at
// all if the file exists.
//
// Training must not drop images silently, so undecodable images are an *UnreadableError with all
// of them. To continue without them, list them in Exclude of the data set's options.
func Prepare(ctx context.Context, d *Dataset, size int, cacheDir string, progress func(done, total int)) (*Images, error) {
	im, err := prepare(ctx, d, size, cacheDir, progress)
	if err != nil {
		return nil, fmt.Errorf("images of %s: %w", d.Name, err)
	}
	return im, nil
}

// ImagesDigest returns the Digest of what [Prepare] makes of d, without decoding an image. Digests of
// unchanged files are taken from cacheDir.
func ImagesDigest(ctx context.Context, d *Dataset, size int, cacheDir string) (string, error) {
	cacheDir, err := CacheFolder(cacheDir)
	if err != nil {
		return "", err
	}
	sums, err := digests(ctx, d, cacheDir, true)
	if err != nil {
		return "", fmt.Errorf("images of %s: %w", d.Name, err)
	}
	key := cacheKey(size, sums, d.decoding())
	return hex.EncodeToString(key[:]), nil
}

// maxSize keeps a wrong number of pixels from filling a disk.
const maxSize = rgb.MaxSize

func prepare(ctx context.Context, d *Dataset, size int, cacheDir string, progress func(done, total int)) (*Images, error) {
	if size < 1 || size > maxSize {
		return nil, fmt.Errorf("size %d is not in 1..%d", size, maxSize)
	}
	cacheDir, err := CacheFolder(cacheDir)
	if err != nil {
		return nil, err
	}
	useIndex := true
	for {
		sums, err := digests(ctx, d, cacheDir, useIndex)
		if err != nil {
			return nil, err
		}
		im, err := openOrBuild(ctx, d, size, cacheDir, sums, progress)
		if errors.Is(err, errChanged) && useIndex {
			useIndex = false // a file changed, but neither its size nor its time
			continue
		}
		return im, err
	}
}

// CacheFolder returns dir, or the user's cache folder if it is empty.
func CacheFolder(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w", err)
	}
	return filepath.Join(user, "ledg"), nil
}

// openOrBuild opens the cache file, and makes it first if there is no good one.
func openOrBuild(ctx context.Context, d *Dataset, size int, cacheDir string, sums []digest, progress func(done, total int)) (*Images, error) {
	key := cacheKey(size, sums, d.decoding())
	path := filepath.Join(cacheDir, fmt.Sprintf("%s-%dpx-%x.ledgimg", fileName(d.Name), size, key[:8]))
	im, err := openCache(path, key, size, d.Len())
	if err == nil || !rebuildable(err) {
		return im, err
	}
	if err := os.MkdirAll(cacheDir, 0o777); err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	lock := regular.NewLock(path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return nil, fmt.Errorf("cache folder %s: cannot lock: %w", cacheDir, err)
	}
	defer lock.Unlock() // closing releases the lock; its file stays, for others may wait on it
	im, err = openCache(path, key, size, d.Len())
	if err == nil || !rebuildable(err) {
		return im, err // another process made it while this one waited
	}
	if err := buildCache(ctx, d, path, key, size, sums, progress); err != nil {
		return nil, err
	}
	return openCache(path, key, size, d.Len())
}

// rebuildable reports whether an error of openCache goes away when the file is
// made anew.
func rebuildable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errDamaged)
}

// fileName makes a data set's name fit for a file's name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
}

// cacheKey names the pixels of a data set at a size.
func cacheKey(size int, sums []digest, decoding rgb.Decoding) digest {
	h := registers.SHA256()
	// The version moves with the file format and with what Resize makes of the same
	// image; what Decode makes of a file is in its digest.
	h.Write([]byte("ledg images 1\x00"))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	for _, s := range sums {
		h.Write(s[:])
	}
	if decoding != rgb.Stored {
		h.Write([]byte(decoding))
	}
	return digest(h.Sum(nil))
}

// errChanged is wrapped when an image file is not the one its digest is of.
var errChanged = errors.New("the file changed while it was read")

// UnreadableError lists images that cannot be decoded.
type UnreadableError struct {
	// Files are sorted by ID; Reason is the decoder's error.
	Files []Skipped
}

// Error names the first few files.
func (e *UnreadableError) Error() string {
	items := make([]string, len(e.Files))
	for i, f := range e.Files {
		items[i] = f.ID + ": " + f.Reason
	}
	if len(items) == 1 {
		return "an image cannot be decoded: " + items[0]
	}
	return fmt.Sprintf("%d images cannot be decoded: %s", len(items), firstFew(items))
}

// unreadable collects images from several goroutines. The zero value is ready.
type unreadable struct {
	mu    sync.Mutex
	files []Skipped
}

func (u *unreadable) add(id string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.files = append(u.files, Skipped{ID: id, Reason: err.Error()})
}

// err returns the *UnreadableError, or nil if every image could be read.
func (u *unreadable) err() error {
	if len(u.files) == 0 {
		return nil
	}
	sortSkipped(u.files)
	return &UnreadableError{Files: u.files}
}

// each calls f with 0..n-1 on several goroutines, until one returns an error or ctx is done.
// done, if not nil, reports the number of finished calls after each.
func each(ctx context.Context, n int, done func(done, total int), f func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	finished := 0
	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := f(i); err != nil || done == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			finished++
			done(finished, n)
			return nil
		})
	}
	return g.Wait()
}

// shrink decodes and scales example i.
func (d *Dataset) shrink(i int, dst *rgb.Image) (digest, error) {
	m, sum, err := d.source.read(context.Background(), i, 0)
	if err == nil {
		m.ResizeInto(dst)
	}
	return sum, err
}
