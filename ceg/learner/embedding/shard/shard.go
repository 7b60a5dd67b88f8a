// Package shard divides a long list of items among machines. Each machine processes one [Shard]
// and writes it to a [Journal] beside the final file: out.2-of-4 is the third of four. A merge
// checks the journals' records ([Together]) and writes the same file as one machine would.
//
// A journal is the file format of all interruptible work: a header that describes the content,
// the finished items, and an end mark. Every item has a digest of everything before it, so
// flipped bits and a changed header are found.
package shard

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Shard is one of Count shards; the first has Index 0. The zero Shard is the whole.
type Shard struct{ Index, Count int }

// Parse parses "i/n", with i from 0 to n-1.
func Parse(s string) (Shard, error) {
	a, b, ok := strings.Cut(s, "/")
	i, errI := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if !ok || errI != nil || errN != nil || n < 1 || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("%q, want i/n with i from 0 to n-1, such as 0/4", s)
	}
	return Shard{i, n}, nil
}

// Whole reports whether the shard is the whole list.
func (s Shard) Whole() bool { return s.Count == 0 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// MarshalText writes "i/n", and UnmarshalText reads it.
func (s Shard) MarshalText() ([]byte, error)        { return []byte(s.String()), nil }
func (s *Shard) UnmarshalText(b []byte) (err error) { *s, err = Parse(string(b)); return err }

// Range returns the items [from, to) of n: consecutive, with sizes that differ by at most one.
func (s Shard) Range(n int) (from, to int) {
	if s.Whole() {
		return 0, n
	}
	// i*n/c without the product, which can overflow.
	at := func(i int) int { return n/s.Count*i + n%s.Count*i/s.Count }
	return at(s.Index), at(s.Index + 1)
}

// File returns the path of the shard's journal beside a file; for the whole it is the file.
func (s Shard) File(out string) string {
	if s.Whole() {
		return out
	}
	return fmt.Sprintf("%s.%d-of-%d", out, s.Index, s.Count)
}

// Journal returns the path of the journal of a shard, or of the whole file.
func (s Shard) Journal(out string) string {
	if s.Whole() {
		return out + ".part"
	}
	return s.File(out)
}

// Own lists the temporary files beside an incomplete file.
func (s Shard) Own(out string) []string {
	return []string{s.Journal(out), s.Journal(out) + lockSuffix}
}

var suffix = regexp.MustCompile(`^\.\d+-of-\d+$`)

// Find lists the shards beside a file.
func Find(out string) ([]string, error) {
	dir := filepath.Dir(out)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), filepath.Base(out)); ok && suffix.MatchString(rest) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no shards lie beside it, such as %s", out, Shard{0, 4}.File(filepath.Base(out)))
	}
	return list, nil
}
