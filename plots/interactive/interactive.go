// Package interactive writes interactive scatter plots of images as self-contained HTML: an
// embedding or scores, with a tooltip for each image under the pointer or by the arrow keys,
// switchable legends, and a table of the data.
//
// The embedded script reads the data from the table. Where scripts are removed, as on code
// hosts, the static figure and the table remain.
package interactive

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/plots"
)

// Figure is an interactive figure of n images.
type Figure struct {
	// Title is the title, Note the caption.
	Title, Note string
	// IDs, Domains and Classes [n] are names, empty if unknown.
	IDs, Domains, Classes []string
	// Target is the name of the held-out domain, whose points are hollow; empty for none.
	Target string
	// Rounds [n] are the images' query rounds: 0 before training, -1 for images that were not
	// queried.
	Rounds []int
	// Columns are numbers of the images.
	Columns []Column
	// Panels are drawn side by side.
	Panels []Panel
	// Color is the initial colouring.
	Color Color
	// Picture returns image i; nil if there are no images, for the reason in NoPictures.
	Picture    func(ctx context.Context, i int) (image.Image, error)
	NoPictures string
}

// Column holds a number for each image.
type Column struct {
	Name string
	// Values [n] are NaN if unknown.
	Values []float64
	// Silent columns appear only in the table.
	Silent bool
}

// Panel is a scatter plot of two columns, by their indices in Figure.Columns.
type Panel struct {
	Title string
	X, Y  int
	// Axes draws axes with ticks; without them the panel is an embedding with equal scales.
	Axes bool
}

// Color is the quantity that colours encode.
type Color int

const (
	ByClass Color = iota
	ByDomain
	ByRound
)

//go:embed look.css
var style string

//go:embed look.js
var script string

// spec is what the script reads beside the table.
type spec struct {
	By       Color   `json:"by"`
	Groups   []group `json:"groups"`
	Panels   []panel `json:"panels"`
	Silent   []int   `json:"silent"`
	Sheet    string  `json:"sheet,omitempty"`
	Columns  int     `json:"columns,omitempty"`
	Pictures []int   `json:"pictures,omitempty"`
}

// group is a part of the legend, of the texts of a column of the table.
type group struct {
	Title   string  `json:"title"`
	Column  int     `json:"column"`
	Entries []entry `json:"entries"`
}

type entry struct {
	Name    string `json:"name"`
	Light   string `json:"light"`
	Dark    string `json:"dark"`
	Shape   string `json:"shape,omitempty"`
	Hollow  bool   `json:"hollow,omitempty"`
	Queried bool   `json:"queried,omitempty"`
}

type panel struct {
	Title string `json:"title"`
	X     int    `json:"x"`
	Y     int    `json:"y"`
	Axes  bool   `json:"axes,omitempty"`
}

// stillDPI is the resolution of the still figure: code hosts show that alone.
const stillDPI = 110

// texts is the number of the table's text columns, which come before numbers.
const texts = 4

// HTML returns the figure as an element for a page or a notebook cell, with still as the static
// figure. The same figure gives the same bytes.
func (f *Figure) HTML(ctx context.Context, still *plots.Grid) (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	bare := *still
	bare.Note = "" // which is in the caption
	png, err := bare.SmallPNG(stillDPI)
	if err != nil {
		return "", err
	}
	s, names := f.spec()
	pictures := "Images are not shown: " + f.NoPictures + "."
	if f.Picture != nil {
		if pictures, err = f.addSheet(ctx, &s); ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			pictures = "Images are not shown: " + err.Error() + "."
		}
	}
	words, err := json.Marshal(s) // < is escaped
	if err != nil {
		return "", err
	}
	v := struct {
		Title, Note, Pictures string
		Style                 template.CSS
		Still                 template.URL
		Heads                 []string
		Rows                  template.HTML
		Count                 int
		Spec, Script          template.JS
	}{Title: f.Title, Note: strings.TrimSpace(f.Note), Pictures: pictures, Style: template.CSS(style), Still: dataURL("image/png", png),
		Heads: []string{"image", "domain", "class", "queried"}, Rows: f.rows(names), Count: len(f.IDs), Spec: template.JS(words), Script: template.JS(script)}
	for _, c := range f.Columns {
		v.Heads = append(v.Heads, c.Name)
	}
	var b bytes.Buffer
	if err := element.Execute(&b, v); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Page is [Figure.HTML] as a complete, self-contained page.
