package libjpeg

import "encoding/binary"

// reader reads the bits of compressed data up to the next marker. Behind the last bit
// zeros are read; then n is negative.
type reader struct {
	data []byte
	at   int // the next byte for acc
	// acc holds the next n bits from its top. Below them are zeros, or bits that will
	// be read again.
	acc uint64
	n   int
	end bool // at a marker or the data's end
	// bad is set by a code that no table has.
	bad bool
}

// fill makes sure of 32 bits, if there are as many.
func (r *reader) fill() {
	if r.n < 32 {
		r.acc, r.n = r.filled(r.acc, r.n)
	}
}

// filled is fill for acc and n in variables of the caller's.
func (r *reader) filled(acc uint64, n int) (uint64, int) {
	if r.end {
		return acc, n
	}
	if v, ok := r.ahead(); ok {
		r.at += (63 - n) >> 3
		return acc | v>>n, n | 56
	}
	r.acc, r.n = acc, n
	r.fillBytes()
	return r.acc, r.n
}

// ahead returns the next eight bytes, if they are there and none is 0xff.
func (r *reader) ahead() (v uint64, ok bool) {
	if len(r.data)-r.at < 8 {
		return 0, false
	}
	v = binary.BigEndian.Uint64(r.data[r.at:])
	const low, high = 0x0101010101010101, 0x8080808080808080
	return v, (^v-low)&v&high == 0
}

func (r *reader) fillBytes() {
	r.acc &= ^uint64(0) << (64 - r.n) // the bits below may lie behind a marker
	for r.n <= 56 {
		if r.at >= len(r.data) {
			r.end = true
			return
		}
		b, next := r.data[r.at], r.at+1
		if b == 0xff {
			for next < len(r.data) && r.data[next] == 0xff {
				next++
			}
			if next == len(r.data) || r.data[next] != 0 {
				r.end = true
				return
			}
			next++
		}
		r.acc |= uint64(b) << (56 - r.n)
		r.n += 8
		r.at = next
	}
}

// skip takes k bits.
func (r *reader) skip(k int) {
	r.acc <<= k
	r.n -= k
}

// take returns the next k bits, at most 16, of those that fill made sure of.
func (r *reader) take(k int) int32 {
	v := r.acc >> 1 >> (63 - k)
	r.skip(k)
	return int32(v)
}

func (r *reader) bit() bool {
	r.fill()
	return r.take(1) != 0
}

// value returns the number of k bits that follows a code (T.81, F.2.2.1).
func (r *reader) value(k int) int32 {
	v := r.take(k)
	if k > 0 && v < 1<<(k-1) {
		v += -1<<k + 1
	}
	return v
}

// restart discards the remaining bits and continues at a byte.
func (r *reader) restart(at int) { r.at, r.acc, r.n, r.end = at, 0, 0, false }
