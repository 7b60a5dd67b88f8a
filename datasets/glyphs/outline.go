package glyphs

import (
	"fmt"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationmonobold"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifbolditalic"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// typefaces are the fonts, in an order that is part of the data set. The bold
// ones come first, so that a style which needs thick strokes can draw from
// typefaces[:boldTypefaces].
var typefaces = [...][]byte{
	gobold.TTF,
	gomonobold.TTF,
	liberationsansbold.TTF,
	liberationserifbold.TTF,
	liberationserifbolditalic.TTF,
	liberationmonobold.TTF,

	goregular.TTF,
	goitalic.TTF,
	gomono.TTF,
	liberationsansregular.TTF,
	liberationsansitalic.TTF,
	liberationserifregular.TTF,
	liberationserifitalic.TTF,
	liberationmonoregular.TTF,
}

const boldTypefaces = 6

// point is a position or a displacement; y grows downwards.
type point struct{ x, y int }

// contour is a closed polygon: its last point is joined to its first.
type contour []point

// outlines holds the digits of every typeface, in font units.
var outlines = sync.OnceValue(func() (all [len(typefaces)][10][]contour) {
	for f, ttf := range typefaces {
		face, err := sfnt.Parse(ttf)
		if err != nil {
			panic(fmt.Sprintf("glyphs: embedded typeface %d: %v", f, err))
		}
		for digit := range 10 {
			all[f][digit], err = loadOutline(face, rune('0'+digit))
			if err != nil {
				panic(fmt.Sprintf("glyphs: embedded typeface %d, digit %d: %v", f, digit, err))
			}
		}
	}
	return all
})

// loadOutline returns the outline of a character in font units, with its curves
// cut into lines.
func loadOutline(face *sfnt.Font, char rune) ([]contour, error) {
	var buf sfnt.Buffer
	index, err := face.GlyphIndex(&buf, char)
	if err != nil {
		return nil, err
	}
	if index == 0 {
		return nil, fmt.Errorf("no glyph for %q", char)
	}
	// At this size one font unit is 1/64 pixel, so that fixed.Int26_6 holds
	// unscaled, unrounded font units.
	segments, err := face.LoadGlyph(&buf, index, fixed.Int26_6(face.UnitsPerEm()), &sfnt.LoadGlyphOptions{})
	if err != nil {
		return nil, err
	}
	var contours []contour
	for _, s := range segments {
		p := [3]point{}
		for i, a := range s.Args {
			p[i] = point{int(a.X), int(a.Y)}
		}
		if s.Op == sfnt.SegmentOpMoveTo {
			contours = append(contours, contour{p[0]})
			continue
		}
		last := len(contours) - 1
		switch s.Op {
		case sfnt.SegmentOpLineTo:
			contours[last] = append(contours[last], p[0])
		case sfnt.SegmentOpQuadTo:
			c := contours[last]
			contours[last] = appendQuad(c, c[len(c)-1], p[0], p[1])
		default:
			return nil, fmt.Errorf("segment %d of %q: only TrueType curves are known", s.Op, char)
		}
	}
	return contours, nil
}

// appendQuad appends the quadratic Bézier curve from a (exclusive) by way of b
// to c as four lines.
func appendQuad(dst contour, a, b, c point) contour {
	const n = 4
	for t := 1; t <= n; t++ {
		u := n - t
		dst = append(dst, point{
			(u*u*a.x + 2*u*t*b.x + t*t*c.x) / (n * n),
			(u*u*a.y + 2*u*t*b.y + t*t*c.y) / (n * n),
		})
	}
	return dst
}

// bounds returns the smallest box around all points.
func bounds(contours []contour) (lo, hi point) {
	lo, hi = contours[0][0], contours[0][0]
	for _, c := range contours {
		for _, p := range c {
			lo = point{min(lo.x, p.x), min(lo.y, p.y)}
			hi = point{max(hi.x, p.x), max(hi.y, p.y)}
		}
	}
	return lo, hi
}
