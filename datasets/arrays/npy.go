package arrays

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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

// Header returns the header of a .npy file of version 1.0, for elements in C order whose type has
// NumPy's name dtype, such as <f4.
func Header(dtype string, shape ...int) []byte {
	sizes := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	if len(shape) == 1 {
		sizes += ","
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", dtype, sizes)
	lead := npyMagic + "\x01\x00"
	dict += strings.Repeat(" ", 63-(len(lead)+2+len(dict))%64) + "\n" // NumPy aligns data to 64 bytes
	return append(binary.LittleEndian.AppendUint16([]byte(lead), uint16(len(dict))), dict...)
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

// parseHeader parses the dictionary
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (200, 7), }
func parseHeader(text string) (header, error) {
	p := literal{text}
	var h header
	var descr string
	var fortran bool
	seen := map[string]bool{}
	p.expect("{")
	for !p.failed() && !p.accept("}") {
		key := p.str()
		if seen[key] {
			return header{}, fmt.Errorf(".npy header has %q twice", key)
		}
		seen[key] = true
		p.expect(":")
		switch key {
		case "descr":
			if p.peek("[") {
				return header{}, fmt.Errorf("structured type, want %s", supported)
			}
			descr = p.str()
		case "fortran_order":
			if fortran = p.accept("True"); !fortran {
				p.expect("False")
			}
		case "shape":
			h.shape = p.tuple()
		default:
			return header{}, fmt.Errorf(".npy header has the unknown key %q", key)
		}
		if !p.accept(",") && !p.peek("}") {
			p.fail()
		}
	}
	if p.failed() || strings.TrimSpace(p.rest) != "" || len(seen) != 3 {
		return header{}, fmt.Errorf("malformed .npy header %q", strings.TrimSpace(text))
	}
	var err error
	if h.dtype, h.width, err = typeOf(descr); err != nil {
		return header{}, err
	}
	if fortran && len(h.shape) > 1 {
		return header{}, errors.New("is in Fortran order, want C order (numpy.ascontiguousarray)")
	}
	_, err = byteSize(h.dtype, h.shape)
	return h, err
}

// typeOf returns the type that a NumPy type string means.
func typeOf(descr string) (t Type, width int, err error) {
	switch descr {
	case "<f4":
		return Float32, 0, nil
	case "<f8":
		return Float64, 0, nil
	case "<i4":
		return Int32, 0, nil
	case "<i8":
		return Int64, 0, nil
	case "<f2":
		return Float16, 0, nil
	case ">f4", ">f8", ">i4", ">i8":
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

// literal reads a Python literal; once it fails it stays failed.
type literal struct{ rest string }

func (p *literal) fail()        { p.rest = "\x00" }
func (p *literal) failed() bool { return strings.HasPrefix(p.rest, "\x00") }

func (p *literal) peek(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	return strings.HasPrefix(p.rest, token)
}

func (p *literal) accept(token string) bool {
	if !p.peek(token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *literal) expect(token string) {
	if !p.accept(token) {
		p.fail()
	}
}

// str reads a quoted string without escapes.
func (p *literal) str() string {
	for _, quote := range []string{"'", `"`} {
		if p.accept(quote) {
			s, rest, ok := strings.Cut(p.rest, quote)
			if ok && !strings.ContainsAny(s, "\\\n\x00") {
				p.rest = rest
				return s
			}
		}
	}
	p.fail()
	return ""
}

// tuple reads a tuple of whole numbers, of one with a comma after it.
func (p *literal) tuple() []int {
	values := []int{}
	p.expect("(")
	for !p.failed() && !p.accept(")") {
		p.peek("")
		end := strings.IndexFunc(p.rest, func(r rune) bool { return r < '0' || r > '9' })
		if end <= 0 {
			p.fail()
			break
		}
		v, err := strconv.Atoi(p.rest[:end])
		if err != nil {
			p.fail()
			break
		}
		values = append(values, v)
		p.rest = p.rest[end:]
		if !p.accept(",") && (!p.peek(")") || len(values) == 1) {
			p.fail()
		}
	}
	return values
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
