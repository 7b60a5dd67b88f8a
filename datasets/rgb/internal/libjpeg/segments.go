package libjpeg

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// Markers (T.81, table B.1).
const (
	mSOF0  = 0xc0 // baseline
	mSOF1  = 0xc1 // extended sequential
	mSOF2  = 0xc2 // progressive
	mDHT   = 0xc4
	mJPG   = 0xc8
	mDAC   = 0xcc
	mSOF15 = 0xcf
	mRST0  = 0xd0
	mRST7  = 0xd7
	mSOI   = 0xd8
	mEOI   = 0xd9
	mSOS   = 0xda
	mDQT   = 0xdb
	mDNL   = 0xdc
	mDRI   = 0xdd
	mAPP0  = 0xe0
	mAPP14 = 0xee
	mAPP15 = 0xef
	mCOM   = 0xfe
	mTEM   = 0x01
)

// decoder is the state of one decoding.
type decoder struct {
	ctx  context.Context
	data []byte
	at   int // the next byte

	rows    func(p *Picture, from, to int)
	picture *Picture
	given   int  // rows of it
	streams bool // planes have the rows of two rows of MCUs only

	scans   int    // so far
	scanned []byte // data of a scan, for the memory

	width, height int
	side          int // of the samples of a block of luma: 8 in full
	progressive   bool
	components    []component
	maxH, maxV    int // largest sampling factors
	mcusX, mcusY  int // MCUs of an interleaved scan

	quant   [4]*[64]int32 // in natural order
	dc, ac  [4]*table
	restart int // MCUs between restart markers, 0 for none

	jfif, adobe bool
	transform   uint8 // of the Adobe segment
}

// component is one component of the frame.
type component struct {
	id, quant uint8
	h, v      int // sampling factors
	bx, by    int // blocks that cover the component
	padX      int // blocks in a row, filled up to whole MCUs
	side      int // of the samples of a block: 1, 2, 4 or 8
	plane     Plane
	seen      bool
	// table is that of quantisation, as its first scan found it, and placed the same for vectors.
	table  *[64]int32
	placed [64]int16
	large  bool // numbers in table do not fit placed
	// Of a progressive frame: 64 to a block, and for each block the bits of the AC
	// coefficients that are not zero, in the file's order.
	coefficients []int16
	nonzero      []uint64
}

// segments reads marker segments, and the scans among them, up to the end of the
// picture, or up to its frame header only.
func (d *decoder) segments(headerOnly bool) error {
	if len(d.data) < 2 {
		return io.ErrUnexpectedEOF
	}
	if d.data[0] != 0xff || d.data[1] != mSOI {
		return FormatError("it does not begin with a start marker")
	}
	d.at = 2
	for {
		m, err := d.marker()
		if err != nil {
			return err
		}
		switch {
		case m == mEOI && d.components == nil:
			return FormatError("it ends without a picture")
		case m == mEOI:
			return nil
		case m == mTEM || m >= mRST0 && m <= mRST7: // have no content
			continue
		case m == mSOI:
			return FormatError("it starts twice")
		}
		body, err := d.body()
		if err != nil {
			return err
		}
		switch {
		case m == mSOF0 || m == mSOF1 || m == mSOF2:
			d.progressive = m == mSOF2
			if err = d.frame(body); err == nil && headerOnly {
				return nil
			}
		case m == mDHT:
			err = d.huffman(body)
		case m == mDQT:
			err = d.quantisation(body)
		case m == mDRI && len(body) == 2:
			d.restart = int(binary.BigEndian.Uint16(body))
		case m == mSOS:
			err = d.scan(body)
		case m == mAPP0:
			d.jfif = d.jfif || len(body) >= 12 && bytes.HasPrefix(body, []byte("JFIF\x00"))
		case m == mAPP14:
			if len(body) >= 12 && bytes.HasPrefix(body, []byte("Adobe")) {
				d.adobe, d.transform = true, body[11]
			}
		case m >= mAPP0 && m <= mAPP15, m == mCOM, m == mDNL, m == mDAC: // of no use
		case m == mJPG || m > mSOF2 && m <= mSOF15:
			err = UnsupportedError(fmt.Sprintf("a frame of type %d (arithmetic, lossless or hierarchical coding)", m-mSOF0))
		default:
			err = FormatError(fmt.Sprintf("a marker 0x%02x of %d bytes", m, len(body)))
		}
		if err != nil {
			return err
		}
	}
}

// marker moves behind the next marker and returns it. Other bytes before it are
// passed over.
func (d *decoder) marker() (uint8, error) {
	for d.at < len(d.data) {
		i := bytes.IndexByte(d.data[d.at:], 0xff)
		if i < 0 {
			break
		}
		for d.at += i; d.at < len(d.data) && d.data[d.at] == 0xff; {
			d.at++
		}
		if d.at == len(d.data) {
			break
		}
		d.at++
		if m := d.data[d.at-1]; m != 0 {
			return m, nil
		}
	}
	d.at = len(d.data)
	return 0, io.ErrUnexpectedEOF
}

// body returns the content of the segment whose length comes next.
func (d *decoder) body() ([]byte, error) {
	rest := d.data[d.at:]
	if len(rest) < 2 {
		return nil, io.ErrUnexpectedEOF
	}
	n := int(binary.BigEndian.Uint16(rest))
	if n < 2 {
		return nil, FormatError(fmt.Sprintf("a segment of %d bytes", n))
	}
	if n > len(rest) {
		return nil, io.ErrUnexpectedEOF
	}
	d.at += n
	return rest[2:n], nil
}

