package libjpeg

import (
	"context"
	"fmt"
	"io"
)

// Picture is a decoded JPEG: the samples of its components, still at their own sizes
// and in the file's colours.
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
	// H and V are how many pixels of the picture lie side by side, and above each
	// other, on a sample: 2 and 2 for chroma in 4:2:0.
	H, V int
}

// Colours is what the components of a JPEG are.
type Colours int

// The colours of a JPEG. The ink of CMYK and YCCK is as in the file, which Adobe's
// programs, and so nearly all, write inverted.
const (
	Grey Colours = iota
	YCbCr
	RGB
	CMYK
	YCCK
)

// FormatError says what is wrong with a file that is no valid JPEG.
type FormatError string

func (e FormatError) Error() string { return "invalid JPEG: " + string(e) }

// UnsupportedError names what a file uses and this package cannot read.
type UnsupportedError string

func (e UnsupportedError) Error() string { return "unsupported JPEG: " + string(e) }

// errShort is the error of compressed data that ends before the picture does.
var errShort = fmt.Errorf("invalid JPEG: the compressed data ends early: %w", io.ErrUnexpectedEOF)

// Size returns the width and height that the frame header promises, both at least 1,
// without decoding the picture.
func Size(data []byte) (width, height int, err error) {
	d := decoder{data: data}
	if err := d.segments(true); err != nil {
		return 0, 0, err
	}
	return d.width, d.height, nil
}

// Decode decodes the first picture in data. The error is a FormatError or an
// UnsupportedError, or wraps io.ErrUnexpectedEOF if the data ends before the picture's
// end marker.
//
// Memory is taken for the size that the frame header promises: look at Size first
// where the data comes from strangers. The decoding ends when ctx is done, whose cause is
// then the error.
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
