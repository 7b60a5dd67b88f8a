package weights

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ledg-go/ledg/datasets/regular"
)

// loader turns the views of a checkpoint into tensors.
type loader struct {
	// read returns the bytes of the array that key names, at least size of them.
	read   func(key string, size int) ([]byte, error)
	loaded map[string][]byte
	// left is the number of bytes that may still be allocated: views may share a storage, and a
	// stride of zero repeats it, so a small file can require much memory.
	left int64
}

// newLoader allows what real checkpoints need (every array once, and once more
// as contiguous tensors, with room for tied weights) and no bomb.
func newLoader(fileSize int64, read func(string, int) ([]byte, error)) *loader {
	return &loader{read: read, loaded: map[string][]byte{}, left: 16<<20 + 4*fileSize}
}

func (l *loader) spend(n int) error {
	if int64(n) > l.left {
		return errors.New("the tensors need far more memory than the file is long")
	}
	l.left -= int64(n)
	return nil
}

// tensor reads the storage if it has not been read yet and copies the view out.
func (l *loader) tensor(name string, v *view) (Tensor, error) {
	t := Tensor{Name: name, DType: v.on.dtype, Shape: append([]int{}, v.shape...)}
	size := v.on.dtype.Size()
	data, ok := l.loaded[v.on.key]
	need := (v.on.offset + v.on.len) * size
	if !ok {
		if err := l.spend(need); err != nil {
			return t, err
		}
		var err error
		if data, err = l.read(v.on.key, need); err != nil {
			return t, fmt.Errorf("storage %q: %w", v.on.key, err)
		}
		l.loaded[v.on.key] = data
	}
	if len(data) < need {
		return t, fmt.Errorf("storage %q: %d bytes, but %d %s elements need %d", v.on.key, len(data), v.on.len, v.on.dtype, need)
	}
	n, err := v.numel()
	if err != nil {
		return t, err
	}
	if err := l.spend(n * size); err != nil {
		return t, err
	}
	t.Data = v.gather(data[v.on.offset*size:], n, size)
	return t, nil
}

// readTorchZip reads the container of torch 1.6 and later: a zip archive, nothing
// compressed, with a folder that holds data.pkl and data/KEY for each storage.
func (w *File) readTorchZip(r io.ReaderAt) error {
	zr, err := zip.NewReader(r, w.Size)
	if err != nil {
		return fmt.Errorf("damaged or truncated zip archive, to be fetched again: %w", err)
	}
	entries := make(map[string]*zip.File, len(zr.File))
	var prefix string
	var main *zip.File
	for _, e := range zr.File {
		if entries[e.Name] != nil {
			return fmt.Errorf("zip archive: entry %q occurs twice", e.Name)
		}
		entries[e.Name] = e
		if dir, base := path.Split(e.Name); base == "data.pkl" && strings.Count(dir, "/") <= 1 {
			if main != nil {
				return errors.New("zip archive: more than one data.pkl")
			}
			prefix, main = dir, e
		}
	}
	if main == nil {
		return errors.New("zip archive without data.pkl: not a PyTorch checkpoint")
	}
	if entries[prefix+"constants.pkl"] != nil {
		return errors.New("a TorchScript program, not a state dict (save model.state_dict() instead)")
	}
	if e := entries[prefix+"byteorder"]; e != nil {
		order, err := w.readEntry(e, 16)
		if err != nil {
			return err
		}
		if string(order) != "little" {
			return fmt.Errorf("byte order %q, want \"little\"", order)
		}
	}
	pkl, err := w.readEntry(main, maxPickle)
	if err != nil {
		return err
	}
	root, n, err := unpickle(pkl, func(id tuple) (any, error) { return storageOf(id, nil) })
	if err != nil {
		return fmt.Errorf("%s: %w", main.Name, err)
	}
	if n != len(pkl) {
		return fmt.Errorf("%s: %d bytes after the pickle", main.Name, len(pkl)-n)
	}
	l := newLoader(w.Size, func(key string, size int) ([]byte, error) {
		e := entries[prefix+"data/"+key]
		if e == nil {
			return nil, fmt.Errorf("the archive has no entry %q", prefix+"data/"+key)
		}
		if e.UncompressedSize64 != uint64(size) {
			return nil, fmt.Errorf("entry %q has %d bytes, want %d", e.Name, e.UncompressedSize64, size)
		}
		return w.readEntry(e, size)
	})
	return w.takeStateDict(root, l)
}

// readEntry reads an entry of at most that many bytes and checks its CRC-32.
// PyTorch stores entries as they are; a compressed one is refused, which leaves
// no room for a zip bomb.
func (w *File) readEntry(e *zip.File, most int) ([]byte, error) {
	fail := func(format string, args ...any) ([]byte, error) {
		return nil, fmt.Errorf("zip archive: entry %q %w", e.Name, fmt.Errorf(format, args...))
	}
	size := e.UncompressedSize64
	switch {
	case e.Flags&1 != 0:
		return fail("is encrypted")
	case e.Method != zip.Store || e.CompressedSize64 != size:
		return fail("is compressed, which PyTorch never does")
	case size > uint64(most):
		return fail("has %d bytes, more than %d", size, most)
	}
	off, err := e.DataOffset()
	if err != nil {
		return fail("is damaged: %w", err)
	}
	if off < 0 || off > w.Size || size > uint64(w.Size-off) {
		return fail("reaches beyond the end of the file")
	}
	rc, err := e.Open()
	if err != nil {
		return fail("is damaged: %w", err)
	}
	defer rc.Close()
	data := make([]byte, size)
	if _, err := io.ReadFull(rc, data); err != nil {
		return fail("is damaged: %w", err)
	}
	// At the end the reader compares the CRC-32.
	if _, err := io.Copy(io.Discard, rc); err != nil {
		return fail("is damaged: %w", err)
	}
	return data, nil
}

