package libjpeg

// fastBits is the length of the codes that one look-up finds.
const fastBits = 9

// table decodes the symbols of a Huffman code.
type table struct {
	fast [1 << fastBits]struct{ symbol, length uint8 } // length 0: a longer code
	// A code of l bits is below limit[l] and has symbol symbols[code+offset[l]].
	limit, offset [17]int32
	symbols       []uint8
	// joined holds, for AC coefficients, the codes that fit with their value into
	// fastBits: zeros before it, and the bits of both, 0 for those that do not fit.
	joined [1 << fastBits]struct {
		value     int8
		run, bits uint8
	}
}

// newTable makes the table of a code with counts[l-1] codes of l bits, reporting
// whether there is room for as many (T.81, annex C).
func newTable(counts [16]uint8, symbols []byte) (*table, bool) {
	t := &table{symbols: symbols}
	code, k := int32(0), int32(0)
	for l := 1; l <= 16; l++ {
		n := int32(counts[l-1])
		t.offset[l] = k - code
		if code+n > 1<<l {
			return nil, false
		}
		for range n {
			if l <= fastBits {
				from := code << (fastBits - l)
				for i := from; i < from+1<<(fastBits-l); i++ {
					t.fast[i].symbol, t.fast[i].length = symbols[k], uint8(l)
				}
			}
			code, k = code+1, k+1
		}
		t.limit[l] = code
		code <<= 1
	}
	return t, true
}

// joinValues fills joined.
func (t *table) joinValues() {
	for i := range t.fast {
		f := t.fast[i]
		size := int(f.symbol & 15)
		length := int(f.length) + size
		if f.length == 0 || size == 0 || length > fastBits {
			continue
		}
		r := bits{acc: uint64(i) << (64 - fastBits), n: fastBits}
		r.skip(int(f.length))
		v := r.value(size)
		if v == int32(int8(v)) {
			t.joined[i].value, t.joined[i].run, t.joined[i].bits = int8(v), f.symbol>>4, uint8(length)
		}
	}
}

// symbol reads a code. At least 16 bits must have been filled in, if there are as
// many.
func (r *bits) symbol(t *table) uint8 {
	if f := t.fast[r.acc>>(64-fastBits)]; f.length > 0 {
		r.skip(int(f.length))
		return f.symbol
	}
	for l := fastBits + 1; l <= 16; l++ {
		if code := int32(r.acc >> (64 - l)); code < t.limit[l] {
			r.skip(l)
			return t.symbols[code+t.offset[l]]
		}
	}
	r.bad = true
	return 0
}
