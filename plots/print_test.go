package plots

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// inflated is a PDF with its compressed streams in clear.
func inflated(t *testing.T, pdf []byte) string {
	t.Helper()
	var b strings.Builder
	for part := range bytes.SplitSeq(pdf, []byte("stream\n")) {
		if r, err := zlib.NewReader(bytes.NewReader(part)); err == nil {
			text, _ := io.ReadAll(r) // up to what is not of the stream
			b.Write(text)
		}
	}
	return b.String()
}

// checkEmbedded checks that the fonts of an SVG have the glyphs of its texts and no others that a
// figure would have, and returns their number.
func checkEmbedded(t *testing.T, svg string) int {
	t.Helper()
	list := regexp.MustCompile(`font-weight:(\w+);src:url\(data:font/woff;base64,([^)]*)\)`).FindAllStringSubmatch(svg, -1)
	for _, m := range list {
		data := fatal.Get(base64.StdEncoding.DecodeString(m[2]))(t)
		font := fatal.Get(sfnt.Parse(unpacked(t, data)))(t)
		used := ""
		for _, text := range regexp.MustCompile(`font-weight:`+m[1]+`;[^>]*>([^<]*)</text>`).FindAllStringSubmatch(svg, -1) {
			used += text[1]
		}
		for _, r := range used + "@ß" {
			var b sfnt.Buffer
			glyph := fatal.Get(font.GlyphIndex(&b, r))(t)
			outline, err := font.LoadGlyph(&b, glyph, fixed.I(10), nil)
			if drawn := glyph != 0 && err == nil && (len(outline) > 0 || r == ' '); drawn != strings.ContainsRune(used, r) {
				t.Errorf("weight %s: glyph %d of %q has %d segments, %v; the texts are %q", m[1], glyph, r, len(outline), err, used)
			}
		}
	}
	return len(list)
}

// unpacked returns the TrueType font of a web font, with its tables in the same order.
func unpacked(t *testing.T, woff []byte) []byte {
	t.Helper()
	order := binary.BigEndian
	n := order.Uint16(woff[12:])
	if string(woff[:4]) != "wOFF" || int(order.Uint32(woff[8:])) != len(woff) {
		t.Fatalf("header %x of %d bytes", woff[:44], len(woff))
	}
	ttf := append(order.AppendUint16(slices.Clone(woff[4:8]), n), make([]byte, 6+16*int(n))...)
	for i := range int(n) {
		e := woff[44+20*i:] // tag, offset, length, length when unpacked, checksum
		table := woff[order.Uint32(e[4:]):][:order.Uint32(e[8:])]
		if order.Uint32(e[8:]) < order.Uint32(e[12:]) {
			table = fatal.Get(io.ReadAll(fatal.Get(zlib.NewReader(bytes.NewReader(table)))(t)))(t)
		}
		entry := order.AppendUint32(order.AppendUint32(slices.Concat(e[:4], e[16:20]), uint32(len(ttf))), order.Uint32(e[12:]))
		copy(ttf[12+16*i:], entry)
		ttf = append(append(ttf, table...), make([]byte, -len(table)&3)...)
	}
	if int(order.Uint32(woff[16:])) != len(ttf) {
		t.Errorf("a font of %d bytes, want %d", len(ttf), order.Uint32(woff[16:]))
	}
	return ttf
}

func TestTextAsText(t *testing.T) {
	d := EpochsData{Title: "photo", XLabel: "Round", ValueLabel: "Recall γ", Curves: []Curve{{Name: "ceg", Points: []Point{{X: 1, Values: []float64{10}}, {X: 2, Values: []float64{20}}}}}}
	encode := func(theme Theme, format string) []byte {
		t.Helper()
		g := fatal.Get(Epochs(theme, d))(t)
		data := fatal.Get(g.Encode(format))(t)
		again, err := g.Encode(format)
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("%s: the same figure gives other bytes, %v", format, err)
		}
		return data
	}
	file := filepath.Join(t.TempDir(), "own.ttf")
	fatal.If(t, os.WriteFile(file, liberationserifregular.TTF, 0o600))
	own, err := LoadFont(file)
	if err != nil || own != "Liberation Serif" {
		t.Fatalf("font %q, %v", own, err)
	}
	for family, name := range map[string]string{"": "Liberation Sans", "Serif": "Liberation Serif", "Mono": "Liberation Mono", own: "Liberation Serif"} {
		theme := Print().WithWidth(vg.Points(200)).WithFontSize(9)
		theme.Family = family
		if svg := string(encode(theme, "svg")); strings.Contains(svg, "<text") || !strings.Contains(svg, `width="200pt"`) {
			t.Errorf("%q: outlines have text, or another width: %.300s", family, svg)
		}
		theme.Text = true
		svg := string(encode(theme, "svg"))
		for _, want := range []string{">Round</text>", ">Recall γ</text>", "font-size:9px", `width="200pt"`, "font-family:'" + name + "', "} {
			if !strings.Contains(svg, want) {
				t.Errorf("%q: the SVG has no %s", family, want)
			}
		}
		if n := checkEmbedded(t, svg); n == 0 || len(svg) > 100_000 {
			t.Errorf("%q: %d embedded fonts in %d bytes", family, n, len(svg))
		}
		if text := inflated(t, encode(theme, "pdf")); !strings.Contains(text, "(Round)") || strings.Contains(text, "(Recall") {
			t.Errorf("%q: the PDF has no text, or Greek letters that it cannot show: %.300q", family, text)
		}
	}
	if _, err := LoadFont(filepath.Join(t.TempDir(), "none.ttf")); err == nil {
		t.Error("a font that is not there is loaded")
	}
	fatal.If(t, os.WriteFile(file, []byte("OTTO"), 0o600))
	fatal.Says(t, fatal.Err(LoadFont(file)), "want a TrueType font")
}
