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
	// Smooth is whether libjpeg interpolates chroma, which it repeats at an eighth of the size.
	Smooth  bool
	Colours Colours
	// Planes are the components, in the frame's order: one for Grey, three for YCbCr
	// and RGB, four for CMYK and YCCK.
	Planes []Plane
}

// Plane is one component. Row y is Pix[y%Rows*Stride:][:Width].
type Plane struct {
	Pix                         []uint8
	Stride, Width, Height, Rows int
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
	d := decoder{data: data, side: 8}
	if err := d.segments(true); err != nil {
		return 0, 0, err
	}
	return d.width, d.height, nil
}

// Baseline reports whether the frame is sequential, so that Decode keeps no coefficients.
func Baseline(data []byte) bool {
	d := decoder{data: data, side: 8}
	return d.segments(true) == nil && !d.progressive
}

// Decode decodes the first image in data, with sides of 1/shrink, rounded up; shrink is 1, 2, 4
// or 8. It equals the full size, or libjpeg's output with scale_denom = shrink (jidctred.c), which
// Pillow's draft mode has. It calls rows for parts of the picture: rows from one to below another, again
// from 0 if a second scan has all. Then the planes have these rows and their neighbours. The error is a
// FormatError or an UnsupportedError, or wraps io.ErrUnexpectedEOF if the data ends before the end marker.
//
// Memory is allocated for the size in the frame header, so check Size first for untrusted data.
// When ctx is done, decoding stops with its cause.
func Decode(ctx context.Context, data []byte, shrink int, rows func(p *Picture, from, to int)) error {
	d := decoder{ctx: ctx, data: data, side: 8 / shrink, rows: rows}
	if err := d.segments(false); err != nil {
		return err
	}
	for _, c := range d.components {
		if !c.seen {
			return FormatError(fmt.Sprintf("component %d has no scan", c.id))
		}
	}
	switch {
	case d.progressive:
		for my := range d.mcusY {
			for i := range d.components {
				d.components[i].transform(my)
			}
			d.ready(my)
		}
	case !d.streams:
		d.ready(d.mcusY - 1)
	}
	return nil
}

// ready calls rows after row my of MCUs.
func (d *decoder) ready(my int) {
	if d.picture == nil || my == 0 {
		n := 8 / d.side
		d.picture = &Picture{Width: ceil(d.width, n), Height: ceil(d.height, n), Smooth: d.side > 1, Colours: d.colours()}
		for _, c := range d.components {
			d.picture.Planes = append(d.picture.Planes, c.plane)
		}
		d.given = 0
	}
	to := d.picture.Height
	if my < d.mcusY-1 {
		to = (my + 1) * d.side * d.maxV
		for _, p := range d.picture.Planes {
			if p.V > 1 { // the last ones depend on the next row of samples
				to = (my+1)*d.side*d.maxV - 2
				break
			}
		}
	}
	d.rows(d.picture, d.given, to)
	d.given = to
}
