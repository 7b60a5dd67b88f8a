package rgb

import (
	"fmt"
	"image"
	"image/color"
)

// FromImage converts any standard image as Decode describes: alpha is dropped, not blended, and
// 16-bit channels keep their high byte. For types with premultiplied alpha, such as image.RGBA,
// the division by alpha is rounded down and exact only for opaque pixels. FromImage panics on an
// empty image.
func FromImage(src image.Image) *Image {
	b := src.Bounds()
	if b.Empty() {
		panic(fmt.Sprintf("rgb: FromImage: the image is empty: %v", b))
	}
	dst := New(b.Dx(), b.Dy())
	switch src := src.(type) {
	case *image.YCbCr:
		fromYCbCr(dst, src)
	case *image.CMYK:
		fromCMYK(dst, src)
	case *image.Paletted:
		fromPaletted(dst, src)
	case *image.Gray:
		eachRow(dst, func(y int, row []uint8) {
			s := src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):]
			for x := range dst.Width {
				row[3*x], row[3*x+1], row[3*x+2] = s[x], s[x], s[x]
			}
		})
	case *image.NRGBA:
		eachRow(dst, func(y int, row []uint8) {
			s := src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):]
			for x := range dst.Width {
				row[3*x], row[3*x+1], row[3*x+2] = s[4*x], s[4*x+1], s[4*x+2]
			}
		})
	case *image.RGBA:
		eachRow(dst, func(y int, row []uint8) {
			s := src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):]
			for x := range dst.Width {
				if p := s[4*x : 4*x+4]; p[3] == 255 {
					row[3*x], row[3*x+1], row[3*x+2] = p[0], p[1], p[2]
				} else {
					row[3*x], row[3*x+1], row[3*x+2] = straight(src.At(b.Min.X+x, b.Min.Y+y))
				}
			}
		})
	case *image.NRGBA64: // big-endian: the high byte comes first
		eachRow(dst, func(y int, row []uint8) {
			s := src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):]
			for x := range dst.Width {
				row[3*x], row[3*x+1], row[3*x+2] = s[8*x], s[8*x+2], s[8*x+4]
			}
		})
	default:
		eachRow(dst, func(y int, row []uint8) {
			for x := range dst.Width {
				row[3*x], row[3*x+1], row[3*x+2] = straight(src.At(b.Min.X+x, b.Min.Y+y))
			}
		})
	}
	return dst
}

// eachRow calls f with every row of dst.
func eachRow(dst *Image, f func(y int, row []uint8)) {
	n := 3 * dst.Width
	for y := range dst.Height {
		f(y, dst.Pix[y*n:(y+1)*n])
	}
}

// straight returns a colour without its alpha, neither blended nor left
// multiplied by it.
func straight(c color.Color) (r, g, b uint8) {
	switch c := c.(type) {
	case color.NRGBA:
		return c.R, c.G, c.B
	case color.NRGBA64:
		return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)
	}
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	return uint8(n.R >> 8), uint8(n.G >> 8), uint8(n.B >> 8)
}

func fromPaletted(dst *Image, src *image.Paletted) {
	var table [256][3]uint8
	for i, c := range src.Palette {
		table[i][0], table[i][1], table[i][2] = straight(c)
	}
	eachRow(dst, func(y int, row []uint8) {
		s := src.Pix[src.PixOffset(src.Rect.Min.X, src.Rect.Min.Y+y):]
		for x := range dst.Width {
			copy(row[3*x:3*x+3], table[s[x]][:])
		}
	})
}

func fromCMYK(dst *Image, src *image.CMYK) {
	eachRow(dst, func(y int, row []uint8) {
		s := src.Pix[src.PixOffset(src.Rect.Min.X, src.Rect.Min.Y+y):]
		for x := range dst.Width {
			for c := range 3 {
				row[3*x+c] = underBlack(s[4*x+c], 255-s[4*x+3])
			}
		}
	})
}

// underBlack is Pillow's conversion of one ink where light is what black lets
// through: light - ink*light/255, the quotient rounded to nearest.
func underBlack(ink, light uint8) uint8 {
	t := int(ink)*int(light) + 128
	return light - uint8((t>>8+t)>>8)
}
