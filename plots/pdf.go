package plots

import (
	"bytes"
	"image"
	"image/color"
	"regexp"
	"sync"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// pdfCanvas makes up for two faults of gonum's PDF canvas (v0.17): it takes
// colours multiplied by their opacity for plain ones, so that transparent ones
// come out too dark, and draws images upside down.
type pdfCanvas struct{ vg.Canvas }

func (c pdfCanvas) SetColor(col color.Color) {
	if col == nil {
		col = color.Black
	}
	c.Canvas.SetColor(plain{color.NRGBA64Model.Convert(col).(color.NRGBA64)})
}

// plain is a colour whose RGBA method does not multiply by the opacity.
type plain struct{ c color.NRGBA64 }

// RGBA implements color.Color but for the multiplication.
func (p plain) RGBA() (r, g, b, a uint32) {
	return uint32(p.c.R), uint32(p.c.G), uint32(p.c.B), uint32(p.c.A)
}

// FillString implements vg.Canvas, with a font of ASCII alone: whole ones have 200 kB, and other characters are
// outlines.
func (c pdfCanvas) FillString(f font.Face, at vg.Point, s string) {
	if subset := asciiOf(f.Face); subset != nil {
		f.Face = subset
	}
	c.Canvas.FillString(f, at, s)
}

var subsets sync.Map // by the whole fonts

// asciiOf returns a font with the characters from space to ~, nil for one that cannot be cut.
func asciiOf(whole *opentype.Font) *opentype.Font {
	if known, ok := subsets.Load(whole); ok {
		return known.(*opentype.Font)
	}
	var ascii []byte
	for r := byte(' '); r <= '~'; r++ {
		ascii = append(ascii, r)
	}
	var data bytes.Buffer
	var subset *opentype.Font
	if _, err := whole.WriteSourceTo(nil, &data); err == nil {
		if subset, err = opentype.Parse(fpdf.UTF8CutFont(data.Bytes(), string(ascii))); err != nil {
			subset = nil
		}
	}
	known, _ := subsets.LoadOrStore(whole, subset)
	return known.(*opentype.Font)
}

func (c pdfCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	b := img.Bounds()
	flipped := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			flipped.Set(x, y, img.At(b.Min.X+x, b.Max.Y-1-y))
		}
	}
	c.Canvas.DrawImage(r, flipped)
}

var pdfDate = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}\)`)

// undated sets the dates that the PDF library takes from the clock to its
// format's first. The length stays the same, as the PDF's table of offsets
// demands.
func undated(pdf []byte) []byte {
	return pdfDate.ReplaceAllFunc(pdf, func(m []byte) []byte {
		i := bytes.IndexByte(m, ':') + 1
		return append(append([]byte{}, m[:i]...), "19700101000000)"...)
	})
}
