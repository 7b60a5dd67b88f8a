package libjpeg

// fastBits is the length of the codes that one look-up finds.
const fastBits = 10

// table decodes the symbols of a Huffman code.
type table struct {
	fast [1 << fastBits]struct{ symbol, length uint8 } // length 0: a longer code
	// A code of l bits is below limit[l] and has symbol symbols[code+offset[l]].
	limit, offset [17]int32
	symbols       []uint8
	// joined holds what the next fastBits bits begin with.
	joined [1 << fastBits]joined
}

// joined is a code with its value: the bits of both in its lowest six, the zeros before the
// coefficient in the next byte, the value above. With pending there are the bits of the code alone,
// and the size of the value, which does not fit into fastBits. It is 0 for a longer code.
type joined uint32

const pending joined = 64

// endOfBlock is the run of zeros that leads behind any block.
const endOfBlock = 64

func join(value int32, run, bits int) joined {
	return joined(value)<<16 | joined(run)<<8 | joined(bits)
}

func (j joined) bits() int    { return int(j & 63) }
func (j joined) run() int     { return int(j >> 8 & 127) }
func (j joined) value() int32 { return int32(j) >> 16 }

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

// joinValues fills joined, for DC or AC coefficients.
func (t *table) joinValues(isDC bool) {
	for i, f := range t.fast {
		run, size := int(f.symbol>>4), int(f.symbol&15)
		if f.length == 0 || isDC && run > 0 {
			continue
		}
		if size == 0 && run < 15 && !isDC {
			run = endOfBlock
		}
		if bits := int(f.length) + size; bits <= fastBits {
			r := reader{acc: uint64(i) << (64 - fastBits + int(f.length)), n: size}
			t.joined[i] = join(r.value(size), run, bits)
		} else {
			t.joined[i] = join(int32(size), run, int(f.length)) | pending
		}
	}
}

// coefficient reads a code of a coefficient and its value (T.81, F.2.2).
func (r *reader) coefficient(t *table, isDC bool) joined {
	symbol := r.symbol(t)
	run, size := int(symbol>>4), int(symbol&15)
	switch {
	case isDC && run > 0:
		r.bad = true
	case !isDC && size == 0 && run < 15:
		run = endOfBlock
	}
	return join(r.value(size), run, 0)
}

// symbol reads a code. At least 16 bits must have been filled in, if there are as
// many.
func (r *reader) symbol(t *table) uint8 {
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
