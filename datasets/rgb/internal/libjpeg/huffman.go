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

// joined is a code with its value, and a second one if fastBits have room for it. From the lowest bit
// on it has: bits of both, [pending], bits of the first; at 16 and 24 how many coefficients the first and
// the second go forward; at 32 and 48 their values. Without a second, that is 0 coefficients behind
// the first and has its value.
type joined uint64

// pending marks a code whose value does not fit into fastBits beside it; the entry has the size of that value.
// Size 0 is for a code longer than fastBits.
const pending joined = 1 << 6

// endOfBlock is a step that leads behind any block.
const endOfBlock = 128

func join(value int32, steps, bits int) joined {
	j := joined(bits) | joined(bits)<<8 | joined(steps)<<16 | joined(uint16(value))<<32
	return j | joined(uint16(value))<<48
}

// with is j with a second code.
func (j joined) with(second joined) joined {
	return j&(0xffff<<32|0xffff<<8) | (j&63 + second&63) | second>>16&255<<24 | second>>32<<48
}

func (j joined) bits() int    { return int(j >> 8 & 63) }
func (j joined) steps() int   { return int(j >> 16 & 255) }
func (j joined) value() int32 { return int32(int16(j >> 32)) }

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
		steps, size := steps(f.symbol, isDC)
		if f.length == 0 || steps == 0 {
			t.joined[i] = pending
		} else if bits := int(f.length) + size; bits <= fastBits {
			r := reader{acc: uint64(i) << (64 - fastBits + int(f.length)), n: size}
			t.joined[i] = join(r.value(size), steps, bits)
		} else {
			t.joined[i] = join(int32(size), steps, int(f.length)) | pending
		}
	}
	if isDC {
		return
	}
	single := t.joined
	for i, j := range single {
		second := single[i<<j.bits()&(1<<fastBits-1)]
		if j&pending == 0 && j.steps() < endOfBlock && second&pending == 0 && j.bits()+second.bits() <= fastBits {
			t.joined[i] = j.with(second)
		}
	}
}

// steps returns how many coefficients a symbol goes forward, 0 if it cannot be, and the size of its value.
func steps(symbol uint8, isDC bool) (steps, size int) {
	steps, size = int(symbol>>4)+1, int(symbol&15)
	switch {
	case isDC && steps > 1:
		steps = 0
	case !isDC && size == 0 && steps < 16:
		steps = endOfBlock
	}
	return steps, size
}

// coefficient reads a code of a coefficient and its value (T.81, F.2.2).
func (r *reader) coefficient(t *table, isDC bool) (value int32, n int) {
	n, size := steps(r.symbol(t), isDC)
	r.bad = r.bad || n == 0
	return r.value(size), n
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
