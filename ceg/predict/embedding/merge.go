package embedding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// beside is the folder of the images from that of a file, as far as there is one.
func beside(path string, o datasets.Origin) string {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil || o.Root == "" {
		return ""
	}
	rel, err := filepath.Rel(dir, o.Root)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// partOf is what the parts of a file have in common.
type partOf struct {
	MadeBy json.RawMessage `json:"made_by"`
	Origin datasets.Origin `json:"origin"`
	// Rows is the number of all images, and a digest of their names, labels, domains and splits.
	Rows string `json:"rows"`
}

// partRecord is the record of a part of what the line says.
func partRecord(d *datasets.Dataset, truth datasets.Truth, line []byte, o Options) (string, error) {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, names := range [][]string{d.Classes, d.Domains} {
		e.Encode(names) // a hash takes everything
	}
	for i, x := range d.Examples {
		e.Encode([]any{x.ID, truth.Class(i), x.Domain, x.Split})
	}
	o.Origin.Beside = ""
	of, err := json.Marshal(partOf{line, o.Origin, fmt.Sprintf("%d, %s", d.Len(), hex.EncodeToString(h.Sum(nil)))})
	if err != nil {
		return "", err
	}
	record, err := json.Marshal(shard.Record{Kind: shard.Features, Part: o.Part, Total: d.Len(), Of: of})
	return string(record), err
}

// Merge writes the file of the parts that [Write] has left, given by [shard.Together]: that of
// one call for all images, to the byte, if the same engine computes on the same hardware.
// What is wrong with a part is found before anything is written, and all parts stay. Memory
// does not grow with the number of images.
func Merge(path string, files []shard.File) (images int, err error) {
	if ext := filepath.Ext(path); ext != ".safetensors" {
		return 0, fmt.Errorf("%s: features are written as .safetensors", path)
	}
	var of partOf
	if err := json.Unmarshal(files[0].Of, &of); err != nil {
		return 0, fmt.Errorf("%s: %w", files[0].Path, err)
	}
	of.Origin.Beside = beside(path, of.Origin)
	origin, err := json.Marshal(of.Origin)
	if err != nil {
		return 0, err
	}
	var entries []safetensors.Entry
	var metadata map[string]string
	for _, p := range files {
		f, err := regular.Open(p.Path, math.MaxInt64)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return 0, err
		}
		h, err := safetensors.ParseHeader(f, info.Size())
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.Path, err)
		}
		if metadata == nil {
			metadata = maps.Clone(h.Metadata)
			metadata[datasets.OriginKey] = string(origin)
			delete(metadata, shard.Key)
		}
		if entries, err = appendPart(entries, p, h); err != nil {
			return 0, fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return files[0].Total, regular.WriteFile(path, func(w io.Writer) error { return safetensors.Write(w, entries, metadata) })
}

// appendPart appends the tensors of a part to those of the parts before it.
func appendPart(entries []safetensors.Entry, p shard.File, h *safetensors.Header) ([]safetensors.Entry, error) {
	from, to := p.Part.Range(p.Total)
	if entries == nil {
		for _, x := range h.Tensors {
			entries = append(entries, safetensors.Entry{Name: x.Name, DType: x.DType, Shape: slices.Concat([]int{0}, x.Shape[min(1, len(x.Shape)):])})
		}
	}
	if len(h.Tensors) != len(entries) {
		return nil, fmt.Errorf("%d tensors, want %d", len(h.Tensors), len(entries))
	}
	for i := range entries {
		e := &entries[i]
		x, ok := h.Lookup(e.Name)
		if !ok || x.DType != e.DType || len(x.Shape) != len(e.Shape) || !slices.Equal(x.Shape[1:], e.Shape[1:]) {
			return nil, fmt.Errorf("no tensor %s that goes on with that of the part before", e.Name)
		}
		rows := x.Shape[0]
		switch e.Name {
		case "class_names", "domain_names": // of all parts
			e.Shape[0], e.From = rows, x.Data()
			continue
		case "ids":
			ids, err := texts(h, "ids")
			if err != nil {
				return nil, err
			}
			rows = len(ids)
		case "digests":
			rows /= digestLine
		}
		if rows != to-from {
			return nil, fmt.Errorf("%s of %d images, want %d for part %s of %d", e.Name, rows, to-from, p.Part, p.Total)
		}
		e.Shape[0] += x.Shape[0]
		if e.From == nil {
			e.From = x.Data()
		} else {
			e.From = io.MultiReader(e.From, x.Data())
		}
	}
	return entries, nil
}