func (f *Figure) Page(ctx context.Context, still *plots.Grid) (string, error) {
	body, err := f.HTML(ctx, still)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>%s</title><link rel="icon" href="data:,">
<style>:root{color-scheme:light dark}body{margin:0 auto;padding:1rem;max-width:66rem;background:#fff;color:#16191d}
@media screen and (prefers-color-scheme:dark){body{background:#16191d;color:#f2f4f6}}h1{font:600 1.3rem/1.3 system-ui,sans-serif}</style>
<h1>%[1]s</h1>
%s</html>
`, template.HTMLEscapeString(f.Title), body), nil
}

var element = template.Must(template.New("figure").Parse(`<div class="ledg-look">
<style>{{.Style}}</style>
<figure aria-label="{{.Title}}">
<img class="still" src="{{.Still}}" alt="{{.Title}}: still figure; the table below has its data.">
<div class="live" hidden></div>
<figcaption>{{.Note}}<span class="how" hidden> {{.Pictures}} Point at an image, or focus the figure and use the arrow keys, to see its name.</span></figcaption>
</figure>
<details><summary>Table of the {{.Count}} images</summary>
<div class="scroll" tabindex="0" role="region" aria-label="Table of the images"><table><caption>{{.Title}}</caption>
<thead><tr>{{range .Heads}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>{{.Rows}}</tbody></table></div></details>
<script type="application/json">{{.Spec}}</script>
<script>{{.Script}}</script>
</div>
`))

// check reports what does not fit together.
func (f *Figure) check() error {
	n := len(f.IDs)
	if n == 0 || len(f.Domains) != n || len(f.Classes) != n || len(f.Rounds) != n {
		return fmt.Errorf("interactive: %d images, %d domains, %d classes, %d rounds, want as many of each and at least 1", n, len(f.Domains), len(f.Classes), len(f.Rounds))
	}
	for _, c := range f.Columns {
		if len(c.Values) != n {
			return fmt.Errorf("interactive: %d values of %s for %d images", len(c.Values), c.Name, n)
		}
	}
	for _, p := range f.Panels {
		if min(p.X, p.Y) < 0 || max(p.X, p.Y) >= len(f.Columns) {
			return fmt.Errorf("interactive: panel %q is of columns %d and %d of %d", p.Title, p.X, p.Y, len(f.Columns))
		}
	}
	return nil
}

// names are the texts of the table's columns with a legend.
type names struct{ domains, classes, queried []string }

// spec returns the script's input without images, and the texts of the table.
func (f *Figure) spec() (s spec, t names) {
	s = spec{By: f.Color, Silent: []int{}}
	for i, r := range f.Rounds {
		t.queried = append(t.queried, roundName(r))
		class, domain := cmp.Or(f.Classes[i], "not known"), cmp.Or(f.Domains[i], "not known")
		if domain == f.Target {
			domain += " (target)"
		}
		t.classes, t.domains = append(t.classes, class), append(t.domains, domain)
	}
	light, dark := plots.Screen(), plots.Dark()
	s.Groups = []group{
		kinds("Class", 2, t.classes, light.ClassMarks, dark.ClassMarks),
		kinds("Domain", 1, t.domains, light.DomainMarks, dark.DomainMarks),
		{Title: "Queried", Column: 3},
	}
	for i, e := range s.Groups[1].Entries {
		s.Groups[1].Entries[i].Hollow = e.Name == f.Target+" (target)"
	}
	rounds := slices.Compact(slices.Sorted(slices.Values(f.Rounds)))
	queried := slices.DeleteFunc(slices.Clone(rounds), func(r int) bool { return r < 0 })
	for _, r := range rounds {
		e := entry{Name: roundName(r), Queried: r >= 0, Light: "#b9bec4", Dark: "#59626b"}
		if r >= 0 { // the first the farthest from the ground
			at := float64(r-queried[0]) / float64(max(queried[len(queried)-1]-queried[0], 1))
			e.Light, e.Dark = hex(light.Shade(0.7*at)), hex(dark.Shade(1-0.5*at))
		}
		s.Groups[2].Entries = append(s.Groups[2].Entries, e)
	}
	for i, c := range f.Columns {
		if c.Silent {
			s.Silent = append(s.Silent, texts+i)
		}
	}
	for _, p := range f.Panels {
		s.Panels = append(s.Panels, panel{p.Title, texts + p.X, texts + p.Y, p.Axes})
	}
	return s, t
}

// roundName is a query round in words.
func roundName(r int) string {
	switch r {
	case -1:
		return "not queried"
	case 0:
		return "before training"
	}
	return fmt.Sprintf("round %d", r)
}

// kinds is the legend of names, in the order of the alphabet as in the still figure.
func kinds(title string, column int, of []string, light, dark func(int) []plots.Mark) group {
	list := slices.Compact(slices.Sorted(slices.Values(of)))
	g := group{Title: title, Column: column}
	l, d := light(len(list)), dark(len(list))
	for i, name := range list {
		g.Entries = append(g.Entries, entry{Name: name, Light: hex(l[i].Color), Dark: hex(d[i].Color), Shape: l[i].Shape})
	}
	return g
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// rows are the table's rows, without tags that HTML does not need.
func (f *Figure) rows(t names) template.HTML {
	var b strings.Builder
	for i, id := range f.IDs {
		b.WriteString("<tr>")
		for _, text := range []string{id, t.domains[i], t.classes[i], t.queried[i]} {
			b.WriteString("<td>" + template.HTMLEscapeString(text))
		}
		for _, c := range f.Columns {
			b.WriteString("<td>")
			if v := c.Values[i]; !math.IsNaN(v) {
				b.WriteString(strconv.FormatFloat(v, 'g', 4, 64))
			}
		}
		b.WriteByte('\n')
	}
	return template.HTML(b.String())
}

func dataURL(kind string, data []byte) template.URL {
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data))
}
