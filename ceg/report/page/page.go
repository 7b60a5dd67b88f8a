// Package page writes the results of runs as one self-contained HTML page: accuracies, curves,
// queried images, the confusion matrix, calibration, settings and versions.
//
// The page has no script and loads nothing: figures and images are embedded, and its content
// security policy forbids everything else. Text from a run's files is escaped; a class called
// <script> is only a name. It adapts to light and dark mode and to phones, and can be printed.
package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/plots"
)

//go:embed page.css
var css string

//go:embed *.tmpl
var files embed.FS

// templates are those of the pages; page.html.tmpl is that of runs, site.html.tmpl of a site.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"percent":    func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) },
	"hundredths": func(share float64) string { return fmt.Sprintf("%.2f", 100*share) },
	"share":      share,
	"about":      func(i audit.Interval) string { return fmt.Sprintf("%.0f to %.0f%%", 100*i.Low, 100*i.High) },
	"points": func(i *audit.Interval) string {
		return fmt.Sprintf("%+.0f points, %+.0f to %+.0f", 100*i.Share, 100*i.Low, 100*i.High)
	},
	"some":     some,
	"many":     func(classes []string) bool { return len(classes) > manyClasses },
	"inc":      func(i int) int { return i + 1 },
	"contains": strings.Contains,
	"upper":    upper,
	"shade":    func(n int, row []int) int { return min(9, 10*n/max(1, sum(row))) },
	"row":      func(c *audit.Counts, class string) []int { return c.Counts[slices.Index(c.Classes, class)] },
	"command":  func(args ...string) []string { return strings.Split(shell.Line(args...), " ") },
}).ParseFS(files, "*.tmpl"))

// page is what every page begins with.
type page struct {
	Title string
	CSS   template.CSS
	Hash  string // of CSS, for the content security policy
}

func newPage(title string) page {
	hash := sha256.Sum256([]byte(css))
	return page{title, template.CSS(css), base64.StdEncoding.EncodeToString(hash[:])}
}

// manyClasses is the number of classes above which tables have a row for each, not a
// column, and sentences name the first.
const manyClasses = 12

// some lists the first of many names.
func some(names []string) string {
	if n := len(names) - manyClasses; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:manyClasses], ", "), n)
	}
	return strings.Join(names, ", ")
}

// Options are the settings of Write.
type Options struct {
	// Figures locates the images of data sets; see report.FigureOptions.
	Figures report.FigureOptions
	// Pictures is the number of images of a run; 0 means 48.
	Pictures int
	// Runs is the number of runs shown individually, the first of every method before others;
	// the rest are only in tables. 0 means 8.
	Runs int
	// Calibrations maps folders of runs, as returned by Shown, to calibrations that were computed for
	// the page and are not stored. Stale maps them to a note on their calibration, such as one that
	// the stored one belongs to other weights.
	Calibrations map[string]*calibration.Calibration
	Stale        map[string]string
}

func (o Options) withDefaults() Options {
	o.Pictures, o.Runs = cmp.Or(o.Pictures, 48), cmp.Or(o.Runs, 8)
	return o
}

// Shown lists the folders of the runs that Write shows individually.
func Shown(folders []*report.Folder, o Options) ([]string, error) {
	list, err := collect(folders)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, r := range shown(list, o.withDefaults().Runs) {
		dirs = append(dirs, r.Path)
	}
	return dirs, nil
}

// Write writes the page of the runs in a study's folder, or of a few runs, each opened by
// report.OpenRun. Unavailable images are left out with a note. After an error nothing is written.
func Write(ctx context.Context, w io.Writer, title string, folders []*report.Folder, o Options) error {
	o = o.withDefaults()
	p := &content{page: newPage(title)}
	for _, f := range folders {
		p.compare(ctx, f, o)
	}
	var err error
	if p.Finished, err = collect(folders); err != nil {
		return err
	}
	if len(p.Finished) == 0 {
		return errors.New("there is no finished run to report on")
	}
	for _, r := range p.Finished {
		last := r.Result.Accuracy.LastEpoch
		p.Measured = p.Measured || r.Result.Accuracy.Measured()
		p.Known = p.Known || last.Target.Total+last.SourceVal.Total > 0
	}
	for _, r := range shown(p.Finished, o.Runs) {
		one, err := newRun(ctx, r, o)
		if err != nil {
			return err
		}
		p.Runs = append(p.Runs, one)
	}
	p.Others = len(p.Finished) - len(p.Runs)
	return write(w, "page.html.tmpl", p)
}

