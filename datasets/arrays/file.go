package arrays

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/regular"
)

// File is an open file of arrays. It is safe for concurrent use.
type File struct {
	path    string
	file    *os.File
	size    int64
	names   []string // sorted
	entries map[string]*zip.File
	notes   map[string]string   // metadata.json of .npz
	tensors *safetensors.Header // of .safetensors
	parquet *parquet.File       // of .parquet
}

// Open opens a file and reads its directory. The content determines the format.
func Open(path string) (*File, error) {
	file, err := regular.Open(path, math.MaxInt64)
	if err != nil {
		return nil, err // names the path
	}
	f := &File{path: path, file: file}
	if err := f.readDirectory(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	slices.Sort(f.names)
	return f, nil
}

func (f *File) readDirectory() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	f.size = info.Size()
	first := make([]byte, 9)
	n, err := f.file.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	first = first[:n]
	switch {
	case n == 0:
		return errors.New("is empty, want a .npz, .safetensors or .parquet file")
	case bytes.HasPrefix(first, []byte("PK\x03\x04")), bytes.HasPrefix(first, []byte("PK\x05\x06")):
		return f.readZip()
	case bytes.HasPrefix(first, []byte(npyMagic)):
		return errors.New("is a single .npy array, want a .npz archive of named arrays")
	case bytes.HasPrefix(first, []byte("PAR1")):
		return f.readParquet()
	case safetensors.Sniff(first):
		return f.readSafetensors()
	}
	return errors.New("is neither a .npz nor a .safetensors nor a .parquet file")
}

func (f *File) readZip() error {
	z, err := zip.NewReader(f.file, f.size)
	if err != nil {
		return fmt.Errorf("is not a complete .npz archive (truncated?): %w", err)
	}
	f.entries = map[string]*zip.File{}
	for _, e := range z.File {
		if e.Name == MetadataEntry {
			if f.notes, err = readMetadata(e); err != nil {
				return fmt.Errorf("%s: %w", MetadataEntry, err)
			}
		}
		name, ok := strings.CutSuffix(e.Name, ".npy")
		if !ok {
			continue
		}
		if f.entries[name] != nil {
			return fmt.Errorf("%s: is in the archive twice", name)
		}
		f.entries[name] = e
		f.names = append(f.names, name)
	}
	return nil
}

func (f *File) readSafetensors() error {
	var err error
	if f.tensors, err = safetensors.ParseHeader(f.file, f.size); err != nil {
		return err
	}
	for _, t := range f.tensors.Tensors {
		f.names = append(f.names, t.Name)
	}
	return nil
}

// MetadataEntry is the entry of a .npz archive that has the file's metadata, a JSON object of
// strings. NumPy has no such thing, and ignores it.
const MetadataEntry = "metadata.json"

