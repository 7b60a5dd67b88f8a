package plots

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// subscripts is a text handler that sets the text in _{...} small and low. All else, an underscore
// by itself too, is as it is.
type subscripts struct{ text.Handler }

// letters is gonum's handler of texts, with subscripts.
func letters() subscripts { return subscripts{plot.DefaultTextHandler} }

const (
	subscriptSize = 0.72 // of the letters
	subscriptDrop = 0.2  // of the letters' size
)

// span is a part of a line in one font.
type span struct {
	text string
	low  bool
}

func spans(line string) (list []span) {
	for {
		before, rest, ok := strings.Cut(line, "_{")
		inside, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return append(list, span{line, false})
		}
		list = append(list, span{before, false}, span{inside, true})
		line = after
	}
}

func (p span) font(f font.Font) font.Font {
	if p.low {
		f.Size *= subscriptSize
	}
	return f
}

func (s subscripts) Box(line string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = s.Handler.Box("", f)
	for _, p := range spans(line) {
		w, _, _ := s.Handler.Box(p.text, p.font(f))
		width += w
	}
	return width, height, depth
}

func (s subscripts) Draw(c vg.Canvas, txt string, sty text.Style, at vg.Point) {
	if !strings.Contains(txt, "_{") {
		s.Handler.Draw(c, txt, sty, at)
		return
	}
	if lines := strings.Split(txt, "\n"); len(lines) > 1 {
		// gonum draws a line on its own at its place among several if it is moved by what these are higher.
		sin, cos := math.Sincos(sty.Rotation)
		more := sty.Height(txt) - sty.Height(lines[0])
		for i, line := range lines {
			up := vg.Length(sty.YAlign)*more + vg.Length(len(lines)-1-i)*sty.Font.Size
			s.Draw(c, line, sty, vg.Point{X: at.X - up*vg.Length(sin), Y: at.Y + up*vg.Length(cos)})
		}
		return
	}
	sin, cos := math.Sincos(sty.Rotation)
	along := func(p vg.Point, right, up vg.Length) vg.Point {
		return vg.Point{X: p.X + right*vg.Length(cos) - up*vg.Length(sin), Y: p.Y + right*vg.Length(sin) + up*vg.Length(cos)}
	}
	width, height, depth := s.Box(txt, sty.Font)
	// From the alignment to the left end of the baseline.
	at = along(at, vg.Length(sty.XAlign)*width, vg.Length(sty.YAlign)*(height+depth)+depth)
	for _, p := range spans(txt) {
		part := sty
		part.Font, part.XAlign = p.font(sty.Font), text.XLeft
		part.YAlign = text.YBottom
		w, _, _ := s.Handler.Box(p.text, part.Font)
		drop := vg.Length(0)
		if p.low {
			drop = subscriptDrop * sty.Font.Size
		}
		// gonum's baseline of a text that is aligned at its bottom.
		base := part.Font.Size - s.Extents(part.Font).Ascent
		s.Handler.Draw(c, p.text, part, along(at, 0, -drop-base))
		at = along(at, w, 0)
	}
}
