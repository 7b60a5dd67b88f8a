package plots

import (
	"strings"

	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outlined is a canvas that draws texts as filled outlines. An SVG then does not
// depend on the reader's fonts, and a PDF is not limited to the Western
// characters that gonum's PDF canvas can encode.
type outlined struct {
	vg.Canvas
	text bool // where the canvas can write it
}

// writes reports whether the canvas writes s as text. gonum's PDF canvas (v0.17) can embed one font
// and encode few characters.
func (c outlined) writes(f font.Face, s string) bool {
	switch c.Canvas.(type) {
	case *svgText:
		return true
	case pdfCanvas:
		return c.text && f.Font.Weight == stdfont.WeightNormal && !strings.ContainsFunc(s, func(r rune) bool { return r > '~' })
	}
	return false
}

// FillString draws s from pt on, advancing as font.Face.Width measures.
func (c outlined) FillString(f font.Face, pt vg.Point, s string) {
	if c.writes(f, s) {
		c.Canvas.FillString(f, pt, s)
		return
	}
	var buf sfnt.Buffer
	em := fixed.Int26_6(f.Face.UnitsPerEm())
	scale := float64(f.Font.Size) / float64(em)
	x := float64(pt.X)
	var path vg.Path
	var previous sfnt.GlyphIndex
	for i, r := range s {
		glyph, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			panic(err) // a damaged font; the built-in ones are not
		}
		if i > 0 {
			if kern, err := f.Face.Kern(&buf, previous, glyph, em, 0); err == nil {
				x += float64(kern) * scale
			}
		}
		// With as many pixels per em as the font has units, a 26.6 number holds
		// font units; y points down.
		segments, err := f.Face.LoadGlyph(&buf, glyph, em, nil)
		if err != nil {
			panic(err)
		}
		at := func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: vg.Length(x + float64(p.X)*scale), Y: pt.Y - vg.Length(float64(p.Y)*scale)}
		}
		open := false
		for _, seg := range segments {
			switch seg.Op {
			case sfnt.SegmentOpMoveTo:
				if open {
					path.Close()
				}
				path.Move(at(seg.Args[0]))
				open = true
			case sfnt.SegmentOpLineTo:
				path.Line(at(seg.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(at(seg.Args[0]), at(seg.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(at(seg.Args[0]), at(seg.Args[1]), at(seg.Args[2]))
			}
		}
		if open {
			path.Close()
		}
		advance, err := f.Face.GlyphAdvance(&buf, glyph, em, 0)
		if err != nil {
			panic(err)
		}
		x += float64(advance) * scale
		previous = glyph
	}
	if len(path) > 0 {
		c.Fill(path)
	}
}
