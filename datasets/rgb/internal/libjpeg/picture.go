package libjpeg

import (
	"context"
	"fmt"
	"io"
)

// Picture is a decoded JPEG: the samples of its components, at their own sizes and in the file's
// colour space.
type Picture struct {
	// Width and Height are in pixels.
	Width, Height int
	Colours       Colours
	// Planes are the components, in the frame's order: one for Grey, three for YCbCr
	// and RGB, four for CMYK and YCCK.
	Planes []Plane
}

// Plane is one component. Row y is Pix[y*Stride:][:Width].
type Plane struct {
	Pix                   []uint8
	Stride, Width, Height int
	// H and V are the horizontal and vertical numbers of pixels a sample: 2 and 2 for chroma in
	// 4:2:0.
	H, V int
}

// Colours is the colour space of a JPEG's components.
type Colours int

// Colour spaces. CMYK and YCCK are as in the file, which nearly all programs write inverted, as
// Adobe's do.
const (
	Grey Colours = iota
	YCbCr
	RGB
	CMYK
	YCCK
)

// FormatError is the error of an invalid JPEG.
type FormatError string

func (e FormatError) Error() string { return "invalid JPEG: " + string(e) }

// UnsupportedError names a feature that this package does not support.
type UnsupportedError string

func (e UnsupportedError) Error() string { return "unsupported JPEG: " + string(e) }

// errShort is the error of compressed data that ends before the picture does.
var errShort = fmt.Errorf("invalid JPEG: the compressed data ends early: %w", io.ErrUnexpectedEOF)

// Size returns the width and height in the frame header, both at least 1, without decoding.
func Size(data []byte) (width, height int, err error) {
	d := decoder{data: data}
	if err := d.segments(true); err != nil {
		return 0, 0, err
	}
	return d.width, d.height, nil
}

// Decode decodes the first image in data. The error is a FormatError or an UnsupportedError, or
// wraps io.ErrUnexpectedEOF if the data ends before the end marker.
//
// Memory is allocated for the size in the frame header, so check Size first for untrusted data.
// When ctx is done, decoding stops with its cause.
func Decode(ctx context.Context, data []byte) (*Picture, error) {
	d := decoder{ctx: ctx, data: data}
	if err := d.segments(false); err != nil {
		return nil, err
	}
	p := &Picture{Width: d.width, Height: d.height, Colours: d.colours()}
	for i := range d.components {
		c := &d.components[i]
		if !c.seen {
			return nil, FormatError(fmt.Sprintf("component %d has no scan", c.id))
		}
		if d.progressive {
			c.transform()
		}
		p.Planes = append(p.Planes, c.plane)
	}
	return p, nil
}
