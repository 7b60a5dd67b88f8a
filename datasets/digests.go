package datasets

import (
	"bufio"
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
	"time"
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

// digests returns the digest of every example. Files of a folder on disk are
// read only if the index in cacheDir does not hold the digest of a file of the
// same path, size and modification time; without useIndex, all are read. Files that
// cannot be read are an *UnreadableError.
func digests(ctx context.Context, d *Dataset, cacheDir string, useIndex bool) ([]digest, error) {
	sums := make([]digest, d.Len())
	var bad unreadable
	files, _ := d.source.(*fileSource)
	indexed := files != nil && files.root != ""
	var index map[string]remembered
	var path string
	if indexed {
		path = indexPath(cacheDir, d.Name, files.root)
		if useIndex {
			index = readIndex(path)
		}
	}
	now := time.Now()
	lines := make([]string, d.Len())
	err := each(ctx, d.Len(), nil, func(i int) error {
		id := d.Examples[i].ID
		var s stamp
		if indexed {
			info, err := fs.Stat(files.fsys, id)
			if err != nil {
				bad.add(id, bare(err))
				return nil
			}
			s = stamp{info.Size(), info.ModTime().UnixNano()}
			if old, ok := index[id]; ok && old.stamp == s {
				sums[i] = old.sum
				lines[i] = indexLine(id, old)
				return nil
			}
		}
		sum, err := d.source.digest(i)
		if err != nil {
			bad.add(id, err)
			return nil
		}
		sums[i] = sum
		if indexed && now.Sub(time.Unix(0, s.mtime)) > settled {
			lines[i] = indexLine(id, remembered{s, sum})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	if indexed {
		writeIndex(path, lines)
	}
	return sums, nil
}

// indexPath is where the digests of a data set's files in a root are remembered.
func indexPath(cacheDir, name, root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(cacheDir, fmt.Sprintf("%s-%x.digests", fileName(name), sum[:8]))
}

// indexHead is the first line of an index file.
const indexHead = "ledg digests 1"

// indexLine is "digest size mtime path", the path quoted.
func indexLine(id string, r remembered) string {
	return fmt.Sprintf("%x %d %d %s", r.sum, r.size, r.mtime, strconv.Quote(id))
}

func parseIndexLine(line string) (id string, r remembered, ok bool) {
	fields := strings.SplitN(line, " ", 4)
	if len(fields) != 4 {
		return "", remembered{}, false
	}
	sum, err1 := hex.DecodeString(fields[0])
	size, err2 := strconv.ParseInt(fields[1], 10, 64)
	mtime, err3 := strconv.ParseInt(fields[2], 10, 64)
	id, err4 := strconv.Unquote(fields[3])
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || len(sum) != sha256.Size {
		return "", remembered{}, false
	}
	return id, remembered{stamp{size, mtime}, digest(sum)}, true
}

// readIndex returns what is remembered, which is nothing if the file is missing
// or has a line that was not written by writeIndex. To lose an index costs time
// only, and a wrong digest is noticed when the image is decoded.
func readIndex(path string) map[string]remembered {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	index := make(map[string]remembered)
	sc := bufio.NewScanner(bytes.NewReader(data))
	if !sc.Scan() || sc.Text() != indexHead {
		return nil
	}
	for sc.Scan() {
		id, r, ok := parseIndexLine(sc.Text())
		if !ok {
			return nil
		}
		index[id] = r
	}
	if sc.Err() != nil {
		return nil
	}
	return index
}

// writeIndex replaces the file unless it is the same already. It is an
// accelerator, so where it cannot be written, it is done without.
func writeIndex(path string, lines []string) {
	var b bytes.Buffer
	b.WriteString(indexHead + "\n")
	for _, line := range lines {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b.Bytes()) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return
	}
	_, err = f.Write(b.Bytes())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}
