package page

import (
	"bytes"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"

	xdraw "golang.org/x/image/draw"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// tile is an image with its class Is, its predicted or queried class Seen, and more lines.
type tile struct {
	ID, Is, Seen string
	Notes        []string
	Picture      template.URL // empty if it is unavailable
}

// gallery makes the thumbnails of a run's images.
type gallery struct {
	run     *result.Run
	o       report.FigureOptions
	data    *datasets.Dataset
	missing string
}

// NoImages says why images are missing, empty if none is.
func (g *gallery) NoImages() string { return g.missing }

// picture returns the thumbnail of an image, or an empty one. The first call opens the data set.
func (g *gallery) picture(id string) template.URL {
	if g.data == nil && g.missing == "" {
		data, err := report.Dataset(g.run, g.o)
		if err == nil {
			if f, ok := data.Features(); ok {
				_, err = f.ImageRoot()
			}
		}
		if err != nil {
			g.missing = err.Error()
		} else {
			g.data = data
		}
	}
	if g.data == nil {
		return ""
	}
	i, ok := g.data.Index(id)
	if !ok {
		g.missing = fmt.Sprintf("%s is not in the data set", id)
		return ""
	}
	m, err := g.data.Image(i)
	if err != nil {
		g.missing = err.Error()
		return ""
	}
	return thumbnail(m.ToImage())
}

const thumbnailSide = 72

// thumbnail returns a small JPEG of an image.
func thumbnail(m image.Image) template.URL {
	b := m.Bounds()
	scale := float64(thumbnailSide) / float64(max(b.Dx(), b.Dy()))
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))))
	xdraw.CatmullRom.Scale(small, small.Bounds(), m, b, xdraw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: 80}); err != nil {
		return ""
	}
	return dataURL("image/jpeg", out.Bytes())
}
