package interactive

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
	"github.com/ledg-go/ledg/plots"
)

// square is nine images in three rows, of three domains by column and classes by column.
func square() *Figure {
	f := &Figure{Title: "A square", Note: "Nine.", Target: "d2", Columns: []Column{{Name: "uncertainty"}, {Name: "x", Silent: true}, {Name: "y", Silent: true}},
		Panels: []Panel{{Title: "A map", X: 1, Y: 2}}, Picture: flat}
	for i := range 9 {
		f.IDs, f.Domains, f.Classes = append(f.IDs, fmt.Sprintf("d%d/%d.png", i%3, i)), append(f.Domains, fmt.Sprint("d", i%3)), append(f.Classes, string("abc"[i%3]))
		f.Rounds = append(f.Rounds, []int{-1, 1, -1}[i%3])
		for k, v := range []float64{float64(i) / 10, float64(i % 3), float64(i / 3)} {
			f.Columns[k].Values = append(f.Columns[k].Values, v)
		}
	}
	f.Domains[2], f.Domains[5], f.Domains[8] = "d2", "d2", "d2"
	return f
}

// flat is an image in the grey of its number.
func flat(_ context.Context, i int) (image.Image, error) {
	m := image.NewGray(image.Rect(0, 0, 64, 48))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.Gray{uint8(20 * i)}), image.Point{}, draw.Src)
	return m, nil
}

// many is n images at random places, every twentieth queried.
func many(n int) *Figure {
	r := seed.New(1, "many")
	f := &Figure{Title: "Many", Columns: []Column{{Name: "uncertainty"}, {Name: "x", Silent: true}, {Name: "y", Silent: true}}, Panels: []Panel{{Title: "A map", X: 1, Y: 2}}}
	for i := range n {
		f.IDs, f.Domains, f.Classes = append(f.IDs, fmt.Sprint("image ", i)), append(f.Domains, fmt.Sprint("domain ", i%4)), append(f.Classes, fmt.Sprint("class ", i%7))
		f.Rounds = append(f.Rounds, -1)
		if i%20 == 0 {
			f.Rounds[i] = i % 3
		}
		for k := range f.Columns {
			f.Columns[k].Values = append(f.Columns[k].Values, r.NormFloat64())
		}
	}
	f.Picture = func(context.Context, int) (image.Image, error) {
		m := image.NewRGBA(image.Rect(0, 0, 48, 48))
		c := color.RGBA{uint8(r.IntN(256)), uint8(r.IntN(256)), 90, 255}
		draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
		return m, nil
	}
	return f
}

func grid(t *testing.T) *plots.Grid {
	t.Helper()
	g := fatal.Get(plots.Embedding(plots.Screen(), plots.EmbeddingData{Points: blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}},
		Classes: []int{0}, Domains: []int{0}, ClassNames: []string{"a"}, DomainNames: []string{"d"}}))(t)
	return g
}

func html(t *testing.T, f *Figure) string {
	t.Helper()
	return fatal.Get(f.HTML(t.Context(), grid(t)))(t)
}

// Texts of images are texts, wherever they stand.
func TestHostileNames(t *testing.T) {
	f := square()
	f.IDs[0], f.Classes[1], f.Domains[2] = `<script>alert(1)</script>`, `</script><b>`, `"><img src=x>`
	f.Target, f.Title, f.Note = f.Domains[2], `<i>&`, `<u>`
	text := html(t, f)
	for _, tag := range []string{"<script>alert", "<b>", "<img src=x", "<i>", "<u>"} {
		if strings.Contains(text, tag) {
			t.Errorf("%s is markup", tag)
		}
	}
	if n := strings.Count(text, "</script>"); n != 2 {
		t.Errorf("%d scripts end", n)
	}
	if html(t, f) != text {
		t.Error("the same figure gives another text")
	}
}

// Pictures lie where the script looks for them; of many images, the queried ones come first.
func TestSheet(t *testing.T) {
	text := html(t, square())
	data := regexp.MustCompile(`data:image/jpeg;base64,([^"]*)`).FindStringSubmatch(text)
	if data == nil {
		t.Fatal("no sheet")
	}
	sheet := fatal.Get(jpeg.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data[1]))))(t)
	if b := sheet.Bounds(); b.Dx() != 9*48 || b.Dy() != 48 {
		t.Fatalf("a sheet of %v", b)
	}
	for i := range 9 {
		middle, _, _, _ := sheet.At(48*i+24, 24).RGBA()
		edge, _, _, _ := sheet.At(48*i+24, 1).RGBA() // 64 x 48 is fitted to 48 x 36
		if d := int(middle>>8) - 20*i; d < -3 || d > 3 {
			t.Errorf("picture %d is of grey %d", i, middle>>8)
		}
		if d := int(edge>>8) - 128; d < -8 || d > 8 {
			t.Errorf("picture %d has a rim of grey %d", i, edge>>8)
		}
	}
	f := many(3000)
	list := f.pictured(maxPictures)
	if len(list) != maxPictures || len(slices.Compact(slices.Sorted(slices.Values(list)))) != maxPictures {
		t.Fatalf("%d pictures", len(list))
	}
	for k, i := range list {
		if (k < 150) != (f.Rounds[i] >= 0) {
			t.Fatalf("picture %d is of image %d, round %d", k, i, f.Rounds[i])
		}
	}
	for i := range f.Rounds {
		f.Rounds[i] = 1
	}
	if list := f.pictured(maxPictures); len(list) != maxPictures || list[999] != 2997 {
		t.Errorf("of 3000 asked ones %d, the last %d", len(list), list[len(list)-1])
	}
}

// Without pictures the caption says why.
func TestNoPictures(t *testing.T) {
	f := square()
	f.Picture, f.NoPictures = nil, "the features are of nobody knows what"
	if text := html(t, f); !strings.Contains(text, "> Images are not shown: the features are of nobody knows what. Point at") || strings.Contains(text, "image/jpeg") {
		t.Error("the caption does not say why there are no pictures")
	}
	f = square()
	f.Picture = func(_ context.Context, i int) (image.Image, error) {
		if i == 4 {
			return nil, errors.New("d1/4.png is damaged")
		}
		return flat(t.Context(), i)
	}
	if text := html(t, f); !strings.Contains(text, "Images are not shown: d1/4.png is damaged. Point at") {
		t.Error("the caption does not name the damaged picture")
	}
}

// Numbers that are not there are empty cells; unknown values say so.
func TestTable(t *testing.T) {
	f := square()
	f.Columns[0].Values[0], f.Classes[0], f.Rounds[0] = math.NaN(), "", 0
	if text := html(t, f); !strings.Contains(text, "<tr><td>d0/0.png<td>d0<td>not known<td>before training<td><td>0<td>0\n<tr><td>d1/1.png<td>d1<td>b<td>round 1<td>0.1<td>1<td>0\n") {
		t.Error(text[strings.Index(text, "<tbody>"):][:300])
	}
	for name, spoil := range map[string]func(*Figure){
		"0 images":           func(f *Figure) { *f = Figure{} },
		"8 domains":          func(f *Figure) { f.Domains = f.Domains[1:] },
		"8 values of x":      func(f *Figure) { f.Columns[1].Values = f.Columns[1].Values[1:] },
		"columns 1 and 3 of": func(f *Figure) { f.Panels[0].Y = 3 },
	} {
		f := square()
		spoil(f)
		fatal.Says(t, fatal.Err(f.HTML(t.Context(), grid(t))), name)
	}
}
