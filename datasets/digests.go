package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// A stamp is what tells that a file has not changed without reading it.
type stamp struct {
	size  int64
	mtime int64 // nanoseconds since 1970
}

// remembered is a digest with the stamp of the file it was of.
type remembered struct {
	stamp
	sum digest
}

// settled is how old a file's modification time must be for its digest to be
// remembered: a file that is still being written could change again without
// its time moving.
const settled = 2 * time.Second

// index stores the digests of the images in a folder, by ID.
type index map[string]remembered

// has reports whether the file called id in fsys is one that was read before, as an
// image, and has not changed.
func (x index) has(fsys fs.FS, id string) bool {
	old, ok := x[id]
	if !ok {
		return false
	}
	now, err := stampOf(fsys, id)
	return err == nil && now == old.stamp
}

func stampOf(fsys fs.FS, id string) (stamp, error) {
	info, err := fs.Stat(fsys, id)
	if err != nil {
		return stamp{}, regular.Bare(err)
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}, nil
}

// digests returns the digest of every example. Files of a folder on disk are
// read only if the index in cacheDir does not hold the digest of a file of the
// same path, size and modification time; without useIndex, all are read. Files that
// cannot be read are an *UnreadableError.
func digests(ctx context.Context, d *Dataset, cacheDir string, useIndex bool) ([]digest, error) {
	sums := make([]digest, d.Len())
	var bad unreadable
	files, _ := d.source.(*fileSource)
	indexed := files != nil && files.root != ""
	var known index
	var path string
	if indexed {
		path = indexPath(cacheDir, d.Name, files.root)
		if useIndex {
			known = files.remembered(path)
		}
	}
	now := time.Now()
	found := make([]remembered, d.Len()) // with the zero stamp if not to be remembered
	var news atomic.Bool
	err := each(ctx, d.Len(), nil, func(i int) error {
		id := d.Examples[i].ID
		var s stamp
		if indexed {
			var err error
			if s, err = stampOf(files.fsys, rgb.FilePath(id)); err != nil {
				bad.add(id, err)
				return nil
			}
			if old, ok := known[id]; ok && old.stamp == s {
				sums[i], found[i] = old.sum, old
				return nil
			}
			news.Store(true)
		}
		sum, err := d.source.digest(i)
		if err != nil {
			bad.add(id, err)
			return nil
		}
		sums[i] = sum
		if indexed && now.Sub(time.Unix(0, s.mtime)) > settled {
			found[i] = remembered{s, sum}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	if indexed && (news.Load() || len(known) != d.Len()) {
		var lines []string
		for i, r := range found {
			if r != (remembered{}) {
				lines = append(lines, indexLine(d.Examples[i].ID, r))
			}
		}
		writeIndex(path, lines)
	}
	return sums, nil
}

// indexPath is where the digests of a data set's files in a root are remembered.
func indexPath(cacheDir, name, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(cacheDir, fmt.Sprintf("%s-%x.digests", fileName(name), sum[:8]))
}

// indexHead is the first line of an index file. Its number moves with contentDigest, and when a
// file is no longer an image.
const indexHead = "ledg digests 3"

// indexLine is "digest size mtime path", the path quoted.
func indexLine(id string, r remembered) string {
	return fmt.Sprintf("%x %d %d %s", r.sum, r.size, r.mtime, strconv.Quote(id))
}

func parseIndexLine(line string) (id string, r remembered, ok bool) {
	sum, rest, _ := strings.Cut(line, " ")
	size, rest, _ := strings.Cut(rest, " ")
	mtime, quoted, _ := strings.Cut(rest, " ")
	if len(sum) != hex.EncodedLen(sha256.Size) {
		return "", remembered{}, false
	}
	var err1, err2, err3, err4 error
	_, err1 = hex.Decode(r.sum[:], []byte(sum))
	r.size, err2 = strconv.ParseInt(size, 10, 64)
	r.mtime, err3 = strconv.ParseInt(mtime, 10, 64)
	id, err4 = strconv.Unquote(quoted)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return "", remembered{}, false
	}
	return id, r, true
}

// maxIndex is the most bytes that are read of an index.
const maxIndex = 4 << 30

// readIndex returns the stored index, which is empty if the file is missing or has a line that
// writeIndex did not write. To lose an index costs time only, and a wrong digest is noticed when
// the image is decoded.
func readIndex(path string) index {
	data, err := regular.Read(path, maxIndex)
	if err != nil {
		return nil
	}
	text := string(data)
	head, text, _ := strings.Cut(text, "\n")
	if head != indexHead {
		return nil
	}
	x := make(index, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		id, r, ok := parseIndexLine(strings.TrimSuffix(line, "\n"))
		if !ok {
			return nil
		}
		x[id] = r
	}
	return x
}

// writeIndex replaces the file unless it is the same already. It is an
// accelerator, so where it cannot be written, it is done without.
func writeIndex(path string, lines []string) {
	var b bytes.Buffer
	b.WriteString(indexHead + "\n")
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	if old, err := regular.Read(path, maxIndex); err == nil && bytes.Equal(old, b.Bytes()) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return
	}
	_ = regular.Write(path, b.Bytes()) // else the next one reads the files again
}

// Digest returns the SHA-256 of the file of example i in hexadecimal, or of the source of its
// generated pixels. It panics if i is out of range.
func (d *Dataset) Digest(i int) (string, error) {
	sum, err := d.source.digest(i)
	if err != nil {
		return "", fmt.Errorf("%s: %w", d.Examples[i].ID, err)
	}
	return hex.EncodeToString(sum[:]), nil
}

// Load reads example i once, and decodes it as [Dataset.ImageContext] does, unless known says of its
// [Dataset.Digest] that it need not: then m is nil.
func (d *Dataset) Load(ctx context.Context, i int, known func(digest string) bool) (m *rgb.Image, digest string, err error) {
	files, ok := d.source.(*fileSource)
	if !ok {
		if digest, err = d.Digest(i); err != nil || known(digest) {
			return nil, digest, err
		}
		m, err = d.ImageContext(ctx, i)
		return m, digest, err
	}
	b, err := files.content(i)
	if err == nil {
		sum := files.digestOf(i, b)
		if digest = hex.EncodeToString(sum[:]); known(digest) {
			return nil, digest, nil
		}
		m, err = files.decode(ctx, i, 0, b)
	}
	if err != nil {
		return nil, digest, fmt.Errorf("%s: %w", d.Examples[i].ID, err)
	}
	return m, digest, nil
}

// Digests returns the Digest of every example. Unchanged files whose digests are cached in
// cacheDir are not read again; an empty cacheDir means the default of Prepare.
func Digests(ctx context.Context, d *Dataset, cacheDir string) ([]string, error) {
	cacheDir, err := CacheFolder(cacheDir)
	if err != nil {
		return nil, err
	}
	sums, err := digests(ctx, d, cacheDir, true)
	if err != nil {
		return nil, fmt.Errorf("images of %s: %w", d.Name, err)
	}
	list := make([]string, len(sums))
	for i, sum := range sums {
		list[i] = hex.EncodeToString(sum[:])
	}
	return list, nil
}