// frame reads a frame header (T.81, B.2.2).
func (d *decoder) frame(b []byte) error {
	if d.components != nil {
		return FormatError("it has two frames")
	}
	if len(b) < 6 || len(b) != 6+3*int(b[5]) {
		return FormatError("the frame header has a wrong length")
	}
	if b[0] != 8 {
		return UnsupportedError(fmt.Sprintf("%d bits a sample", b[0]))
	}
	d.height, d.width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if d.width == 0 || d.height == 0 {
		return FormatError(fmt.Sprintf("the picture is empty: %d x %d pixels", d.width, d.height))
	}
	n := int(b[5])
	if n != 1 && n != 3 && n != 4 {
		return UnsupportedError(fmt.Sprintf("%d components", n))
	}
	d.components = make([]component, n)
	for i := range d.components {
		f := b[6+3*i:]
		c := component{id: f[0], h: int(f[1] >> 4), v: int(f[1] & 15), quant: f[2]}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.quant > 3 {
			return FormatError(fmt.Sprintf("component %d: sampling %d x %d, quantisation table %d", c.id, c.h, c.v, c.quant))
		}
		for _, other := range d.components[:i] {
			if other.id == c.id {
				return FormatError(fmt.Sprintf("two components %d", c.id))
			}
		}
		d.components[i] = c
		d.maxH, d.maxV = max(d.maxH, c.h), max(d.maxV, c.v)
	}
	d.mcusX, d.mcusY = ceil(d.width, 8*d.maxH), ceil(d.height, 8*d.maxV)
	for i := range d.components {
		c := &d.components[i]
		if d.maxH%c.h != 0 || d.maxV%c.v != 0 {
			return UnsupportedError(fmt.Sprintf("sampling of %d x %d where the largest is %d x %d", c.h, c.v, d.maxH, d.maxV))
		}
		// A scaled component is made larger by its transform where it would be by repetition
		// (jdmaster.c:jpeg_calc_output_dimensions).
		for c.side = d.side; c.side < 8 && d.maxH*d.side%(c.h*c.side*2) == 0 && d.maxV*d.side%(c.v*c.side*2) == 0; {
			c.side *= 2
		}
		c.plane = Plane{H: d.maxH * d.side / (c.h * c.side), V: d.maxV * d.side / (c.v * c.side)}
		c.plane.Width, c.plane.Height = ceil(d.width*c.h*c.side, d.maxH*8), ceil(d.height*c.v*c.side, d.maxV*8)
		c.bx, c.by = ceil(d.width*c.h, d.maxH*8), ceil(d.height*c.v, d.maxV*8)
		c.padX = d.mcusX * c.h
		c.plane.Stride = c.side * c.padX
	}
	return nil
}

// allocate makes room for a component's samples, and coefficients if they come in
// several scans.
func (d *decoder) allocate(c *component) {
	blocks := c.padX * d.mcusY * c.v
	c.plane.Rows = c.side * c.v * d.mcusY
	if d.streams {
		c.plane.Rows = c.side * c.v * min(d.mcusY, 2)
	}
	c.plane.Pix = make([]uint8, c.plane.Stride*c.plane.Rows)
	if d.progressive {
		c.coefficients, c.nonzero = make([]int16, 64*blocks), make([]uint64, blocks)
	}
}

// quantisation reads tables of quantisation (T.81, B.2.4.1).
func (d *decoder) quantisation(b []byte) error {
	for len(b) > 0 {
		id, wide := b[0]&15, b[0]>>4
		size := 64 << wide
		if id > 3 || wide > 1 || len(b) < 1+size {
			return FormatError("a wrong quantisation table")
		}
		t := new([64]int32)
		for i := range t {
			if wide == 1 {
				t[zigzag[i]] = int32(binary.BigEndian.Uint16(b[1+2*i:]))
			} else {
				t[zigzag[i]] = int32(b[1+i])
			}
		}
		d.quant[id] = t
		b = b[1+size:]
	}
	return nil
}

// huffman reads Huffman tables (T.81, B.2.4.2).
func (d *decoder) huffman(b []byte) error {
	for len(b) > 0 {
		id, class := b[0]&15, b[0]>>4
		if id > 3 || class > 1 || len(b) < 17 {
			return FormatError("a wrong Huffman table")
		}
		total := 0
		for _, n := range b[1:17] {
			total += int(n)
		}
		if total > 256 || len(b) < 17+total {
			return FormatError("a wrong Huffman table")
		}
		t, ok := newTable([16]uint8(b[1:17]), b[17:17+total])
		if !ok {
			return FormatError("a Huffman table with more codes than there are")
		}
		if t.joinValues(class == 0); class == 0 {
			d.dc[id] = t
		} else {
			d.ac[id] = t
		}
		b = b[17+total:]
	}
	return nil
}

// colours returns the colour space by libjpeg's rules (jdapimin.c:default_decompress_parms).
func (d *decoder) colours() Colours {
	switch len(d.components) {
	case 1:
		return Grey
	case 4:
		if d.adobe && d.transform != 0 {
			return YCCK
		}
		return CMYK
	}
	id := d.components
	switch {
	case d.jfif:
		return YCbCr
	case d.adobe && d.transform == 0:
		return RGB
	case !d.adobe && id[0].id == 'R' && id[1].id == 'G' && id[2].id == 'B':
		return RGB
	}
	return YCbCr
}

func ceil(a, b int) int { return (a + b - 1) / b }