// write executes a template; after an error nothing is written.
func write(w io.Writer, name string, data any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// content is what the template shows: tables and figures of folders, and runs one by one.
type content struct {
	page
	Tables   []*result.Table
	Figures  []figure
	Finished []*result.Run // each once
	Runs     []*runPage    // those that are shown one by one
	Others   int           // the number of other finished runs
	// Measured tells that some run has a target with labels, Known that some accuracy is known.
	Measured, Known bool
}

// figure is a picture for light and for dark screens, as data URLs. The style chooses:
// a <picture> keeps the dark one on paper.
type figure struct {
	Caption     string
	Light, Dark template.URL
}

// compare adds the tables and figures of a folder of several runs, as far as it has
// what they show.
func (p *content) compare(ctx context.Context, f *report.Folder, o Options) {
	if len(f.Runs) < 2 {
		return
	}
	if tables, err := f.Table("methods", report.TableOptions{}); err == nil {
		p.Tables = append(p.Tables, tables...)
	}
	for _, name := range []string{"budget", "epochs"} {
		if g, err := draw(ctx, f, name, o.Figures); err == nil {
			p.Figures = append(p.Figures, g)
		}
	}
}

// collect lists the finished runs of folders, each once.
func collect(folders []*report.Folder) (list []*result.Run, err error) {
	for _, f := range folders {
		for _, r := range f.Runs {
			out, err := f.Outcome(r)
			if err != nil {
				return nil, err
			}
			if out != nil && !slices.ContainsFunc(list, func(old *result.Run) bool { return old.Path == out.Path }) {
				list = append(list, out)
			}
		}
	}
	return list, nil
}

// shown are the n runs that are shown one by one, the first of every method before others.
func shown(list []*result.Run, n int) []*result.Run {
	var first, more []*result.Run
	methods := map[string]bool{}
	for _, r := range list {
		if method := r.Result.Method; methods[method] {
			more = append(more, r)
		} else {
			methods[method], first = true, append(first, r)
		}
	}
	all := append(first, more...)
	return all[:min(n, len(all))]
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// share is a tally in percent.
func share(t result.Tally) string {
	if t.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*t.Share())
}

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
		out.Caption, g.Note = strings.TrimSpace(g.Note+" "+g.Aside), "" // the page sets it as text
		data, err := g.Encode("svg")
		if err != nil {
			return out, err
		}
		urls = append(urls, dataURL("image/svg+xml", data))
	}
	out.Light, out.Dark = urls[0], urls[1]
	return out, nil
}

// dataURL is a picture that is part of the page. It holds base64 alone, so that it
// is safe to write as it is.
func dataURL(kind string, data []byte) template.URL {
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data))
}

// Reliability returns the reliability diagram of a run's calibration, for the source validation
// images and, if labels are known, the target.
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
	panel := func(name string, of func(calibration.Fit) calibration.Change) {
		change := of(c.Source)
		if change.Before.Images == 0 {
			return
		}
		curves := []plots.ReliabilityCurve{{Name: "before", Points: points(change.Before)}, {Name: "after", Points: points(change.After)}}
		if c.LeftOut != nil {
			curves = append(curves, plots.ReliabilityCurve{Name: "after, by left-out sources", Points: points(of(*c.LeftOut).After)})
		}
		title := fmt.Sprintf("%s, ECE %.1f%% to %.1f%%", name, 100*change.Before.ECE, 100*change.After.ECE)
		d.Panels = append(d.Panels, plots.ReliabilityPanel{Title: title, Curves: curves})
	}
	panel(upper(c.On()), func(f calibration.Fit) calibration.Change { return f.Source })
	panel("Target", func(f calibration.Fit) calibration.Change { return f.Target })
	d.Note = fmt.Sprintf("Temperature %.3f, fitted on %d %s: optimistic on a new domain. ECE: expected calibration error, %d bins.",
		c.Source.Temperature, c.Source.Images, c.Images(), calibration.Bins)
	return d
}
