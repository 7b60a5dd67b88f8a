package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/regular"
)

// File is the journal of a shard to be merged.
type File struct {
	Path string
	Record
	header []byte
}

func parse(line []byte) (r Record, err error) {
	text, ok := bytes.CutPrefix(line, []byte(headerMark))
	if !ok || !bytes.HasSuffix(text, []byte("\n")) {
		return r, errors.New("no header")
	}
	return r, json.Unmarshal(text, &r)
}

// Read reads the record of a file. [File.Each] checks the rest.
func Read(path string) (File, error) {
	f, err := regular.Open(path, math.MaxInt64)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	p := File{Path: path}
	if p.header, err = readHeader(f); err == nil {
		p.Record, err = parse(p.header)
	}
	if err != nil || p.Shard.Whole() || p.Total < 0 || len(p.Of) == 0 {
		return File{}, fmt.Errorf("%s: it is no shard that ledg embed makes, or it is damaged: make it again", path)
	}
	return p, nil
}

// Each calls fn with the items of a complete shard and their offsets; an item is valid during
// the call. A damaged or incomplete shard is an error, possibly after some calls.
func (f File) Each(fn func(item []byte, at int64) error) error {
	file, err := regular.Open(f.Path, math.MaxInt64)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	s, err := scan(file, f.header, info.Size(), fn)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", f.Path, err)
	case s.damaged || s.ended && s.at != info.Size():
		return fmt.Errorf("%s: damaged after byte %d: delete it and make shard %s again", f.Path, s.at, f.Shard)
	case !s.ended:
		return fmt.Errorf("%s: shard %s is not complete; the command that makes it continues", f.Path, f.Shard)
	}
	return nil
}

// Apart returns an error if the file that a merge writes is one of the shards.
func Apart(files []File, out string) error {
	to, err := os.Stat(out)
	if err != nil {
		return nil // it is new
	}
	for _, f := range files {
		if from, err := os.Stat(f.Path); err == nil && os.SameFile(from, to) {
			return fmt.Errorf("%s is one of the shards: name another file to write", out)
		}
	}
	return nil
}

// Together returns the shards in order. It is an error that names the files if they belong to
// different files, or if a shard is repeated or missing.
func Together(paths []string) ([]File, error) {
	if len(paths) == 0 {
		return nil, errors.New("no shards")
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
		if what := first.differs(f.Record); what != "" {
			return nil, fmt.Errorf("%s and %s do not belong together: %s", first.Path, f.Path, what)
		}
	}
	slices.SortStableFunc(files, func(a, b File) int { return a.Shard.Index - b.Shard.Index })
	for i, f := range files[1:] {
		if f.Shard == files[i].Shard {
			return nil, fmt.Errorf("shard %s is there twice: %s and %s", f.Shard, files[i].Path, f.Path)
		}
	}
	for i := range first.Shard.Count {
		if missing := (Shard{i, first.Shard.Count}); i == len(files) || files[i].Shard != missing {
			return nil, fmt.Errorf("shard %s is missing; there are %d of %d", missing, len(files), first.Shard.Count)
		}
	}
	return files, nil
}

// differs says in what the files of two shards differ; empty for nothing.
func (f Record) differs(g Record) string {
	if f.Shard.Count != g.Shard.Count {
		return fmt.Sprintf("shards %s and %s", f.Shard, g.Shard)
	}
	if what := differ("", value(f.Of), value(g.Of)); what != "" {
		return what
	}
	if f.Total != g.Total {
		return fmt.Sprintf("shards of %d and of %d", f.Total, g.Total)
	}
	return ""
}

// value decodes JSON that was checked before.
func value(raw json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a seed has more digits than a float64
	d.Decode(&v)
	return v
}

// differ names the first value in which two JSON values differ.
func differ(name string, a, b any) string {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	if !isX || !isY {
		if reflect.DeepEqual(a, b) {
			return ""
		}
		text := func(v any) string {
			s, _ := json.Marshal(v)
			return string(s[:min(len(s), 200)])
		}
		return fmt.Sprintf("%s is %s in one, %s in the other", strings.TrimPrefix(name, "."), text(a), text(b))
	}
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if what := differ(name+"."+k, x[k], y[k]); what != "" {
			return what
		}
	}
	return ""
}
