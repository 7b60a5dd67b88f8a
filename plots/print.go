package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Families lists the built-in families of fonts.
func Families() []string { return []string{"Sans", "Serif", "Mono"} }

// LoadFont reads a TrueType font from a file .ttf and returns its name for Theme.Family.
func LoadFont(path string) (family string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	fail := func(err error) (string, error) { return "", fmt.Errorf("font %s: %w", path, err) }
	if bytes.HasPrefix(data, []byte("OTTO")) {
		return fail(fmt.Errorf("it has PostScript outlines, want a TrueType font"))
	}
	face, err := opentype.Parse(data)
	if err != nil {
		return fail(err)
	}
	if family, err = face.Name(nil, sfnt.NameIDFull); err != nil || family == "" {
		family = filepath.Base(path)
	}
	font.DefaultCache.Add(font.Collection{{Font: font.Font{Typeface: font.Typeface(family)}, Face: face}})
	return family, nil
}

// WithWidth returns the theme with figures of a width, whatever their number of columns.
func (t Theme) WithWidth(w vg.Length) Theme {
	t.ColumnWidth, t.PageWidth = w, w
	return t
}

// WithFontSize returns the theme with labels of a size in points, and all other texts in
// proportion.
func (t Theme) WithFontSize(points float64) Theme {
	f := vg.Points(points) / t.LabelSize
	t.TitleSize, t.LabelSize, t.TickSize, t.NoteSize = f*t.TitleSize, f*t.LabelSize, f*t.TickSize, f*t.NoteSize
	return t
}

func (t Theme) face(size vg.Length) font.Font {
	switch t.Family {
	case "", "Sans", "Serif", "Mono":
		variant := cmp.Or(font.Variant(t.Family), "Sans")
		return font.Font{Typeface: "Liberation", Variant: variant, Size: size}
	}
	return font.Font{Typeface: font.Typeface(t.Family), Size: size}
}
