package plots

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	stdfont "golang.org/x/image/font"
)

// Theme defines the look of figures. Start from [Print], [Dark] or [Screen] and change fields;
// the zero value is refused.
type Theme struct {
	// Name is one of ThemeNames or the name of a variation.
	Name string
	// Background fills the figure; Ink is for titles, selected points and
	// values; Muted for axes and their labels; Faint for grid lines.
	Background, Ink, Muted, Faint color.Color
	// Methods are the colours of curves, in order of first appearance.
	Methods []color.Color
	// Arms are the names of curves whose looks are the same in every figure, at most 35: the
	// place gives colour, dash and marker. Those that are often drawn together are less than 7
	// places apart.
	Arms []string
	// Classes and Domains are the colours of points.
	Classes, Domains []color.Color
	// Sequential holds the colours of a heat map from low to high, equally spaced; at least two.
	Sequential []color.Color
	// TitleSize, LabelSize, TickSize and NoteSize are font sizes of panel titles,
	// axis labels and legends, tick labels, and notes and captions.
	TitleSize, LabelSize, TickSize, NoteSize vg.Length
	// LineWidth is the width of curves.
	LineWidth vg.Length
	// Family is one of Families, or a font of [LoadFont]; empty means Sans.
	Family string
	// Text writes texts as text in SVG and PDF, to be selected and searched, with their fonts.
	// Otherwise they are outlines. In PDF, bold texts and characters beyond ASCII stay outlines.
	Text bool
	// Band is what the bands of curves show, and BandFrom the smallest number of runs for which one is drawn; 0
	// means 5. Fewer runs are drawn as points: a Student-t interval of three runs is 4.3 standard errors to each
	// side.
	Band     Band
	BandFrom int
	// ColumnWidth and PageWidth are the widths of figures.
	ColumnWidth, PageWidth vg.Length
	Look
}

// Print returns the theme for white paper: 3.3 and 6.9 inches wide, one and two columns of a
// conference page.
func Print() Theme {
	return Theme{
		Name:       "print",
		Background: color.White,
		Ink:        rgb(0x000000),
		Muted:      rgb(0x404040),
		Faint:      rgb(0xE4E4E4),
		// Okabe and Ito (2008), with grey or violet for its pale yellow.
		Methods: colors(0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x6E6E6E),
		// More for up to twenty classes, as far from these, from each other and from the ink as vision
		// without one kind of cone allows.
		Classes: colors(0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x6633CC, 0xD2C378, 0x004B4B, 0x692D0F,
			0x002DFF, 0x5A0F69, 0x8787FF, 0xF0B4B4, 0xFF004B, 0x5A783C, 0x00E13C, 0xB41E78, 0xC3C3E1, 0xD200B4),
		// Paul Tol, "muted", so that no domain looks like a class.
		Domains:     colors(0x332288, 0xDDAA33, 0xAA4499, 0x44AA99, 0x882255, 0x999933),
		Sequential:  viridis(),
		TitleSize:   8,
		LabelSize:   7.5,
		TickSize:    7,
		NoteSize:    6.5,
		LineWidth:   1.2,
		ColumnWidth: 3.3 * vg.Inch,
		PageWidth:   6.9 * vg.Inch,
	}
}

// Dark returns the theme for dark screens, with lighter colours of the same
// families.
func Dark() Theme {
	t := Print()
	t.Name = "dark"
	t.Background = rgb(0x16191D)
	t.Ink = rgb(0xFFFFFF)
	t.Muted = rgb(0xC4CAD0)
	t.Faint = rgb(0x30363C)
	t.Methods = colors(0x56B4E9, 0xF08A4B, 0x2FC79B, 0xE39CC3, 0xF0E442, 0x9566FF, 0x997755)
	t.Classes = append(slices.Clone(t.Methods), colors(0x5A6978, 0x00FF96, 0x874BA5,
		0xE1001E, 0x871EFF, 0xC3FF78, 0x6987E1, 0xD2A500, 0x00780F, 0x4B9687, 0xE1D2FF, 0xA5F0C3, 0xD269B4)...)
	t.Domains = colors(0x88CCEE, 0xDDCC77, 0xE07BC8, 0x44AA99, 0xCC6677, 0x8888FF)
	return t
}

// Screen returns the theme for notebooks and slides: 6 and 9 inches wide, with larger
// letters and lines.
func Screen() Theme {
	t := Print()
	t.Name = "screen"
	t.TitleSize, t.LabelSize, t.TickSize, t.NoteSize = 12, 11, 10, 9
	t.LineWidth = 1.8
	t.ColumnWidth, t.PageWidth = 6*vg.Inch, 9*vg.Inch
	return t
}

// ThemeNames lists the themes.
func ThemeNames() []string { return []string{"print", "dark", "screen"} }

// NamedTheme returns a theme by its name in [ThemeNames].
func NamedTheme(name string) (Theme, error) {
	for _, t := range []Theme{Print(), Dark(), Screen()} {
		if t.Name == name {
			return t, nil
		}
	}
	return Theme{}, fmt.Errorf("plots: no theme %q, want %s", name, strings.Join(ThemeNames(), ", "))
}

func (t Theme) check() error {
	if t.Background == nil || t.Ink == nil || t.Muted == nil || t.Faint == nil ||
		len(t.Methods) == 0 || len(t.Classes) == 0 || len(t.Domains) == 0 || len(t.Sequential) < 2 ||
		min(t.TitleSize, t.LabelSize, t.TickSize, t.NoteSize, t.LineWidth, t.ColumnWidth, t.PageWidth) <= 0 {
		return fmt.Errorf("plots: theme %q lacks a colour or a size; start from Print, Dark or Screen", t.Name)
	}
	return nil
}

func (t Theme) style(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    t.face(size),
		Handler: letters(),
	}
}

func (t Theme) bold(size vg.Length, c color.Color) text.Style {
	s := t.style(size, c)
	s.Font.Weight = stdfont.WeightBold
	return s
}

// NewPlot returns empty axes in the theme, for a [Panel] of a [Grid] of your own.
func (t Theme) NewPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the grid fills it
	p.Title.TextStyle = t.bold(t.TitleSize, t.Ink)
	p.Legend.TextStyle = t.style(t.LabelSize, t.Ink)
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		align, valign := a.Tick.Label.XAlign, a.Tick.Label.YAlign
		a.Label.TextStyle = t.style(t.LabelSize, t.Ink)
		a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
		a.Label.Padding = 2
		a.LineStyle = draw.LineStyle{Color: t.Muted, Width: 0.6}
		a.Tick.Label = t.style(t.TickSize, t.Muted)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = align, valign
		a.Tick.LineStyle = draw.LineStyle{Color: t.Muted, Width: 0.6}
		a.Tick.Length = 2.5
		a.Padding = 0
		a.Tick.Marker = ticks{7}
	}
	return p
}
