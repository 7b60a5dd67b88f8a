package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var update = flag.Bool("update", false, "rewrite the golden figures in testdata")

// each runs f for every kind of figure in both themes.
func each(t *testing.T, f func(t *testing.T, name string, build func() (*Grid, error))) {
	for _, theme := range []Theme{Print(), Dark()} {
		for name, build := range figures(theme) {
			t.Run(name+" "+theme.Name, func(t *testing.T) { f(t, name, build) })
		}
	}
}

func must(t *testing.T, build func() (*Grid, error)) *Grid {
	t.Helper()
	return fatal.Get(build())(t)
}

func pixels(t *testing.T, g *Grid, dpi int) *image.RGBA {
	t.Helper()
	b := fatal.Get(g.PNG(dpi))(t)
	return decode(t, b)
}

func decode(t *testing.T, b []byte) *image.RGBA {
	t.Helper()
	m := fatal.Get(png.Decode(bytes.NewReader(b)))(t)
	out := image.NewRGBA(m.Bounds())
	draw.Draw(out, out.Bounds(), m, image.Point{}, draw.Src)
	return out
}

func TestSameDataSameBytes(t *testing.T) {
	each(t, func(t *testing.T, _ string, build func() (*Grid, error)) {
		for _, format := range []string{"svg", "pdf"} {
			a := fatal.Get(must(t, build).Encode(format))(t)
			b := fatal.Get(must(t, build).Encode(format))(t)
			if !bytes.Equal(a, b) {
				t.Errorf("two %s files differ", format)
			}
			if format == "pdf" && (!bytes.HasPrefix(a, []byte("%PDF-")) || bytes.Count(a, []byte("(D:19700101000000)")) != 2) {
				t.Error("the PDF lacks its header or carries another date")
			}
			if format == "svg" {
				checkSVG(t, a)
			}
		}
	})
}

// checkSVG asks for well-formed XML without text elements, whose look would
// depend on fonts.
func checkSVG(t *testing.T, b []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	paths := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if e.Name.Local == "text" {
				t.Error("the SVG has text")
			}
			if e.Name.Local == "path" {
				paths++
			}
		}
	}
	if paths < 10 {
		t.Errorf("the SVG has %d paths", paths)
	}
	if s := string(b); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Error("the SVG has coordinates that are no numbers")
	}
}

// TestNothingIsCut asks for an empty rim: no text reaches over the edge.
func TestNothingIsCut(t *testing.T) {
	each(t, func(t *testing.T, _ string, build func() (*Grid, error)) {
		g := must(t, build)
		m := pixels(t, g, 100)
		background := color.RGBAModel.Convert(g.Theme.Background).(color.RGBA)
		b := m.Bounds()
		for x := range b.Dx() {
			for y := range b.Dy() {
				// The last row and column are covered in part.
				rim := x < 1 || y < 1 || x == b.Dx()-3 || y == b.Dy()-3
				if rim && m.RGBAAt(x, y) != background {
					t.Fatalf("pixel %d, %d of %v is %v", x, y, b.Max, m.RGBAAt(x, y))
				}
			}
		}
	})
}

// TestLegendsLeaveDataAlone compares every data area with the same figure without legends and
// notes.
func TestLegendsLeaveDataAlone(t *testing.T) {
	const dpi = 100
	each(t, func(t *testing.T, _ string, build func() (*Grid, error)) {
		with, without := must(t, build), must(t, build)
		if len(with.Legend) == 0 && len(with.Panels[0].Legend) == 0 {
			t.Skip("no legend")
		}
		without.Legend, without.Note = nil, ""
		for i := range without.Panels {
			without.Panels[i].Legend = nil
		}
		l := fatal.Get(with.layout())(t)
		var images []draw.Image
		for _, g := range []*Grid{with, without} { // on canvases of one size
			c := vgimg.NewWith(vgimg.UseWH(l.width, l.height), vgimg.UseDPI(dpi))
			fatal.If(t, g.Draw(vgdraw.New(c)))
			images = append(images, c.Image())
		}
		cells, _ := l.cells(vg.Point{Y: l.height})
		px := func(v vg.Length) int { return int(v.Dots(dpi)) }
		for i := range min(len(with.Panels), len(l.columns)) { // the first row, which nothing moves
			r := cells[i].data
			for y := px(l.height-r.Max.Y) + 1; y < px(l.height-r.Min.Y); y++ {
				for x := px(r.Min.X) + 1; x < px(r.Max.X); x++ {
					if p, q := images[0].At(x, y), images[1].At(x, y); p != q {
						t.Fatalf("panel %d: the legend changes pixel %d, %d from %v to %v", i, x, y, q, p)
					}
				}
			}
		}
		bare := fatal.Get(without.layout())(t)
		if !l.spare && l.height <= bare.height {
			t.Errorf("the figure is %v high with legends, %v without", l.height, bare.height)
		}
	})
}

