// Package shard divides a long list among machines. Each computes one [Shard] and leaves it in
// a [Journal] beside the file that is to come: out.2-of-4 is the third of four. A merge reads
// the journals' records first ([Together]) and writes what one machine would have written.
//
// A journal is the one file format for work that can be interrupted. It has a header that says
// of what, the items that are done, and an end. Every item carries a digest of all that stands
// before it, so flipped bits and another number in the header are found.
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

// Whole reports whether the shard is everything.
func (s Shard) Whole() bool { return s.Count == 0 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// MarshalText writes "i/n", and UnmarshalText reads it.
func (s Shard) MarshalText() ([]byte, error)        { return []byte(s.String()), nil }
func (s *Shard) UnmarshalText(b []byte) (err error) { *s, err = Parse(string(b)); return err }

// Range returns the items of the shard, [from, to) of n: consecutive ones, as many as in any
// other shard or one more.
func (s Shard) Range(n int) (from, to int) {
	if s.Whole() {
		return 0, n
	}
	// i*n/c without the product, which can overflow.
	at := func(i int) int { return n/s.Count*i + n%s.Count*i/s.Count }
	return at(s.Index), at(s.Index + 1)
}

// File is the journal of a shard of a file, beside it. For the whole it is the file.
func (s Shard) File(out string) string {
	if s.Whole() {
		return out
	}
	return fmt.Sprintf("%s.%d-of-%d", out, s.Index, s.Count)
}

// Journal is the path of the journal of a shard of a file, or of the whole file.
func (s Shard) Journal(out string) string {
	if s.Whole() {
		return out + ".part"
	}
	return s.File(out)
}

// Own are the files that a call makes beside a file until it is complete.
func (s Shard) Own(out string) []string {
	return []string{s.Journal(out), s.Journal(out) + lockSuffix}
}

var suffix = regexp.MustCompile(`^\.\d+-of-\d+(\..*)?$`)

// Belongs reports whether a path is a shard of a file or lies beside such a shard, as its lock
// does.
func Belongs(path, out string) bool {
	rest, ok := strings.CutPrefix(path, out)
	return ok && suffix.MatchString(rest)
}

// Find lists the shards beside a file.
func Find(out string) ([]string, error) {
	dir := filepath.Dir(out)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(out))
		if m := suffix.FindStringSubmatch(rest); ok && m != nil && m[1] == "" {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no shards lie beside it, such as %s", out, Shard{0, 4}.File(filepath.Base(out)))
	}
	return list, nil
}
