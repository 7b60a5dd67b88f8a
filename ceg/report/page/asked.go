package page

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"
	"io/fs"
	"slices"

	xdraw "golang.org/x/image/draw"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

// queriedDomain holds the queries of one domain, ordered by class and round.
type queriedDomain struct {
	Name  string
	Tiles []tile
}

type tile struct {
	ID, Class, Scores string
	Round             int
	Picture           template.URL
}

// addQueried adds the run's queries: numbers by domain and class, how they were selected, and
// images of the first of them.
func (r *runPage) addQueried(out *result.Run, o Options) error {
	queries, err := out.Queries()
	if errors.Is(err, fs.ErrNotExist) {
		r.NoImages = "the run was collected without its queries"
		return nil
	}
	if err != nil {
		return err
	}
	r.QueriedAll = len(queries)
	r.addMatrix(queries)
	x := out.Config.Exploration
	r.Chosen = result.Chosen(queries, r.Result.Unqueried, x.Initial, x.Strategy)
	data, err := report.Dataset(out, o.Figures)
	if err != nil {
		r.NoImages = err.Error()
	} else if f, ok := data.Features(); ok {
		if _, err := f.ImageRoot(); err != nil {
			r.NoImages, data = err.Error(), nil
		}
	}
	for _, q := range first(queries, o.Pictures) {
		t := tile{ID: q.ID, Class: q.Class, Round: q.Round}
		if s := q.Scores; s != nil {
			r.Scored, t.Scores = true, fmt.Sprintf("u\u00a0%.2f r\u00a0%.2f d\u00a0%.2f", s.Su, s.Sr, s.Sd)
		}
		if data != nil {
			if i, ok := data.Index(q.ID); !ok {
				r.NoImages = fmt.Sprintf("%s is not in the data set", q.ID)
			} else if m, err := data.Image(i); err != nil {
				r.NoImages = err.Error()
			} else if t.Picture, err = thumbnail(m.ToImage()); err != nil {
				return err
			}
		}
		if n := len(r.Queried); n == 0 || r.Queried[n-1].Name != q.Domain {
			r.Queried = append(r.Queried, queriedDomain{Name: q.Domain})
		}
		r.Shown++
		d := &r.Queried[len(r.Queried)-1]
		d.Tiles = append(d.Tiles, t)
	}
	return nil
}

// first returns n of the queries, balanced over domains, classes and rounds: those with scores
// best first, those without in alternation.
func first(queries []result.Query, n int) []result.Query {
	type cell struct {
		round         int
		domain, class string
	}
	turn, in := map[string]float64{}, map[cell]int{}
	for _, q := range queries {
		if q.Scores != nil {
			turn[q.ID] = q.Scores.R
			continue
		}
		c := cell{q.Round, q.Domain, q.Class}
		turn[q.ID] = float64(in[c])
		in[c]++
	}
	list := slices.SortedStableFunc(slices.Values(queries), func(a, b result.Query) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(turn[a.ID], turn[b.ID]))
	})
	place, queried := map[string]int{}, map[int]int{}
	for _, q := range list {
		place[q.ID] = queried[q.Round]
		queried[q.Round]++
	}
	slices.SortStableFunc(list, func(a, b result.Query) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	list = list[:min(len(list), n)]
	slices.SortFunc(list, func(a, b result.Query) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Class, b.Class), a.Round-b.Round, cmp.Compare(a.ID, b.ID))
	})
	return list
}

// manyClasses is the number of classes above which tables have a row for each, not a
// column.
const manyClasses = 12

// addMatrix counts queries by domain and class.
func (r *runPage) addMatrix(queries []result.Query) {
	count, domains, classes := map[[2]string]int{}, map[string]bool{}, map[string]bool{}
	for _, q := range queries {
		count[[2]string{q.Domain, q.Class}]++
		domains[q.Domain], classes[q.Class] = true, true
	}
	corner, rows, cols := "domain", sorted(domains), sorted(classes)
	at := func(row, col string) int { return count[[2]string{row, col}] }
	if len(cols) > manyClasses {
		corner, rows, cols = "class", cols, rows
		at = func(row, col string) int { return count[[2]string{col, row}] }
	}
	r.Matrix = &result.Table{Columns: []result.Column{{Name: corner}}}
	for _, c := range append(cols, "all") {
		r.Matrix.Columns = append(r.Matrix.Columns, result.Column{Name: c, Right: true})
	}
	for _, name := range rows {
		row, all := []string{name}, 0
		for _, c := range cols {
			n := at(name, c)
			row, all = append(row, fmt.Sprint(n)), all+n
		}
		r.Matrix.AddRow(append(row, fmt.Sprint(all))...)
	}
}

func sorted(set map[string]bool) (list []string) {
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// thumbnailSide is the side of a thumbnail in pixels.
const thumbnailSide = 72

// thumbnail returns a small JPEG of an image.
func thumbnail(m image.Image) (template.URL, error) {
	b := m.Bounds()
	scale := float64(thumbnailSide) / float64(max(b.Dx(), b.Dy()))
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))))
	xdraw.CatmullRom.Scale(small, small.Bounds(), m, b, xdraw.Src, nil)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: 80}); err != nil {
		return "", err
	}
	return dataURL("image/jpeg", out.Bytes()), nil
}