// unlike returns the share of colour values that differ by more than a tenth.
func unlike(a, b *image.RGBA) float64 {
	n := 0
	for i, v := range a.Pix {
		if d := int(v) - int(b.Pix[i]); d > 25 || d < -25 {
			n++
		}
	}
	return float64(n) / float64(len(a.Pix))
}

// TestGolden guards against changes of the looks that no number shows. The
// tolerance allows for another architecture's rounding.
func TestGolden(t *testing.T) {
	for _, name := range []string{"sensitivity", "epochs", "embedding", "scores"} {
		t.Run(name, func(t *testing.T) {
			build := figures(Print())[name]
			if name == "embedding" { // a smaller file
				build = func() (*Grid, error) { return Embedding(Print(), embeddingData(200, 7)) }
			}
			g := must(t, build)
			got := fatal.Get(g.PNG(72))(t)
			path := filepath.Join("testdata", name+".png")
			if *update {
				fatal.If(t, os.WriteFile(path, got, 0o644))
			}
			want := fatal.Get(os.ReadFile(path))(t)
			a, b := decode(t, got), decode(t, want)
			if a.Bounds() != b.Bounds() || unlike(a, b) > 0.002 {
				os.WriteFile(path+".got", got, 0o644)
				t.Errorf("differs from %s; compare %s.got, then run with -update", path, path)
			}
		})
	}
}

func TestSave(t *testing.T) {
	g := must(t, figures(Print())["epochs"])
	for _, ext := range []string{"svg", "pdf", "PNG"} {
		path := filepath.Join(t.TempDir(), "figure."+ext)
		fatal.If(t, g.Save(path))
		got := fatal.Get(os.ReadFile(path))(t)
		want, err := g.Encode(strings.ToLower(ext))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the file differs from the encoded figure (%v)", ext, err)
		}
	}
	w, h, err := g.Size()
	if err != nil || w != 3.3*vg.Inch || h <= 0 {
		t.Errorf("size %v x %v, %v", w, h, err)
	}
	m := pixels(t, g, 300)
	if m.Bounds().Dx() != 990 {
		t.Errorf("%d pixels wide, want 3.3 x 300", m.Bounds().Dx())
	}
}

// TestPDFCanvas checks what makes up for gonum's faults.
func TestPDFCanvas(t *testing.T) {
	var r recorder.Canvas
	c := pdfCanvas{&r}
	c.SetColor(color.NRGBA{R: 200, G: 100, B: 0, A: 51})
	red, green, _, alpha := r.Actions[0].(*recorder.SetColor).Color.RGBA()
	if red>>8 != 200 || green>>8 != 100 || alpha>>8 != 51 {
		t.Errorf("red %d, green %d, opacity %d; want 200, 100, 51 without multiplication", red>>8, green>>8, alpha>>8)
	}
	m := image.NewRGBA(image.Rect(2, 3, 4, 6))
	m.Set(3, 3, color.White) // top right
	c.DrawImage(vg.Rectangle{}, m)
	got := r.Actions[1].(*recorder.DrawImage).Image
	if v, _, _, _ := got.At(1, 2).RGBA(); v != 0xFFFF {
		t.Error("the image is not upside down")
	}
}

// TestInputsStay draws data and compares them with a fresh copy.
func TestInputsStay(t *testing.T) {
	sensitivity, budget, epochs := sensitivityData(), budgetData(), epochsData()
	embedding, scores, contact := embeddingData(60, 3), scoresData(), contactData(5)
	build := []func() (*Grid, error){
		func() (*Grid, error) { return Sensitivity(Print(), sensitivity) },
		func() (*Grid, error) { return Budget(Print(), budget) },
		func() (*Grid, error) { return Epochs(Print(), epochs) },
		func() (*Grid, error) { return Embedding(Print(), embedding) },
		func() (*Grid, error) { return Scores(Print(), scores) },
		func() (*Grid, error) { return ContactSheet(Print(), contact) },
	}
	for _, b := range build {
		fatal.Get(must(t, b).PNG(40))(t)
	}
	for i, pair := range [][2]any{
		{sensitivity, sensitivityData()}, {budget, budgetData()}, {epochs, epochsData()},
		{embedding, embeddingData(60, 3)}, {scores, scoresData()}, {contact, contactData(5)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("figure %d changes its data", i)
		}
	}
}

