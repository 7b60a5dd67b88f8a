package arrays

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// npyMagic begins every .npy file.
const npyMagic = "\x93NUMPY"

// maxHeader bounds the header of a .npy file; NumPy itself reads 10,000 bytes.
const maxHeader = 1 << 16

// header is the header of a .npy file that can be read.
type header struct {
	dtype  Type
	shape  []int
	width  int // of strings
	length int // bytes before the data
}

// readHeader reads the header of a .npy file, version 1.0, 2.0 or 3.0
// (numpy/lib/format.py).
func readHeader(r io.Reader) (header, error) {
	lead := make([]byte, len(npyMagic)+2)
	if err := readFull(r, lead); err != nil {
		return header{}, fmt.Errorf("reading .npy header: %w", err)
	}
	if string(lead[:len(npyMagic)]) != npyMagic {
		return header{}, errors.New("is not a .npy array")
	}
	size := make([]byte, 4)
	switch major := lead[len(npyMagic)]; major {
	case 1:
		size = size[:2]
	case 2, 3:
	default:
		return header{}, fmt.Errorf(".npy version %d.%d, want 1.0 to 3.0", major, lead[len(npyMagic)+1])
	}
	if err := readFull(r, size); err != nil {
		return header{}, fmt.Errorf("reading .npy header: %w", err)
	}
	n := int(binary.LittleEndian.Uint16(size))
	if len(size) == 4 {
		n = int(binary.LittleEndian.Uint32(size))
	}
	if n > maxHeader {
		return header{}, fmt.Errorf(".npy header of %d bytes, want at most %d", n, maxHeader)
	}
	text := make([]byte, n)
	if err := readFull(r, text); err != nil {
		return header{}, fmt.Errorf("reading .npy header: %w", err)
	}
	h, err := parseHeader(string(text))
	h.length = len(lead) + len(size) + n
	return h, err
}

// headerEntry matches an entry of a header's dictionary: its key and a text, a bool, or a tuple of
// whole numbers, of one with a comma after it.
var headerEntry = regexp.MustCompile(`^\s*(?:'(\w+)'|"(\w+)")\s*:\s*(?:'([^'\\\n]*)'|"([^"\\\n]*)"|(True|False)|\((\s*|(?:\s*\d+\s*,)+(?:\s*\d+)?\s*)\))\s*(?:,|$)`)

// parseHeader parses the dictionary
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (200, 7), }
func parseHeader(text string) (h header, err error) {
	text = strings.TrimSpace(text)
	malformed := fmt.Errorf("malformed .npy header %q", text)
	rest, ok := strings.CutPrefix(text, "{")
	rest, closed := strings.CutSuffix(rest, "}")
	if !ok || !closed {
		return h, malformed
	}
	values := map[string]string{}
	for ; strings.TrimSpace(rest) != ""; rest = strings.TrimSpace(rest) {
		m := headerEntry.FindStringSubmatch(rest)
		if m == nil && strings.Contains(text, "[") {
			return h, fmt.Errorf("structured type, want %s", supported)
		}
		if m == nil || values[m[1]+m[2]] != "" {
			return h, malformed
		}
		values[m[1]+m[2]], rest = m[3]+m[4]+m[5]+"("+m[6], rest[len(m[0]):]
	}
	descr, noType := strings.CutSuffix(values["descr"], "(")
	sizes, tuple := strings.CutPrefix(values["shape"], "(")
	fortran := values["fortran_order"] == "True("
	if len(values) != 3 || !noType || !tuple || !fortran && values["fortran_order"] != "False(" {
		return h, malformed
	}
	h.shape = []int{}
	for size := range strings.SplitSeq(sizes, ",") {
		if size = strings.TrimSpace(size); size == "" {
			continue
		}
		n, err := strconv.Atoi(size)
		if err != nil {
			return h, malformed
		}
		h.shape = append(h.shape, n)
	}
	if h.dtype, h.width, err = typeOf(descr); err != nil {
		return h, err
	}
	if fortran && len(h.shape) > 1 {
		return h, errors.New("is in Fortran order, want C order (numpy.ascontiguousarray)")
	}
	_, err = byteSize(h.dtype, h.shape)
	return h, err
}

// numpyTypes are the types by NumPy's names.
var numpyTypes = map[string]Type{"<f4": Float32, "<f8": Float64, "<i4": Int32, "<i8": Int64, "<f2": Float16}

// typeOf returns the type that a NumPy type string means.
func typeOf(descr string) (t Type, width int, err error) {
	if t, ok := numpyTypes[descr]; ok {
		return t, 0, nil
	}
	if number, big := strings.CutPrefix(descr, ">"); big && slices.Contains([]string{"f4", "f8", "i4", "i8"}, number) {
		return 0, 0, fmt.Errorf("is big-endian (%s), want little-endian", descr)
	}
	for prefix, t := range map[string]Type{"<U": Text, "|S": Bytes} {
		if n, ok := strings.CutPrefix(descr, prefix); ok {
			if width, err := strconv.Atoi(n); err == nil && width > 0 && width < 1<<16 {
				return t, width, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("type %s, want %s", descr, supported)
}

// byteSize returns the bytes of an array, and an error if they overflow.
func byteSize(t Type, shape []int) (int64, error) {
	size := int64(t.size())
	for _, n := range shape {
		if n > 0 && size > math.MaxInt64/int64(n) {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
		size *= int64(n)
	}
	return size, nil
}

func readFull(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
