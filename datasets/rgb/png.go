package rgb

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"runtime"

	"github.com/klauspost/compress/zlib"

	"github.com/ledg-go/ledg/datasets/registers"
)

// pngDecoder decodes as image/png does; large pictures in strips of rows, so that memory beside the
// result is small.
func pngDecoder(convert func(image.Image) *Image) decoder {
	whole := decoded(png.Decode, convert)
	return func(ctx context.Context, data []byte, facts *Facts) (*Image, error) {
		if p, ok := stripsOf(data); ok && p.width*p.height > wholePNG {
			return p.decode(ctx, convert)
		}
		return whole(ctx, data, facts)
	}
}

// A PNG of more than wholePNG pixels is decoded in strips of about stripBytes, which are given back
// after stripsKept.
var wholePNG, stripBytes = 1 << 22, 4 << 20

// maxRow is the longest row in bytes: of a longer one a strip is not small.
const stripsKept, maxRow = 4, 4 << 20

// strips is a PNG of at most 8 bits a channel that is not interlaced.
type strips struct {
	header        []byte // IHDR's content
	rest          []byte // the file behind it
	width, height int
	stride, back  int // bytes of a row, and to the pixel before
}

// stripsOf returns ok = false for a PNG that is decoded as a whole.
func stripsOf(data []byte) (p strips, ok bool) {
	const head = 8 + 25 // the signature and IHDR
	if len(data) < head || string(data[12:16]) != "IHDR" {
		return p, false
	}
	h := data[16:29]
	channels := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[h[9]]
	depth, interlaced := int(h[8]), h[12] != 0
	p = strips{header: h, rest: data[head:], width: int(binary.BigEndian.Uint32(h)), height: int(binary.BigEndian.Uint32(h[4:]))}
	p.stride, p.back = (p.width*channels*depth+7)/8, max(1, channels*depth/8)
	return p, depth <= 8 && channels > 0 && !interlaced && p.stride <= maxRow
}

// chunks returns the colour chunks as they are, and the compressed rows.
func (p *strips) chunks() (colours []byte, rows io.Reader, err error) {
	var parts []io.Reader
	for b := p.rest; ; {
		if len(b) < 12 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		n := int(binary.BigEndian.Uint32(b))
		if n > len(b)-12 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		if crc32.ChecksumIEEE(b[4:8+n]) != binary.BigEndian.Uint32(b[8+n:]) {
			return nil, nil, png.FormatError("invalid checksum")
		}
		switch string(b[4:8]) {
		case "PLTE", "tRNS":
			if len(parts) == 0 {
				colours = append(colours, b[:12+n]...)
			}
		case "IDAT":
			parts = append(parts, bytes.NewReader(b[8:8+n]))
		case "IEND":
			return colours, io.MultiReader(parts...), nil
		}
		b = b[12+n:]
	}
}

// decode decodes the strips, each as a PNG of its own.
func (p *strips) decode(ctx context.Context, convert func(image.Image) *Image) (*Image, error) {
	colours, packed, err := p.chunks()
	if err != nil {
		return nil, err
	}
	rows, err := zlib.NewReader(packed)
	if err != nil {
		return nil, err
	}
	dst := New(p.width, p.height)
	per := max(1, stripBytes/(p.stride+1))
	raw, above := make([]byte, (p.stride+1)*per), make([]byte, p.stride)
	var file, stored bytes.Buffer
	for y := 0; y < p.height; y += per {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n := min(per, p.height-y)
		raw = raw[:n*(p.stride+1)]
		if _, err := io.ReadFull(rows, raw); err != nil {
			return nil, err
		}
		last := above
		for b := raw; len(b) > 0; b = b[p.stride+1:] {
			row := b[1 : p.stride+1]
			if !unfilter(b[0], row, last, p.back) {
				return nil, png.FormatError("bad filter type")
			}
			b[0], last = 0, row
		}
		copy(above, last)
		registers.ClearUpper() // for the checksums
		if err := p.write(&file, &stored, n, colours, raw); err != nil {
			return nil, err
		}
		src, err := png.Decode(&file)
		if err != nil {
			return nil, err
		}
		copy(dst.Pix[3*p.width*y:], convert(src).Pix)
		if y/per%stripsKept == stripsKept-1 {
			runtime.GC()
		}
	}
	if n, err := io.ReadFull(rows, raw[:1]); n > 0 {
		return nil, png.FormatError("too much pixel data")
	} else if err != io.EOF {
		return nil, err
	}
	return dst, nil
}

// write writes rows without filters as a PNG; stored is its scratch.
func (p *strips) write(w, stored *bytes.Buffer, height int, colours, rows []byte) error {
	chunk := func(name string, body []byte) {
		var b [4]byte
		w.Write(binary.BigEndian.AppendUint32(b[:0], uint32(len(body))))
		sum := crc32.ChecksumIEEE([]byte(name))
		w.WriteString(name)
		w.Write(body)
		w.Write(binary.BigEndian.AppendUint32(b[:0], crc32.Update(sum, crc32.IEEETable, body)))
	}
	w.Reset()
	stored.Reset()
	w.WriteString("\x89PNG\r\n\x1a\n")
	header := bytes.Clone(p.header)
	binary.BigEndian.PutUint32(header[4:], uint32(height))
	chunk("IHDR", header)
	w.Write(colours)
	z, err := zlib.NewWriterLevel(stored, zlib.NoCompression)
	if err == nil {
		z.Write(rows)
		err = z.Close()
	}
	chunk("IDAT", stored.Bytes())
	chunk("IEND", nil)
	return err
}

// unfilter undoes a row's filter (PNG, 9.2); back is the distance to the pixel before. It returns
// false for an unknown one.
func unfilter(filter byte, row, above []byte, back int) bool {
	above = above[:len(row)]
	switch filter {
	case 0:
	case 1:
		for i := back; i < len(row); i++ {
			row[i] += row[i-back]
		}
	case 2:
		for i, v := range above {
			row[i] += v
		}
	case 3:
		for i, v := range above[:min(back, len(row))] {
			row[i] += v / 2
		}
		for i := back; i < len(row); i++ {
			row[i] += uint8((int(row[i-back]) + int(above[i])) / 2)
		}
	case 4:
		for c := range min(back, len(row)) { // a, b and d are the values at the left, above, and between
			var a, d int32
			for i := c; i < len(row); i += back {
				b := int32(above[i])
				pa, pb, pd := b-d, a-d, a+b-2*d
				pa, pb, pd = max(pa, -pa), max(pb, -pb), max(pd, -pd)
				switch {
				case pa <= pb && pa <= pd:
				case pb <= pd:
					a = b
				default:
					a = d
				}
				row[i] += uint8(a)
				a, d = int32(row[i]), b
			}
		}
	default:
		return false
	}
	return true
}