// readMetadata reads an archive's metadata, of at most [safetensors.MaxHeader] bytes.
func readMetadata(e *zip.File) (map[string]string, error) {
	if e.UncompressedSize64 > safetensors.MaxHeader {
		return nil, fmt.Errorf("has %d bytes, want at most %d", e.UncompressedSize64, safetensors.MaxHeader)
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var m map[string]string
	if err := json.NewDecoder(io.LimitReader(r, safetensors.MaxHeader)).Decode(&m); err != nil {
		return nil, fmt.Errorf("is no JSON object of strings: %w", err)
	}
	return m, nil
}

// Metadata returns the metadata strings of the file; nil if there are none.
func (f *File) Metadata() map[string]string {
	switch {
	case f.notes != nil:
		return f.notes
	case f.tensors != nil:
		return f.tensors.Metadata
	case f.parquet != nil:
		all := map[string]string{}
		for _, kv := range f.parquet.Metadata().KeyValueMetadata {
			all[kv.Key] = kv.Value
		}
		return all
	}
	return nil
}

// Close closes the file; its arrays can no longer be read.
func (f *File) Close() error { return f.file.Close() }

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Names returns the names of all arrays, sorted.
func (f *File) Names() []string { return slices.Clone(f.names) }

// Has reports whether there is an array of that name.
func (f *File) Has(name string) bool {
	_, found := slices.BinarySearch(f.names, name)
	return found
}

// First returns the first of some names that an array has, "" for none.
func (f *File) First(names ...string) string {
	if i := slices.IndexFunc(names, f.Has); i >= 0 {
		return names[i]
	}
	return ""
}

// samples names the arrays that have an element or a row for each sample of a file of features or a pool,
// and for each of its labelled samples.
var samples = [2][]string{
	{"features", "class_logits", "class_probs", "domain_logits", "domain_probs", "domains", "groups", "labels", "splits", "split", "ids", "id", "paths", "path", "digests"},
	{"labelled_features", "labelled_class_logits", "labelled_class_probs", "labelled_labels", "labelled_domains", "labelled_groups"},
}

// CheckRows returns an error if arrays of samples differ in length. It reads the text among them.
func (f *File) CheckRows() error {
	for _, names := range samples {
		first, want := "", 0
		for _, name := range names {
			if !f.Has(name) {
				continue
			}
			a, err := f.Array(name)
			if err != nil || len(a.shape) == 0 || name == "features" && len(a.shape) == 1 {
				continue // which is reported where it is used
			}
			n, what := a.shape[0], "rows"
			if len(a.shape) == 1 {
				what = "elements"
			}
			if a.dtype == Bytes && a.width == 0 {
				list, err := Strings(a)
				if err != nil {
					return err
				}
				n, what = len(list), "strings"
			}
			if first == "" {
				first, want = name, n
			} else if n != want {
				return a.Errorf("%d %s, but %s has %d rows", n, what, first, want)
			}
		}
	}
	return nil
}

// Array returns the array of that name. A missing array is an error, and so is an unsupported
// type or layout.
func (f *File) Array(name string) (*Array, error) {
	if !f.Has(name) {
		has := "no arrays"
		if len(f.names) > 0 {
			has = strings.Join(f.names, ", ")
		}
		return nil, fmt.Errorf("%s: no array %q; the file has %s", f.path, name, has)
	}
	a := &Array{path: f.path, name: name}
	var err error
	switch {
	case f.tensors != nil:
		err = a.fromTensor(f.tensors)
	case f.parquet != nil:
		err = a.fromParquet(f.parquet)
	default:
		err = a.fromZip(f.file, f.entries[name], f.size)
	}
	if err != nil {
		return nil, a.Errorf("%w", err)
	}
	return a, nil
}

var tensorTypes = map[safetensors.DType]Type{safetensors.Float32: Float32, safetensors.Float64: Float64, safetensors.Int32: Int32,
	safetensors.Int64: Int64, safetensors.Float16: Float16, safetensors.BFloat16: BFloat16, safetensors.Uint8: Bytes}

func (a *Array) fromTensor(h *safetensors.Header) error {
	t, _ := h.Lookup(a.name)
	var ok bool
	if a.dtype, ok = tensorTypes[t.DType]; !ok {
		return fmt.Errorf("type %s, want %s", t.DType, supported)
	}
	a.shape = slices.Clone(t.Shape)
	a.open = func() (io.ReadCloser, error) { return io.NopCloser(t.Data()), nil }
	a.at = t.Data()
	return nil
}

// An entry may inflate to this many times its size in the archive plus maxInflated: what people
// compress is far below, and deflate goes up to 1,032 times.
const maxRatio, maxInflated = 64, 64 << 20

func (a *Array) fromZip(file io.ReaderAt, e *zip.File, fileSize int64) error {
	if e.CompressedSize64 > uint64(fileSize) || (e.UncompressedSize64-min(e.UncompressedSize64, maxInflated))/maxRatio > e.CompressedSize64 {
		return fmt.Errorf("damaged archive: %d bytes from %d in a file of %d (if that is right, store it without compression)", e.UncompressedSize64, e.CompressedSize64, fileSize)
	}
	r, err := e.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	h, err := readHeader(r)
	if err != nil {
		return err
	}
	a.dtype, a.shape, a.width = h.dtype, h.shape, h.width
	if data := e.UncompressedSize64 - uint64(h.length); uint64(h.length) > e.UncompressedSize64 || data != uint64(a.bytes()) {
		return fmt.Errorf("%s %v needs %d bytes, the file has %d (truncated?)", a.dtype, a.shape, a.bytes(), data)
	}
	if e.Method == zip.Store {
		if from, err := e.DataOffset(); err == nil {
			a.at = io.NewSectionReader(file, from+int64(h.length), a.bytes())
		}
	}
	a.open = func() (io.ReadCloser, error) {
		r, err := e.Open()
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, r, int64(h.length)); err != nil {
			r.Close()
			return nil, err
		}
		return r, nil
	}
	return nil
}