// Both axes of a map have one scale.
func TestEmbeddingHasOneScale(t *testing.T) {
	flat, tall := embeddingData(50, 3), embeddingData(50, 3)
	for i := range 50 {
		flat.Points.Data[2*i] *= 10
		tall.Points.Data[2*i+1] *= 10
	}
	var g *Grid
	for _, c := range []struct {
		d      EmbeddingData
		aspect float64
	}{{tall, tallest}, {flat, flattest}} {
		g = fatal.Get(Embedding(Print(), c.d))(t)
		for _, p := range g.Panels {
			if w, h := p.Plot.X.Max-p.Plot.X.Min, p.Plot.Y.Max-p.Plot.Y.Min; !near(h/w, c.aspect, 1e-6) || g.Aspect != c.aspect {
				t.Errorf("%v wide, %v high, aspect %v, want %v", w, h, g.Aspect, c.aspect)
			}
		}
	}
	if got := g.Legend[0].Name; got != "selected (3 of 50)" {
		t.Errorf("legend %q", got)
	}
}

// The target's points are hollow, with an entry of their own, and do not count as candidates.
func TestEmbeddingTarget(t *testing.T) {
	d := EmbeddingData{Points: blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{0, 0, 1, 1}}, Classes: []int{0, 0}, Domains: []int{0, 1},
		ClassNames: []string{"dog"}, DomainNames: []string{"day", "night"}, Target: "night", Selected: []int{0}}
	g := must(t, func() (*Grid, error) { return Embedding(Print(), d) })
	if a, b := g.Legend[0].Name, g.Legend[1].Name; a != "selected (1 of 1)" || b != "hollow: target, held out (1)" {
		t.Errorf("legend %q and %q", a, b)
	}
	if got := g.Panels[1].Legend[1].Name; got != "night (target)" {
		t.Errorf("the target is called %q", got)
	}
	var rec recorder.Canvas
	sc := scatter{points: [][2]float64{{0, 0}, {1, 1}, {2, 1}}, index: []int{0, 0, 0}, hollow: []bool{false, true, true}, selected: make([]bool, 3),
		colors: []color.Color{color.Black}, shapes: []shape{circle}, radius: 2, theme: Print()}
	p := plot.New()
	sc.setRanges(p)
	sc.Plot(vgdraw.NewCanvas(&rec, 100, 100), p)
	fills, strokes := 0, 0
	for _, a := range rec.Actions {
		switch a.(type) {
		case *recorder.Fill:
			fills++
		case *recorder.Stroke:
			strokes++
		}
	}
	if fills != 1 || strokes != 2 {
		t.Errorf("of three points %d are filled and %d hollow, want 1 and 2", fills, strokes)
	}
}

func TestContactSheetPlacesImages(t *testing.T) {
	flat := func(c color.Color) image.Image {
		m := image.NewRGBA(image.Rect(0, 0, 40, 40))
		draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
		return m
	}
	want := []color.RGBA{{250, 0, 0, 255}, {0, 250, 0, 255}, {0, 0, 250, 255}}
	d := ContactData{Columns: 2}
	for _, c := range want {
		d.Tiles = append(d.Tiles, Tile{Image: flat(c), Class: "x"})
	}
	g := fatal.Get(ContactSheet(Print(), d))(t)
	const dpi = 72 // one pixel a point
	m := pixels(t, g, dpi)
	side := int((g.Width - 2*margin - sheetGap) / 2)
	for i, at := range []image.Point{{side / 2, side / 2}, {side + side/2, side / 2}, {side / 2, side + side/2 + 20}} {
		if got := m.RGBAAt(at.X, at.Y); got != want[i] {
			t.Errorf("tile %d: pixel %v is %v, want %v", i, at, got, want[i])
		}
	}
	tile := Tile{Class: "dog", Scores: []Score{{"u", 0.5}, {"r", 1}, {"d", -0.25}}}
	for side, want := range map[vg.Length]string{
		80: "dog||u .50  r 1.00  d \u22120.25",
		50: "dog||u .50  r 1.00|d \u22120.25",
		12: "dog||u .50|r 1.00|d \u22120.25",
	} {
		if got := strings.Join((sheet{side: side, theme: Print()}).caption(tile), "|"); got != want {
			t.Errorf("caption of %v: %q, want %q", side, got, want)
		}
	}
}
