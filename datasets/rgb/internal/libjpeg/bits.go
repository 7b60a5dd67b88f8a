package libjpeg

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// reader reads the bits of compressed data up to the next marker. Behind the last bit zeros are read.
type reader struct {
	data []byte // without stuffed zeros, and padded
	at   int    // the next byte for acc
	// acc holds the next n bits from its top. Below them are zeros, or bits that will
	// be read again.
	acc uint64
	n   int
	// bad is set by a code that no table has.
	bad bool
}

// padding is the length of the zeros behind the data. The reader stays in their second half, and is
// there only if it has read bits of them.
const padding = 16

// start begins at the compressed data that file has from at on. It returns where the next marker is.
func (r *reader) start(file []byte, at int) int {
	r.data, r.at, r.acc, r.n = slices.Grow(r.data[:0], len(file)-at+padding), 0, 0, 0
	for {
		n := bytes.IndexByte(file[at:], 0xff)
		if n < 0 {
			n = len(file) - at
		}
		r.data = append(r.data, file[at:at+n]...)
		at += n
		next := at
		for next < len(file) && file[next] == 0xff {
			next++
		}
		if next == len(file) || file[next] != 0 {
			r.data = append(r.data, make([]byte, padding)...)
			return at
		}
		r.data = append(r.data, 0xff)
		at = next + 1
	}
}

// short reports whether bits behind the data have been read.
func (r *reader) short() bool { return 8*r.at-r.n > 8*(len(r.data)-padding) }

// fill makes sure of 32 bits.
func (r *reader) fill() {
	if r.n < 32 {
		r.acc, r.n, r.at = r.filled(r.acc, r.n, r.at)
	}
}

// filled is fill for variables of the caller's, of less than 64 bits.
func (r *reader) filled(acc uint64, n, at int) (uint64, int, int) {
	acc |= binary.BigEndian.Uint64(r.data[at:]) >> (n & 63)
	return acc, n | 56, min(at+(63-n)>>3, len(r.data)-padding/2)
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