// storageOf reads a persistent ID. arrays, if not nil, collects the number of
// elements of every array by key: the older container needs them.
func storageOf(id tuple, arrays map[string]storage) (any, error) {
	s, err := parseStorageID(id)
	if err != nil || arrays == nil {
		return s, err
	}
	if had, ok := arrays[s.key]; ok && (had.dtype != s.dtype || had.len != s.len) {
		return nil, fmt.Errorf("storage %q: described in two ways", s.key)
	}
	arrays[s.key] = s
	if len(id) < 6 || id[5] == nil {
		return s, nil
	}
	// A slice of the array as a storage of its own: key, offset, length.
	t, ok := id[5].(tuple)
	if !ok || len(t) != 3 {
		return nil, fmt.Errorf("storage %q: bad description of a view", s.key)
	}
	offset, ok1 := t[1].(int)
	n, ok2 := t[2].(int)
	if !ok1 || !ok2 || offset < 0 || n < 0 || offset > s.len || n > s.len-offset {
		return nil, fmt.Errorf("storage %q: a view outside its %d elements", s.key, s.len)
	}
	s.offset, s.len = offset, n
	return s, nil
}

// Values at the start of the older container.
const legacyMagic, legacyProtocol = long("l\xfc\x9cF\xf9 j\xa8P\x19"), 1001

// readTorchPickles reads the container of torch before 1.6: five pickles (magic
// number, version, facts about the machine, the checkpoint, the keys of the
// storages in order), then for each key the number of elements as an int64 and
// the elements.
func (w *File) readTorchPickles(r io.ReaderAt) error {
	head := make([]byte, min(w.Size, 2*maxPickle))
	if err := regular.ReadAt(r, head, 0); err != nil {
		return err
	}
	at := 0
	next := func(what string, load func(tuple) (any, error)) (any, error) {
		v, n, err := unpickle(head[at:], load)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		at += n
		return v, nil
	}
	magic, err := next("first pickle", nil)
	if err != nil {
		return err
	}
	if magic != any(legacyMagic) {
		return errors.New("a pickle, but not one of torch.save (no magic number)")
	}
	version, err := next("version", nil)
	if err != nil {
		return err
	}
	if version != any(legacyProtocol) {
		return fmt.Errorf("version of the container is not %d", legacyProtocol)
	}
	machine, err := next("machine facts", nil)
	if err != nil {
		return err
	}
	if d, ok := entriesOf(machine); ok {
		for _, e := range d {
			if e.key == any("little_endian") && e.value != any(true) {
				return errors.New("written on a big-endian machine, which is not supported")
			}
		}
	}
	arrays := map[string]storage{}
	root, err := next("checkpoint", func(id tuple) (any, error) { return storageOf(id, arrays) })
	if err != nil {
		return err
	}
	keys, err := next("storage keys", nil)
	if err != nil {
		return err
	}
	where, err := w.legacyArrays(r, int64(at), keys, arrays)
	if err != nil {
		return err
	}
	l := newLoader(w.Size, func(key string, _ int) ([]byte, error) {
		off, ok := where[key]
		if !ok {
			return nil, errors.New("the file has no such storage")
		}
		size := arrays[key].len * arrays[key].dtype.Size() // all of it: other views may follow
		data := make([]byte, size)
		return data, regular.ReadAt(r, data, off)
	})
	return w.takeStateDict(root, l)
}

// legacyArrays returns where each array's elements begin, after checking that
// the arrays fill the file from byte at to its end.
func (w *File) legacyArrays(r io.ReaderAt, at int64, keys any, arrays map[string]storage) (map[string]int64, error) {
	l, ok := keys.(*list)
	if !ok {
		return nil, errors.New("storage keys: not a list")
	}
	where := make(map[string]int64, len(arrays))
	for _, k := range l.items {
		key, ok := k.(string)
		if !ok {
			return nil, errors.New("storage keys: not strings")
		}
		s, ok := arrays[key]
		if !ok {
			return nil, fmt.Errorf("storage %q is of no tensor", key)
		}
		if _, twice := where[key]; twice {
			return nil, fmt.Errorf("storage %q occurs twice", key)
		}
		var raw [8]byte
		if err := regular.ReadAt(r, raw[:], at); err != nil {
			return nil, fmt.Errorf("storage %q: %w: truncated file", key, err)
		}
		n := binary.LittleEndian.Uint64(raw[:])
		if n != uint64(s.len) {
			return nil, fmt.Errorf("storage %q: %d elements in the file, want %d", key, n, s.len)
		}
		size := int64(s.len) * int64(s.dtype.Size())
		if size > w.Size-at-8 {
			return nil, fmt.Errorf("storage %q: %d bytes needed, %d left: truncated file", key, size, w.Size-at-8)
		}
		where[key] = at + 8
		at += 8 + size
	}
	if at != w.Size {
		return nil, fmt.Errorf("%d bytes after the last storage", w.Size-at)
	}
	return where, nil
}
