package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"

	palette "github.com/soniakeys/quant/mean"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// printDPI is the resolution of PNG files.
const printDPI = 300

// Save writes the figure to a file with extension .svg, .pdf or .png (300 dots per inch),
// replacing an existing one.
func (g *Grid) Save(path string) error {
	b, err := g.Encode(strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."))
	if err != nil {
		return fmt.Errorf("%w (saving %s)", err, path)
	}
	return os.WriteFile(path, b, 0o644)
}

// Encode returns the figure as "svg", "pdf" or "png" (300 dots per inch). The
// same figure gives the same bytes.
func (g *Grid) Encode(format string) ([]byte, error) {
	w, h, err := g.Size()
	if err != nil {
		return nil, err
	}
	var canvas vg.CanvasWriterTo
	var target vg.Canvas
	switch format {
	case "svg":
		svg := vgsvg.New(w, h)
		canvas, target = svg, svg
		if g.Theme.Text {
			text := &svgText{Canvas: svg}
			canvas, target = text, text
		}
	case "pdf":
		canvas = vgpdf.New(w, h)
		target = pdfCanvas{canvas}
	case "png":
		return g.PNG(printDPI)
	default:
		return nil, fmt.Errorf("plots: cannot write %q, want svg, pdf or png", format)
	}
	if err := g.Draw(draw.NewCanvas(target, w, h)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	if format == "pdf" {
		return undated(b.Bytes()), nil
	}
	return shorter(g.described(b.Bytes())), nil
}

// PNG returns the figure as a PNG image with the given number of dots per inch:
// 300 for print, about 120 for a notebook.
func (g *Grid) PNG(dpi int) ([]byte, error) {
	if dpi < 1 || dpi > 2400 {
		return nil, fmt.Errorf("plots: %d dots per inch, want 1 to 2400", dpi)
	}
	m, err := g.raster(dpi)
	if err != nil {
		return nil, err
	}
	return encodePNG(m)
}

// raster draws the figure with the given number of dots per inch.
func (g *Grid) raster(dpi int) (image.Image, error) {
	w, h, err := g.Size()
	if err != nil {
		return nil, err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))
	if err := g.Draw(draw.NewCanvas(canvas, w, h)); err != nil {
		return nil, err
	}
	return canvas.Image(), nil
}

func encodePNG(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err := encoder.Encode(&b, m)
	return b.Bytes(), err
}

const (
	// pageDPI is the number of a page's pixels in an inch.
	pageDPI = 96
	// pageColours is the number of colours of a figure for pages. It leaves a third of the size and
	// no visible difference: notebooks stay in a repository's history for good.
	pageColours = 256
	// largePNG is the size from which on a figure for pages has fewer dots.
	largePNG = 200 << 10
)

// PagePNG returns the figure as a PNG image for web pages, and its width there in pixels. It has a
// palette of 256 colours and two dots a pixel, or 1.25 if the file would be large because of
// pictures.
func (g *Grid) PagePNG() (data []byte, width int, err error) {
	w, _, err := g.Size()
	if err != nil {
		return nil, 0, err
	}
	if data, err = g.SmallPNG(2 * pageDPI); err == nil && len(data) > largePNG {
		data, err = g.SmallPNG(5 * pageDPI / 4)
	}
	return data, int(math.Round(w.Dots(pageDPI))), err
}

// SmallPNG is PNG with a palette of 256 colours.
func (g *Grid) SmallPNG(dpi int) ([]byte, error) {
	m, err := g.raster(dpi)
	if err != nil {
		return nil, err
	}
	return encodePNG(palette.Quantizer(pageColours).Paletted(m))
}
