// Package shard divides a long list among machines. Each works on one [Part] and leaves a
// file of it beside the file that is to come, out.2-of-4 for the third of four, in which a
// [Record] says what it is a part of. A merge reads the records first ([Together]), and makes
// what one machine would have made.
package shard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Part is one of Count parts, the first being 0. The zero Part is the whole.
type Part struct{ Index, Count int }

// Parse parses "i/n", with i from 0 to n-1.
func Parse(s string) (Part, error) {
	a, b, ok := strings.Cut(s, "/")
	i, errI := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if !ok || errI != nil || errN != nil || n < 1 || i < 0 || i >= n {
		return Part{}, fmt.Errorf("%q, want i/n with i from 0 to n-1, such as 0/4", s)
	}
	return Part{i, n}, nil
}

// Whole reports whether the part is everything.
func (p Part) Whole() bool { return p.Count == 0 }

func (p Part) String() string { return fmt.Sprintf("%d/%d", p.Index, p.Count) }

// MarshalText writes "i/n", and UnmarshalText reads it.
func (p Part) MarshalText() ([]byte, error)        { return []byte(p.String()), nil }
func (p *Part) UnmarshalText(b []byte) (err error) { *p, err = Parse(string(b)); return err }

// Range returns the items of the part, [from, to) of n: consecutive ones, as many as in any
// other part or one more.
func (p Part) Range(n int) (from, to int) {
	if p.Whole() {
		return 0, n
	}
	// i*n/c without the product, which need not fit.
	at := func(i int) int { return n/p.Count*i + n%p.Count*i/p.Count }
	return at(p.Index), at(p.Index + 1)
}

// File is where the part of a file belongs: beside it. That of the whole is the file.
func (p Part) File(out string) string {
	if p.Whole() {
		return out
	}
	return fmt.Sprintf("%s.%d-of-%d", out, p.Index, p.Count)
}

var suffix = regexp.MustCompile(`^\.\d+-of-\d+(\..*)?$`)

// Belongs reports whether a file is a part of another one, or something of such a part.
func Belongs(path, out string) bool {
	rest, ok := strings.CutPrefix(path, out)
	return ok && suffix.MatchString(rest)
}

// Find lists the parts that lie beside a file.
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
		return nil, fmt.Errorf("%s: no parts lie beside it, such as %s", out, Part{0, 4}.File(filepath.Base(out)))
	}
	return list, nil
}

// The kinds of parts.
const (
	Features    = "features"
	Predictions = "predictions"
	Query       = "query"
)

// Record says what a file is a part of.
type Record struct {
	Kind string `json:"kind"`
	Part Part   `json:"part"`
	// Total is the number of items of all parts together.
	Total int `json:"total"`
	// Of is everything else that the parts of a whole have in common, a JSON object.
	Of json.RawMessage `json:"of"`
}

// Key is that of the record in the metadata of a .safetensors file. Files of other formats
// have the record as their first line.
const Key = "part"

// maxLine is the longest first line, in bytes.
const maxLine = 1 << 20

// File is the file of a part.
type File struct {
	Path string
	Record
}

// Read reads the record of a file.
func Read(path string) (File, error) {
	f, err := regular.Open(path, math.MaxInt64)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	p := File{Path: path}
	line, err := recordOf(f)
	if err == nil {
		err = json.Unmarshal(line, &p.Record)
	}
	if err != nil || p.Part.Whole() || !slices.Contains([]string{Features, Predictions, Query}, p.Kind) || len(p.Of) == 0 {
		return File{}, fmt.Errorf("%s: is not a part of what ledg embed, predict or query make with --part, or a damaged one", path)
	}
	return p, nil
}

func recordOf(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(io.NewSectionReader(f, 0, min(maxLine, info.Size())))
	if first, err := r.Peek(9); err != nil || !safetensors.Sniff(first) {
		return r.ReadBytes('\n')
	}
	h, err := safetensors.ParseHeader(f, info.Size())
	if err != nil {
		return nil, err
	}
	return []byte(h.Metadata[Key]), nil
}

// Together returns the parts in their order. It is an error that names the files, if they
// are not of one whole, if one is there twice, or if one is missing.
func Together(paths []string) ([]File, error) {
	if len(paths) == 0 {
		return nil, errors.New("no parts")
	}
	files := make([]File, 0, len(paths))
	for _, path := range paths {
		f, err := Read(path)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	first := files[0]
	for _, f := range files[1:] {
		if what := first.differs(f); what != "" {
			return nil, fmt.Errorf("%s and %s do not belong together: %s", first.Path, f.Path, what)
		}
	}
	slices.SortStableFunc(files, func(a, b File) int { return a.Part.Index - b.Part.Index })
	for i, f := range files[1:] {
		if f.Part == files[i].Part {
			return nil, fmt.Errorf("part %s is there twice: %s and %s", f.Part, files[i].Path, f.Path)
		}
	}
	for i := range first.Part.Count {
		if missing := (Part{i, first.Part.Count}); i == len(files) || files[i].Part != missing {
			return nil, fmt.Errorf("part %s is missing; there are %d of %d", missing, len(files), first.Part.Count)
		}
	}
	return files, nil
}

// differs says in what the wholes of two parts differ; empty for nothing.
func (f File) differs(g File) string {
	switch {
	case f.Kind != g.Kind:
		return fmt.Sprintf("%s and %s", f.Kind, g.Kind)
	case f.Part.Count != g.Part.Count:
		return fmt.Sprintf("parts %s and %s", f.Part, g.Part)
	}
	value := func(raw json.RawMessage) (v any) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // a seed has more digits than a float64
		d.Decode(&v)  // which Read has checked
		return v
	}
	if what := differ("", value(f.Of), value(g.Of)); what != "" {
		return what
	}
	if f.Total != g.Total {
		return fmt.Sprintf("parts of %d and of %d", f.Total, g.Total)
	}
	return ""
}

// differ names the first value in which two JSON values differ.
func differ(name string, a, b any) string {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	if !isX || !isY {
		if reflect.DeepEqual(a, b) {
			return ""
		}
		text := func(v any) string { s, _ := json.Marshal(v); return string(s) }
		return fmt.Sprintf("%s is %s in one, %s in the other", strings.TrimPrefix(name, "."), text(a), text(b))
	}
	var keys []string
	for _, m := range []map[string]any{x, y} {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if what := differ(name+"."+k, x[k], y[k]); what != "" {
			return what
		}
	}
	return ""
}
