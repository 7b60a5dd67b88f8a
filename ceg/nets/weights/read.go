package weights

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
)

// MaxFile is the size limit of a weights file in bytes, many times the size of this module's
// largest network with its optimizer state.
const MaxFile = 1 << 30

// Format names the container of a weights file.
type Format string

// Formats that can be read.
const (
	Safetensors  Format = "safetensors"
	TorchZip     Format = "PyTorch zip"    // torch.save since 1.6
	TorchPickles Format = "PyTorch legacy" // torch.save before 1.6
)

// File is a weights file in memory.
type File struct {
	// Name is the file's base name.
	Name   string
	Format Format
	// Size is the length of the file in bytes.
	Size int64
	// Digest is the SHA-256 of the whole file in lower-case hexadecimal.
	Digest string
	// Metadata is the metadata of a .safetensors file; otherwise nil.
	Metadata map[string]string
	// Tensors is the state dict, in memory.
	Tensors StateDict
	// Notes are short sentences about how the state dict was found in a checkpoint with other
	// content.
	Notes []string

	entry  string   // requested of several state dicts; empty for the usual one
	found  bool     // it is an entry of the checkpoint
	others []string // state dicts beside the one that was taken
}

// Open reads a weights file. path may be FILE:ENTRY, for one of several state dicts, or the tensors
// whose names begin with "ENTRY."; then Name and Digest name both. It is an error if path is not a regular file, or if the file is
// larger than [MaxFile], of unknown format, damaged, or names a refused global. Errors name the
// file and the tensor or global.
func Open(path string) (*File, error) {
	f, err := regular.Open(path, MaxFile)
	entry := ""
	if at := strings.LastIndexByte(path, ':'); at > 0 && errors.Is(err, fs.ErrNotExist) {
		if g, err2 := regular.Open(path[:at], MaxFile); err2 == nil {
			f, err, entry = g, nil, path[at+1:]
		}
	}
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	w, err := read(f, st.Size(), filepath.Base(strings.TrimSuffix(path, ":"+entry)), entry)
	if err != nil {
		return nil, fmt.Errorf("weights: %s: %w", path, err)
	}
	return w, nil
}

// read is [Open] on a reader of the given size. The content determines the format; the extension
// of name decides only if the content is too short or too damaged.
func read(r io.ReaderAt, size int64, name, entry string) (*File, error) {
	if size > MaxFile {
		return nil, fmt.Errorf("%d bytes, more than the limit of %d", size, int64(MaxFile))
	}
	first := make([]byte, min(size, 64))
	if err := regular.ReadAt(r, first, 0); err != nil {
		return nil, err
	}
	format, err := sniff(first, name)
	if err != nil {
		return nil, err
	}
	w := &File{Name: name, Format: format, Size: size, entry: entry}
	switch format {
	case Safetensors:
		err = w.readSafetensors(r)
	case TorchZip:
		err = w.readTorchZip(r)
	case TorchPickles:
		err = w.readTorchPickles(r)
	}
	if err != nil {
		return nil, err
	}
	if err := w.choose(); err != nil {
		return nil, err
	}
	if len(w.Tensors) == 0 {
		return nil, errors.New("the file holds no tensors")
	}
	sum := registers.SHA256()
	n, err := io.Copy(sum, io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	if n != size {
		return nil, fmt.Errorf("read %d bytes of %d: %w", n, size, io.ErrUnexpectedEOF)
	}
	if entry != "" {
		w.Name += ":" + entry
		sum.Write([]byte(w.Name[len(name):]))
	}
	w.Digest = hex.EncodeToString(sum.Sum(nil))
	return w, nil
}

// sniff tells the format from the first bytes, or failing that from the name.
func sniff(first []byte, name string) (Format, error) {
	ext := strings.ToLower(filepath.Ext(name))
	s := string(first)
	switch {
	case len(first) == 0:
		return "", errors.New("the file is empty")
	case strings.HasPrefix(s, "PK\x03\x04"): // whatever it is called
		return TorchZip, nil
	case safetensors.Sniff(first) || ext == ".safetensors" && !strings.HasPrefix(s, "version https://git-lfs"):
		return Safetensors, nil
	case strings.HasPrefix(s, "PK"):
		return TorchZip, nil
	case first[0] == '\x80':
		return TorchPickles, nil
	case strings.HasPrefix(s, "version https://git-lfs"):
		return "", errors.New("this is a Git LFS pointer, not the weights themselves; fetch them with `git lfs pull`")
	case strings.HasPrefix(strings.ToLower(strings.TrimSpace(s)), "<!doctype") || strings.HasPrefix(s, "<html"):
		return "", errors.New("this is a web page, not a weights file")
	case strings.ContainsAny(s[:1], "(]}c") && slices.Contains([]string{".pth", ".pt", ".bin", ".pkl"}, ext):
		return TorchPickles, nil // a pickle of protocol 0 or 1: not torch.save's, but its globals get named
	}
	return "", fmt.Errorf("neither a .safetensors file nor a PyTorch checkpoint (it starts with %q)", s[:min(len(s), 8)])
}

func (w *File) readSafetensors(r io.ReaderAt) error {
	h, err := safetensors.ParseHeader(r, w.Size)
	if err != nil {
		return err
	}
	w.Metadata = h.Metadata
	for _, t := range h.Tensors {
		data := make([]byte, t.Bytes()) // within the file: ParseHeader has checked
		if _, err := io.ReadFull(t.Data(), data); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		w.Tensors = append(w.Tensors, Tensor{Name: t.Name, DType: t.DType, Shape: t.Shape, Data: data})
	}
	return nil
}
