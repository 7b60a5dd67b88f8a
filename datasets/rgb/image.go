// Package rgb defines ledg's image type, 8-bit RGB, and decodes and resizes images exactly as
// Pillow does.
//
// [Decode] reads the usual file formats and returns the channels of Pillow's
// Image.open(f).convert("RGB"), because published results were computed with it. Resize is
// Pillow's BILINEAR filter, bit for bit. Augmentations, caches and batches are plain loops over
// Pix.
package rgb

import (
	"fmt"
	"image"
)

// Image is an 8-bit RGB image. Pix holds rows from the top, pixels from the left, bytes in the
// order R, G, B: pixel (x, y) begins at Pix[3*(y*Width+x)], and len(Pix) is 3*Width*Height.
type Image struct {
	Width, Height int
	Pix           []uint8
}

// New returns a black image of w by h pixels. It panics when a side is below 1.
func New(w, h int) *Image {
	if w < 1 || h < 1 {
		panic(fmt.Sprintf("rgb: New(%d, %d): both sides must be at least 1", w, h))
	}
	return &Image{Width: w, Height: h, Pix: make([]uint8, 3*w*h)}
}

// Clone returns a copy that shares no memory with m.
func (m *Image) Clone() *Image {
	pix := make([]uint8, len(m.Pix))
	copy(pix, m.Pix)
	return &Image{Width: m.Width, Height: m.Height, Pix: pix}
}

// At returns the red, green and blue of pixel (x, y). It panics outside the image.
func (m *Image) At(x, y int) (r, g, b uint8) {
	i := 3 * (y*m.Width + x)
	return m.Pix[i], m.Pix[i+1], m.Pix[i+2]
}

// Set writes pixel (x, y). It panics outside the image.
func (m *Image) Set(x, y int, r, g, b uint8) {
	i := 3 * (y*m.Width + x)
	m.Pix[i], m.Pix[i+1], m.Pix[i+2] = r, g, b
}

// ToImage returns a copy as a standard opaque image, for instance to encode it
// as PNG. FromImage(m.ToImage()) equals m.
func (m *Image) ToImage() image.Image {
	dst := image.NewNRGBA(image.Rect(0, 0, m.Width, m.Height))
	for i, j := 0, 0; i < len(m.Pix); i, j = i+3, j+4 {
		dst.Pix[j], dst.Pix[j+1], dst.Pix[j+2], dst.Pix[j+3] = m.Pix[i], m.Pix[i+1], m.Pix[i+2], 0xff
	}
	return dst
}

// Reset sets m to size w by h with arbitrary content, reusing its memory if possible, and
// returns it.
func (m *Image) Reset(w, h int) *Image {
	if n := 3 * w * h; cap(m.Pix) < n {
		m.Pix = make([]uint8, n)
	} else {
		m.Pix = m.Pix[:n]
	}
	m.Width, m.Height = w, h
	return m
}
