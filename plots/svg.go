package plots

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
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
		style += fmt.Sprintf("@font-face{font-family:'%s';font-weight:%s;src:url(data:font/woff;base64,%s)}\n", f.family, weight, base64.StdEncoding.EncodeToString(woff(data)))
		fallback := cmp.Or(alike[f.family], "sans-serif")
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

// woff packs a TrueType font as a web font, which is a third smaller (WOFF 1.0, www.w3.org/TR/WOFF).
func woff(ttf []byte) []byte {
	order, n := binary.BigEndian, binary.BigEndian.Uint16(ttf[4:])
	start, size := uint32(44+20*int(n)), uint32(12+16*int(n)) // of the first table, and of the font when unpacked
	var list, tables []byte
	for e := range slices.Chunk(ttf[12:size], 16) { // tag, checksum, offset, length
		at, length := order.Uint32(e[8:]), order.Uint32(e[12:])
		table := ttf[at : at+length]
		var b bytes.Buffer
		w, _ := zlib.NewWriterLevel(&b, zlib.BestCompression)
		w.Write(table) // writing to memory does not fail
		w.Close()
		if b.Len() < len(table) {
			table = b.Bytes()
		}
		list = append(order.AppendUint32(order.AppendUint32(order.AppendUint32(append(list, e[:4]...), start+uint32(len(tables))),
			uint32(len(table))), length), e[4:8]...)
		tables = append(tables, table...)
		tables = append(tables, make([]byte, -len(tables)&3)...)
		size += (length + 3) &^ 3
	}
	head := order.AppendUint16(order.AppendUint32(append([]byte("wOFF"), ttf[:4]...), start+uint32(len(tables))), n)
	head = order.AppendUint32(append(head, 0, 0), size)
	head = append(head, make([]byte, 24)...) // no version, metadata or private data
	return slices.Concat(head, list, tables)
}

// straight is a path of straight lines, and point what it consists of: commands M and L with a point, and Z.
var (
	straight = regexp.MustCompile(`<path d="[MLZ,.\d-]+"`)
	point    = regexp.MustCompile(`Z|([ML])([\d.-]+),([\d.-]+)`)
)

// shorter writes an SVG in fewer bytes: lines from the point before, in hundredths of a point, and no style
// that is the default.
func shorter(svg []byte) []byte {
	svg = bytes.ReplaceAll(bytes.ReplaceAll(svg, []byte("font-variant:normal;"), nil), []byte("font-style:normal;"), nil)
	return straight.ReplaceAllFunc(svg, func(path []byte) []byte {
		var at, start [2]int
		var last byte
		to := []byte(`<path d="`)
		for _, m := range point.FindAllSubmatch(path, -1) {
			if m[1] == nil {
				at, last, to = start, 'z', append(to, 'z')
				continue
			}
			var next [2]int
			for i := range next {
				v, _ := strconv.ParseFloat(string(m[2+i]), 64) // a number that vgsvg has written
				next[i] = int(math.Round(100 * v))
			}
			if m[1][0] == 'M' {
				at, start, last, to = [2]int{}, next, 'M', append(to, 'M')
			} else if last != 'l' { // further lines need no command
				last, to = 'l', append(to, 'l')
			}
			to = hundredths(hundredths(to, next[0]-at[0]), next[1]-at[1])
			at = next
		}
		return append(to, '"')
	})
}

// hundredths appends a number to a path, with a space before it only where it would continue the one before.
func hundredths(path []byte, n int) []byte {
	text := strconv.FormatFloat(float64(n)/100, 'f', -1, 64)
	if n > -100 && n < 100 {
		text = strings.Replace(text, "0.", ".", 1)
	}
	before := bytes.TrimRight(path, "0123456789")
	if len(before) < len(path) && text[0] != '-' && (text[0] != '.' || before[len(before)-1] != '.') {
		path = append(path, ' ')
	}
	return append(path, text...)
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
