// Package page writes what runs found out as one self-contained HTML page: accuracies,
// curves, what was asked with its pictures, the confusion matrix, reliability, settings
// and versions.
//
// The page has no script and loads nothing: figures and pictures are in it, and its
// content security policy forbids everything else. Whatever a run's files say is
// escaped; a class called <script> is only a name. It follows the reader's light or
// dark setting, fits a phone, and can be printed.
package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/calibration"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

//go:embed page.css
var style string

//go:embed page.html.tmpl
var text string

// Options are the choices of Write. The zero value works.
type Options struct {
	// Figures are where the images of data sets are; see report.FigureOptions.
	Figures report.FigureOptions
	// Pictures is the number of pictures of a run; 0 means 48.
	Pictures int
	// Runs is the number of runs that are shown one by one, the first of every method
	// before others; those are in the tables alone. 0 means 8.
	Runs int
}

// MaxBytes is the size that a page does not exceed.
const MaxBytes = 5 << 20

// Write writes the page of the runs in a study's folder, or of a few runs, each
// opened as report.OpenRun does. A picture that cannot be had is left out, with a
// note; a page above MaxBytes is an error, and nothing is written then.
func Write(ctx context.Context, w io.Writer, title string, folders []*report.Folder, o Options) error {
	if o.Pictures == 0 {
		o.Pictures = 48
	}
	if o.Runs == 0 {
		o.Runs = 8
	}
	p := &content{Title: title}
	sum := sha256.Sum256([]byte(style))
	p.Style, p.StyleHash = template.CSS(style), base64.StdEncoding.EncodeToString(sum[:])
	for _, f := range folders {
		if err := p.add(ctx, f, o); err != nil {
			return err
		}
	}
	if p.Finished = len(p.finished); p.Finished == 0 {
		return errors.New("there is no finished run to report on")
	}
	p.overview()
	if err := p.show(ctx, o); err != nil {
		return err
	}
	t, err := template.New("page").Parse(text)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return err
	}
	if b.Len() > MaxBytes {
		return fmt.Errorf("the page has %d bytes, more than %d: show fewer runs or pictures", b.Len(), MaxBytes)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// content is what the template shows.
type content struct {
	Title     string
	Style     template.CSS
	StyleHash string
	Overview  *result.Table
	Long      bool // the overview is folded away
	Tables    []*result.Table
	Figures   []figure
	Runs      []*run
	Finished  int
	Others    int // finished runs that are not shown one by one

	finished []finished
}

// finished is a run that may be shown; two studies may have the same.
type finished struct {
	dir, name string
	out       *report.Outcome
}

// foldAbove is the number of runs above which the list of them is folded away.
const foldAbove = 24

// figure is a picture for light and for dark screens, as data URLs.
type figure struct {
	Caption string
	Light   template.URL
	Dark    template.Srcset // a URL alone would have its comma escaped
}

// add adds a folder's tables and figures, and its finished runs.
func (p *content) add(ctx context.Context, f *report.Folder, o Options) error {
	if len(f.Runs) > 1 {
		if tables, err := f.Table("methods", report.TableOptions{}); err == nil {
			p.Tables = append(p.Tables, tables...)
		}
		for _, name := range []string{"budget", "epochs"} {
			if g, err := draw(ctx, f, name, o.Figures); err == nil { // a study need not have what it shows
				p.Figures = append(p.Figures, g)
			}
		}
	}
	for _, r := range f.Runs {
		dir := filepath.Join(f.Path, r.Dir)
		if slices.ContainsFunc(p.finished, func(old finished) bool { return old.dir == dir }) {
			continue
		}
		out, err := f.Outcome(r)
		if err != nil {
			return err
		}
		if out != nil {
			p.finished = append(p.finished, finished{dir, r.Dir, out})
		}
	}
	return nil
}

// overview lists the runs.
func (p *content) overview() {
	p.Overview = &result.Table{Columns: []result.Column{
		{Name: "run"}, {Name: "method"}, {Name: "target"}, {Name: "seed", Right: true}, {Name: "labels", Right: true},
		{Name: "last epoch %", Right: true}, {Name: "best source val %", Right: true}, {Name: "best target % (oracle)", Right: true},
	}}
	for _, r := range p.finished {
		res := r.out.Result
		a := res.Accuracy
		last, val, best := "-", "-", "-"
		if a.Measured() {
			last, best = percent(a.LastEpoch.TargetAccuracy), percent(a.BestTarget.TargetAccuracy)
			if a.BestSourceVal != nil {
				val = percent(a.BestSourceVal.TargetAccuracy)
			}
		}
		p.Overview.AddRow(r.name, res.Method, res.Target, fmt.Sprint(res.Seed), fmt.Sprint(res.Labels), last, val, best)
	}
	p.Long = len(p.finished) > foldAbove
}

// show adds runs one by one.
func (p *content) show(ctx context.Context, o Options) error {
	show, methods, left := make([]bool, len(p.finished)), map[string]bool{}, o.Runs
	for _, again := range []bool{false, true} {
		for i, r := range p.finished {
			if method := r.out.Result.Method; left > 0 && !show[i] && (again || !methods[method]) {
				show[i], methods[method], left = true, true, left-1
			}
		}
	}
	for i, r := range p.finished {
		if !show[i] {
			p.Others++
			continue
		}
		one, err := newRun(ctx, r.dir, r.out, o)
		if err != nil {
			return err
		}
		p.Runs = append(p.Runs, one)
	}
	return nil
}

func percent(share float64) string { return fmt.Sprintf("%.2f", 100*share) }

// draw draws a figure of a folder for both kinds of screens.
func draw(ctx context.Context, f *report.Folder, name string, o report.FigureOptions) (figure, error) {
	return both(func(t plots.Theme) (*plots.Grid, error) { return f.Figure(ctx, name, t, o) })
}

func both(make func(plots.Theme) (*plots.Grid, error)) (out figure, err error) {
	var urls []template.URL
	for _, theme := range []plots.Theme{plots.Print(), plots.Dark()} {
		g, err := make(theme)
		if err != nil {
			return out, err
		}
		out.Caption, g.Note = g.Note, "" // the page sets it as text
		data, err := g.Encode("svg")
		if err != nil {
			return out, err
		}
		urls = append(urls, dataURL("image/svg+xml", data))
	}
	out.Light, out.Dark = urls[0], template.Srcset(urls[1])
	return out, nil
}

// dataURL is a picture that is part of the page. It holds base64 alone, so that it
// is safe to write as it is.
func dataURL(kind string, data []byte) template.URL {
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data))
}

