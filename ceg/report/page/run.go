package page

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"

	xdraw "golang.org/x/image/draw"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// run is what the page shows of one run.
type run struct {
	Name      string
	Result    result.Result
	Rules     *result.Table
	Domains   *result.Table
	Curves    figure
	Asked     []askedDomain
	AskedAll  int
	Matrix    *result.Table // what was asked, domain by class
	NoImages  string        // why there are no pictures
	Confusion *confusion
	Reliable  *figure
	Settings  string
	Versions  *result.Table
}

// askedDomain is what was asked in one domain, in the order of classes and rounds.
type askedDomain struct {
	Name  string
	Tiles []tile
}

type tile struct {
	ID, Class, Scores string
	Round             int
	Picture           template.URL
}

// confusion is a confusion matrix; a cell's Shade, 0 to 9, is its share of the row.
type confusion struct {
	Classes []string
	Rows    []confusionRow
}

type confusionRow struct {
	Class string
	Cells []confusionCell
}

type confusionCell struct {
	Count, Shade int
	Right        bool
}

func newRun(ctx context.Context, dir string, out *report.Outcome, o Options) (*run, error) {
	r := &run{Name: filepath.Base(dir), Result: out.Result}
	f, err := report.OpenRun(dir)
	if err != nil {
		return nil, err
	}
	if r.Curves, err = draw(ctx, f, "epochs", o.Figures); err != nil {
		return nil, err
	}
	r.addAccuracies(out)
	if err := r.addAsked(f, dir, o); err != nil {
		return nil, err
	}
	c, err := readCalibration(dir)
	if err != nil {
		return nil, err
	}
	if c != nil {
		r.Confusion = newConfusion(c.Classes, c.Confusion)
		g, err := both(func(t plots.Theme) (*plots.Grid, error) { return plots.Reliability(t, Reliability(c)) })
		if err != nil {
			return nil, err
		}
		r.Reliable = &g
	}
	config, err := os.ReadFile(filepath.Join(dir, result.ConfigFile))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, config, "", "  "); err != nil {
		return nil, fmt.Errorf("%s: %w", result.ConfigFile, err)
	}
	r.Settings = b.String()
	return r, nil
}

// addAccuracies adds the three rules, the domains at the end, and the versions.
func (r *run) addAccuracies(out *report.Outcome) {
	r.Rules = &result.Table{Columns: []result.Column{{Name: "rule"}, {Name: "epoch", Right: true}, {Name: "labels", Right: true},
		{Name: "target %", Right: true}, {Name: "source val %", Right: true}}}
	share := func(t result.Tally) string {
		if t.Total == 0 {
			return "-"
		}
		return percent(t.Share())
	}
	for _, rule := range out.Result.Accuracy.Rules() {
		if c := rule.Choice; c != nil {
			r.Rules.AddRow(rule.Title, fmt.Sprint(c.Epoch), fmt.Sprint(c.Labels), share(c.Target), share(c.SourceVal))
		}
	}
	r.Rules.Notes = []string{"Epochs count from 0 here; a curve's x is the number of epochs trained."}
	r.Domains = &result.Table{Columns: []result.Column{{Name: "domain"}, {Name: "split"}, {Name: "right", Right: true}, {Name: "%", Right: true}}}
	for _, a := range out.Records[len(out.Records)-1].Accuracy {
		r.Domains.AddRow(a.Domain, a.Split, a.Tally.String(), share(a.Tally))
	}
	v := out.Result.Versions
	r.Versions = &result.Table{Columns: []result.Column{{Name: "what"}, {Name: "version"}}}
	for _, row := range [][2]string{{"ledg", v.Ledg}, {"Go", v.Go}, {"GoMLX", v.GoMLX}, {"compute", v.Compute}, {"backend", v.Backend}} {
		r.Versions.AddRow(row[0], row[1])
	}
}

// addAsked adds what the run asked for: how many of each domain and class, and
// pictures of the first of them.
func (r *run) addAsked(f *report.Folder, dir string, o Options) error {
	queries, err := result.ReadQueries(os.DirFS(dir), result.QueriesFile)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	r.AskedAll = len(queries)
	r.addMatrix(queries)
	data, err := f.Dataset(f.Runs[0], o.Figures)
	if err != nil {
		r.NoImages = err.Error()
	}
	// As many of every round as of the others, the wanted ones first.
	shown := slices.Clone(queries)
	place, in := map[string]int{}, map[int]int{}
	slices.SortStableFunc(shown, func(a, b result.Query) int {
		if a.Scores == nil || b.Scores == nil {
			return 0
		}
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Scores.R, b.Scores.R))
	})
	for _, q := range shown {
		place[q.ID] = in[q.Round]
		in[q.Round]++
	}
	slices.SortStableFunc(shown, func(a, b result.Query) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	shown = shown[:min(len(shown), o.Pictures)]
	slices.SortFunc(shown, func(a, b result.Query) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Class, b.Class), a.Round-b.Round, cmp.Compare(a.ID, b.ID))
	})
	for _, q := range shown {
		t := tile{ID: q.ID, Class: q.Class, Round: q.Round}
		if s := q.Scores; s != nil {
			t.Scores = fmt.Sprintf("u\u00a0%.2f r\u00a0%.2f d\u00a0%.2f", s.Su, s.Sr, s.Sd)
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
		if n := len(r.Asked); n == 0 || r.Asked[n-1].Name != q.Domain {
			r.Asked = append(r.Asked, askedDomain{Name: q.Domain})
		}
		d := &r.Asked[len(r.Asked)-1]
		d.Tiles = append(d.Tiles, t)
	}
	return nil
}

// addMatrix counts what was asked by domain and class.
func (r *run) addMatrix(queries []result.Query) {
	count, domains, classes := map[[2]string]int{}, map[string]bool{}, map[string]bool{}
	for _, q := range queries {
		count[[2]string{q.Domain, q.Class}]++
		domains[q.Domain], classes[q.Class] = true, true
	}
	r.Matrix = &result.Table{Columns: []result.Column{{Name: "domain"}}}
	names := sorted(classes)
	for _, c := range names {
		r.Matrix.Columns = append(r.Matrix.Columns, result.Column{Name: c, Right: true})
	}
	r.Matrix.Columns = append(r.Matrix.Columns, result.Column{Name: "all", Right: true})
	for _, d := range sorted(domains) {
		row, all := []string{d}, 0
		for _, c := range names {
			n := count[[2]string{d, c}]
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

// thumbnailSide is that of the pictures in pixels.
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

func newConfusion(classes []string, counts [][]int) *confusion {
	c := &confusion{Classes: classes}
	for i, row := range counts {
		sum := 0
		for _, n := range row {
			sum += n
		}
		out := confusionRow{Class: classes[i]}
		for j, n := range row {
			cell := confusionCell{Count: n, Right: i == j}
			if sum > 0 {
				cell.Shade = min(9, 10*n/sum)
			}
			out.Cells = append(out.Cells, cell)
		}
		c.Rows = append(c.Rows, out)
	}
	return c
}
