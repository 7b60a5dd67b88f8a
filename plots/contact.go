package plots

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strconv"
	"strings"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// Score is a named number of an example.
type Score struct {
	Name  string // short, such as "u"
	Value float64
}

// Tile is one image of a contact sheet with its caption.
type Tile struct {
	Image image.Image
	Class string
	// Truth is the true class where Class is a prediction, to mark it right or wrong; empty for none.
	Truth  string
	Domain string
	// Round is the query round and Rank the place in it, from 1; 0 means unknown.
	Round, Rank int
	Scores      []Score
}

// ContactData is the input of ContactSheet.
type ContactData struct {
	Tiles []Tile
	// Columns is the number of tiles in a row. Zero means 8.
	Columns int
	// Note explains the names of the scores.
	Note string
}

// ContactSheet shows images in rows with class, domain and scores as captions, from left to
// right and top to bottom. Images keep their aspect ratio. Long names end in an ellipsis.
func ContactSheet(t Theme, d ContactData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(d.Tiles) == 0 {
		return nil, errors.New("plots: a contact sheet without images")
	}
	d.Columns = cmp.Or(d.Columns, 8)
	if d.Columns < 1 {
		return nil, fmt.Errorf("plots: a contact sheet of %d columns", d.Columns)
	}
	s := sheet{tiles: d.Tiles, columns: d.Columns, theme: t}
	for i, tile := range d.Tiles {
		if tile.Image == nil || tile.Image.Bounds().Empty() {
			return nil, fmt.Errorf("plots: tile %d has no image", i)
		}
		for _, v := range tile.Scores {
			if err := finite("score", v.Value); err != nil {
				return nil, fmt.Errorf("%w (tile %d, %q)", err, i, v.Name)
			}
		}
	}
	g := t.figure(1, 1, 1)
	g.Width = t.PageWidth
	width := g.Width - 2*margin
	s.side = (width - sheetGap*vg.Length(s.columns-1)) / vg.Length(s.columns)
	if s.side < 12 {
		return nil, fmt.Errorf("plots: %d columns of images do not fit %v", s.columns, g.Width)
	}
	for _, tile := range d.Tiles {
		s.lines = max(s.lines, len(s.caption(tile)))
	}
	rows := (len(d.Tiles) + s.columns - 1) / s.columns
	height := vg.Length(rows)*s.pitch() - sheetGap
	g.Aspect = float64(height / width)
	g.Note = d.Note
	p := t.NewPlot("", "")
	p.HideAxes()
	p.X.Padding, p.Y.Padding = 0, 0
	p.Add(s)
	g.Panels = []Panel{{Plot: p}}
	return g, nil
}

const sheetGap = vg.Length(5)

// sheet draws tiles as a gonum plotter that fills its data area. All images
// are one picture: the order of several in a PDF is random.
type sheet struct {
	tiles   []Tile
	columns int
	side    vg.Length
	lines   int // of the longest caption
	theme   Theme
}

// caption returns the lines below a tile: its class, its domain, and its scores
// on as many lines as they need.
func (s sheet) caption(t Tile) []string {
	lines := []string{t.Class, t.Domain}
	switch t.Truth {
	case "":
	case t.Class:
		lines[0] += ": right"
	default:
		lines = []string{t.Class + ": wrong", "is " + t.Truth, t.Domain}
	}
	if t.Round > 0 && t.Rank > 0 {
		lines = append(lines, fmt.Sprintf("round %d, no. %d", t.Round, t.Rank))
	}
	sty := s.theme.style(s.theme.NoteSize, s.theme.Muted)
	for i, v := range t.Scores {
		text := strings.TrimPrefix(strconv.FormatFloat(v.Value, 'f', 2, 64), "0")
		text = strings.TrimSpace(Symbols(v.Name) + " " + minus(text))
		last := len(lines) - 1
		if joined := lines[last] + "  " + text; i > 0 && sty.Width(joined) <= s.side {
			lines[last] = joined
		} else {
			lines = append(lines, text)
		}
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// captionHeight is the height of all lines below an image.
func (s sheet) captionHeight() vg.Length {
	if s.lines == 0 {
		return 0
	}
	return 1.5 + vg.Length(s.lines)*s.theme.NoteSize*1.15
}

// pitch is the distance between rows.
func (s sheet) pitch() vg.Length { return s.side + s.captionHeight() + sheetGap }

// corner returns the top left corner of a tile, from the top left of the sheet
// down.
func (s sheet) corner(i int) (x, y vg.Length) {
	return vg.Length(i%s.columns) * (s.side + sheetGap), vg.Length(i/s.columns) * s.pitch()
}

func (s sheet) Plot(c vgdraw.Canvas, _ *plot.Plot) {
	c.DrawImage(c.Rectangle, s.picture(c.Size()))
	for i, tile := range s.tiles {
		x, y := s.corner(i)
		at := vg.Point{X: c.Min.X + x, Y: c.Max.Y - y - s.side - 1.5}
		for k, line := range s.caption(tile) {
			sty := s.theme.style(s.theme.NoteSize, s.theme.Muted)
			if k == 0 {
				sty = s.theme.bold(s.theme.NoteSize, s.theme.Ink)
			}
			sty.YAlign = vgdraw.YTop
			if line != "" {
				c.FillText(sty, at, shorten(sty, line, s.side))
			}
			at.Y -= s.theme.NoteSize * 1.15
		}
	}
}

// picture draws all images onto one of the sheet's proportions.
func (s sheet) picture(size vg.Point) image.Image {
	// As many pixels as the largest image, within limits.
	const least, most = 128, 256
	native := 0
	for _, t := range s.tiles {
		native = max(native, t.Image.Bounds().Dx(), t.Image.Bounds().Dy())
	}
	scale := float64(min(max(native, least), most)) / float64(s.side)
	pixels := func(l vg.Length) int { return int(math.Round(float64(l) * scale)) }
	out := image.NewRGBA(image.Rect(0, 0, pixels(size.X), pixels(size.Y)))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.RGBAModel.Convert(s.theme.Background)), image.Point{}, draw.Src)
	for i, t := range s.tiles {
		x, y := s.corner(i)
		b := t.Image.Bounds()
		fit := float64(pixels(s.side)) / float64(max(b.Dx(), b.Dy()))
		w, h := int(math.Round(float64(b.Dx())*fit)), int(math.Round(float64(b.Dy())*fit))
		min := image.Pt(pixels(x), pixels(y)+pixels(s.side)-h) // on the caption
		xdraw.CatmullRom.Scale(out, image.Rectangle{Min: min, Max: min.Add(image.Pt(max(w, 1), max(h, 1)))}, t.Image, b, xdraw.Over, nil)
	}
	return out
}
