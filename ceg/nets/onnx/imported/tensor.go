package imported

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledg-go/ledg/datasets/arrays/half"
)

func parseTensor(b []byte) (*tensor, error) {
	t := &tensor{length: -1, source: b}
	err := each(b, func(num protowire.Number, kind protowire.Type, v uint64, data []byte) (err error) {
		switch num {
		case 1:
			t.dims, err = varints(t.dims, kind, v, data)
		case 2:
			t.kind = int(v)
		case 5:
			t.ints, err = varints(t.ints, kind, v, data)
		case 4, 7, 10, 11:
			t.rest = appendField(t.rest, num, kind, v, data)
		case 8:
			t.name = string(data)
		case 9:
			t.raw = data
		case 13:
			err = t.parseOutside(data)
		case 14:
			t.outside = v == 1
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, t.check()
}

func (t *tensor) parseOutside(b []byte) error {
	var key, text string
	err := each(b, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
		if num == 1 {
			key = string(data)
		} else if num == 2 {
			text = string(data)
		}
		return nil
	})
	switch key {
	case "location":
		t.location = text
	case "offset":
		t.offset, err = strconv.ParseInt(text, 10, 64)
	case "length":
		t.length, err = strconv.ParseInt(text, 10, 64)
	}
	return err
}

// width returns the bytes per element of a type, 0 for an unsupported one.
func width(kind int) int64 {
	switch kind {
	case 2, 3, 9: // uint8, int8, bool
		return 1
	case 4, 5, float16Type, bfloat16Type: // uint16, int16
		return 2
	case float32Type, 6, 12: // int32, uint32
		return 4
	case int64Type, 11, 13: // double, uint64
		return 8
	}
	return 0
}

// count is the number of elements.
func (t *tensor) count() int64 {
	n := int64(1)
	for _, d := range t.dims {
		n *= d
	}
	return n
}

// check compares the shape of a tensor with its data.
func (t *tensor) check() error {
	w, n := width(t.kind), int64(1)
	if w == 0 {
		return nil // an error if the output needs it
	}
	for _, d := range t.dims {
		if d < 0 || d > 0 && n > math.MaxInt32/d {
			return fmt.Errorf("weights %q of shape %v are too large", t.name, t.dims)
		}
		n *= d
	}
	switch {
	case t.outside || n == 0:
		return nil
	case t.raw == nil && t.rest == nil && t.ints == nil:
		return fmt.Errorf("weights %q have no numbers", t.name)
	case t.raw != nil && int64(len(t.raw)) != w*n:
		return fmt.Errorf("weights %q of shape %v have %d bytes, want %d", t.name, t.dims, len(t.raw), w*n)
	}
	return nil
}

// widen converts half-precision tensors to float32.
func (t *tensor) widen() {
	from := t.kind
	if from != float16Type && from != bfloat16Type {
		return
	}
	t.kind = float32Type
	if t.outside {
		t.half = from // converted when it is read
		return
	}
	raw := t.raw
	for _, v := range t.ints {
		raw = binary.LittleEndian.AppendUint16(raw[:len(raw):len(raw)], uint16(v))
	}
	t.raw, t.ints = widen(raw, from), nil
}

// widen converts the bytes of half-precision floats to float32.
func widen(raw []byte, kind int) []byte {
	b := make([]byte, 0, 2*len(raw))
	for ; len(raw) >= 2; raw = raw[2:] {
		bits := binary.LittleEndian.Uint16(raw)
		wide := uint32(bits) << 16
		if kind == float16Type {
			wide = math.Float32bits(half.Float32(bits))
		}
		b = binary.LittleEndian.AppendUint32(b, wide)
	}
	return b
}

// stored returns the type of the external numbers.
func (t *tensor) stored() int { return cmp.Or(t.half, t.kind) }
