package plots

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// svgText is an SVG whose texts are texts. Browsers draw them with the embedded glyphs, which are
// only those that occur: whole fonts are half a megabyte each. Drawing programs ignore embedded fonts;
// they look for the font by its name, and then for one of the same widths. Every text has its length,
// as the embedded glyphs have no kerning.
type svgText struct {
	*vgsvg.Canvas
	faces  []usedFace
	widths []vg.Length // of the texts, in the order of their elements
}

// usedFace is a font with the characters that a figure has of it.
type usedFace struct {
	face         font.Face
	family, used string
}

// alike are fonts with the widths of the built-in ones, which most systems have.
var alike = map[string]string{
	"Liberation Sans": "Arial, sans-serif", "Liberation Serif": "'Times New Roman', serif", "Liberation Mono": "'Courier New', monospace",
}

func (c *svgText) FillString(f font.Face, at vg.Point, s string) {
	i := slices.IndexFunc(c.faces, func(u usedFace) bool { return u.face.Face == f.Face && u.face.Font.Weight == f.Font.Weight })
	if i < 0 {
		family, err := f.Face.Name(nil, sfnt.NameIDFamily)
		if err != nil {
			panic(err) // as vgsvg does
		}
		i, c.faces = len(c.faces), append(c.faces, usedFace{face: f, family: family})
	}
	c.faces[i].used += s
	c.widths = append(c.widths, f.Width(s))
	c.Canvas.FillString(f, at, s)
}

func (c *svgText) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := c.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	svg, style := b.String(), ""
	for _, f := range c.faces {
		var whole bytes.Buffer
		if _, err := f.face.Face.WriteSourceTo(nil, &whole); err != nil {
			return 0, err
		}
		data := fpdf.UTF8CutFont(whole.Bytes(), f.used)
		if len(data) == 0 {
			return 0, fmt.Errorf("plots: font %q has no Unicode table of format 4; use another font, or texts as outlines", f.family)
		}
		weight := "normal"
		if f.face.Font.Weight == stdfont.WeightBold {
			weight = "bold"
		}
		style += fmt.Sprintf("@font-face{font-family:'%s';font-weight:%s;src:url(data:font/ttf;base64,%s)}\n", f.family, weight, base64.StdEncoding.EncodeToString(data))
		fallback := alike[f.family]
		if fallback == "" {
			fallback = "sans-serif"
		}
		svg = strings.ReplaceAll(svg, "font-family:"+f.family+";", fmt.Sprintf("font-family:'%s', %s;", f.family, fallback))
	}
	parts := strings.Split(svg, "<text ")
	for i, width := range c.widths {
		parts[i] += fmt.Sprintf(`<text xml:space="preserve" textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, width.Points())
	}
	svg = strings.Join(parts, "")
	n, err := io.WriteString(w, strings.Replace(svg, svgRoot, svgRoot+"<defs><style>\n"+style+"</style></defs>\n", 1))
	return int64(n), err
}

// svgRoot is the end of the first tag of an SVG.
const svgRoot = "xlink\">\n"

// described gives an SVG its title, and a description for those who do not see it: panels, axes, legend and note.
func (g *Grid) described(svg []byte) []byte {
	var titles, parts []string
	for _, p := range g.Panels {
		if titles = append(titles, p.Title); p.Plot != nil {
			parts = append(parts, fmt.Sprintf("%s: %s over %s.", p.Title, p.Plot.Y.Label.Text, cmp.Or(p.Plot.X.Label.Text, "groups")))
		}
	}
	for _, e := range g.Legend {
		parts = append(parts, e.Name+".")
	}
	var b bytes.Buffer
	write := func(tag, text string) {
		b.WriteString("<" + tag + ">")
		xml.EscapeText(&b, []byte(text)) // writing to memory does not fail
		b.WriteString("</" + tag + ">\n")
	}
	write("title", cmp.Or(g.Title, strings.Join(titles, ", ")))
	write("desc", strings.Join(append(parts, g.Note), " "))
	return bytes.Replace(svg, []byte(svgRoot), append([]byte(svgRoot), b.Bytes()...), 1)
}