// Reliability is the figure of a run's calibration, for the source validation images
// and the target.
func Reliability(c *calibration.Calibration) plots.ReliabilityData {
	points := func(r calibration.Reliability) (list []plots.XY) {
		for _, b := range r.Bins {
			if b.Images > 0 {
				list = append(list, plots.XY{X: b.Confidence, Y: b.Accuracy})
			}
		}
		return list
	}
	var d plots.ReliabilityData
	for _, side := range []struct {
		name string
		of   func(f calibration.Fit) calibration.Change
	}{
		{"Source validation", func(f calibration.Fit) calibration.Change { return f.Source }},
		{"Target", func(f calibration.Fit) calibration.Change { return f.Target }},
	} {
		change := side.of(c.Source)
		p := plots.ReliabilityPanel{Title: fmt.Sprintf("%s, ECE %.1f%% to %.1f%%", side.name, 100*change.Before.ECE, 100*change.After.ECE)}
		p.Curves = append(p.Curves,
			plots.ReliabilityCurve{Name: "before", Points: points(change.Before)},
			plots.ReliabilityCurve{Name: "after", Points: points(change.After)})
		if c.LeftOut != nil {
			p.Curves = append(p.Curves, plots.ReliabilityCurve{Name: "after, by left-out sources", Points: points(side.of(*c.LeftOut).After)})
		}
		d.Panels = append(d.Panels, p)
	}
	d.Note = fmt.Sprintf("Temperature %.3f, fitted on %d source validation images: optimistic on a new domain. ECE: expected calibration error, %d bins.",
		c.Source.Temperature, c.Source.Images, calibration.Bins)
	return d
}

// readCalibration reads a run's calibration; nil if it has none.
func readCalibration(dir string) (*calibration.Calibration, error) {
	c, err := calibration.Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return c, err
}
