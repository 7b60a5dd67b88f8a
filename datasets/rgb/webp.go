package rgb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"

	"golang.org/x/image/webp"
)

// stillWebP returns the first frame of an animated WebP as a still one, and its place on the
// canvas; of a still WebP the file itself.
func stillWebP(data []byte) (still []byte, at image.Rectangle, canvas image.Point) {
	const animated, alpha = 1 << 1, 1 << 4
	u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	if len(data) < 30 || string(data[12:16]) != "VP8X" || data[20]&animated == 0 {
		return data, at, canvas
	}
	canvas = image.Pt(u24(data[24:])+1, u24(data[27:])+1)
	for rest := data[30:]; len(rest) >= 8; {
		n := int(binary.LittleEndian.Uint32(rest[4:]))
		if n > len(rest)-8 {
			break
		}
		if string(rest[:4]) == "ANMF" && n >= 16 {
			frame, chunks := rest[8:24], rest[24:8+n]
			low := image.Pt(2*u24(frame), 2*u24(frame[3:]))
			at = image.Rectangle{low, low.Add(image.Pt(u24(frame[6:])+1, u24(frame[9:])+1))}
			still = append([]byte("RIFF????WEBP"), "VP8X\x0a\x00\x00\x00\x00\x00\x00\x00"...)
			if bytes.HasPrefix(chunks, []byte("ALPH")) {
				still[20] = alpha
			}
			still = append(append(still, frame[6:12]...), chunks...)
			binary.LittleEndian.PutUint32(still[4:], uint32(len(still)-8))
			return still, at, canvas
		}
		rest = rest[min(8+n+n&1, len(rest)):]
	}
	return data, at, canvas
}

// webPDecoder decodes the first frame; the rest of its canvas has one level. Lossy frames get their
// colours as libwebp makes them. With blended, alpha is composited on white.
func webPDecoder(blended bool, rest uint8) decoder {
	return func(_ context.Context, data []byte, _ *Facts) (*Image, error) {
		still, at, canvas := stillWebP(data)
		if whole := (image.Rectangle{Max: canvas}); !at.In(whole) {
			return nil, fmt.Errorf("webp: the first frame, %v, is not within its picture of %v", at, canvas)
		}
		src, err := webp.Decode(bytes.NewReader(still))
		if err != nil {
			return nil, err
		}
		m := fromWebP(src, blended)
		if at.Size() == canvas {
			return m, nil
		}
		return m.on(canvas, at.Min, rest), nil
	}
}

// on returns a picture of one level with m at a point within.
func (m *Image) on(size, at image.Point, level uint8) *Image {
	dst := New(size.X, size.Y)
	for i := range dst.Pix {
		dst.Pix[i] = level
	}
	for y := range m.Height {
		copy(dst.Pix[3*((at.Y+y)*size.X+at.X):], m.Pix[3*y*m.Width:3*(y+1)*m.Width])
	}
	return dst
}

func fromWebP(src image.Image, blended bool) *Image {
	switch src := src.(type) {
	case *image.YCbCr:
		return fromVP8(src)
	case *image.NYCbCrA:
		dst := fromVP8(&src.YCbCr)
		if blended {
			blend(dst, func(x, y int) uint8 { return src.A[src.AOffset(src.Rect.Min.X+x, src.Rect.Min.Y+y)] })
		}
		return dst
	}
	if blended {
		return onWhite(src)
	}
	return FromImage(src)
}
