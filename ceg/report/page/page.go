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
	"upper":    func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	"shade":    func(n int, row []int) int { return min(9, 10*n/max(1, sum(row))) },
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
		dirs = append(dirs, r.Out.Path)
	}
	return dirs, nil
}

// MaxBytes is the maximum size of a page.
const MaxBytes = 5 << 20

// Write writes the page of the runs in a study's folder, or of a few runs, each opened by
// report.OpenRun. Unavailable images are left out with a note, and so are the last runs if the
// page would exceed MaxBytes. If a single run exceeds it, that is an error, and nothing is
// written.
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
	for _, r := range shown(p.Finished, o.Runs) {
		one, err := newRun(ctx, r.Out, o)
		if err != nil {
			return err
		}
		p.Runs = append(p.Runs, one)
	}
	b, err := p.fit()
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// fit returns the page with as many of the runs one by one as MaxBytes has room for.
func (p *content) fit() ([]byte, error) {
	for {
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, "page.html.tmpl", p); err != nil {
			return nil, err
		}
		if b.Len() <= MaxBytes {
			return b.Bytes(), nil
		}
		if len(p.Runs) < 2 {
			return nil, fmt.Errorf("the page has %d bytes, more than %d: show fewer pictures", b.Len(), MaxBytes)
		}
		p.Runs = p.Runs[:len(p.Runs)-1]
	}
}

// content is what the template shows: tables and figures of folders, and runs one by one.
type content struct {
	page
	Tables   []*result.Table
	Figures  []figure
	Finished []finished
	Runs     []*runPage
}

// Others is the number of finished runs that are not shown one by one.
func (p *content) Others() int { return len(p.Finished) - len(p.Runs) }

// finished is a run that may be shown; two studies may have the same.
type finished struct {
	Name string
	Out  *result.Run
}

// Measured reports whether some run has a target with labels.
func (p *content) Measured() bool {
	return slices.ContainsFunc(p.Finished, func(r finished) bool { return r.Out.Result.Accuracy.Measured() })
}

// Known reports whether some accuracy is known.
func (p *content) Known() bool {
	return slices.ContainsFunc(p.Finished, func(r finished) bool {
		last := r.Out.Result.Accuracy.LastEpoch
		return last.Target.Total+last.SourceVal.Total > 0
	})
}

// Long reports whether the list of runs is folded away.
func (p *content) Long() bool { return len(p.Finished) > 24 }

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
func collect(folders []*report.Folder) (list []finished, err error) {
	for _, f := range folders {
		for _, r := range f.Runs {
			out, err := f.Outcome(r)
			if err != nil {
				return nil, err
			}
			if out != nil && !slices.ContainsFunc(list, func(old finished) bool { return old.Out.Path == out.Path }) {
				list = append(list, finished{r.Dir, out})
			}
		}
	}
	return list, nil
}

// shown are the n runs that are shown one by one, the first of every method before others.
func shown(list []finished, n int) []finished {
	var first, more []finished
	methods := map[string]bool{}
	for _, r := range list {
		if method := r.Out.Result.Method; methods[method] {
			more = append(more, r)
		} else {
			methods[method], first = true, append(first, r)
		}
	}
	all := slices.Concat(first, more)
	return all[:min(n, len(all))]
}

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
	for _, side := range []struct {
		name string
		of   func(f calibration.Fit) calibration.Change
	}{
		{strings.ToUpper(c.On()[:1]) + c.On()[1:], func(f calibration.Fit) calibration.Change { return f.Source }},
		{"Target", func(f calibration.Fit) calibration.Change { return f.Target }},
	} {
		change := side.of(c.Source)
		if change.Before.Images == 0 {
			continue
		}
		p := plots.ReliabilityPanel{Title: fmt.Sprintf("%s, ECE %.1f%% to %.1f%%", side.name, 100*change.Before.ECE, 100*change.After.ECE)}
		p.Curves = append(p.Curves,
			plots.ReliabilityCurve{Name: "before", Points: points(change.Before)},
			plots.ReliabilityCurve{Name: "after", Points: points(change.After)})
		if c.LeftOut != nil {
			p.Curves = append(p.Curves, plots.ReliabilityCurve{Name: "after, by left-out sources", Points: points(side.of(*c.LeftOut).After)})
		}
		d.Panels = append(d.Panels, p)
	}
	d.Note = fmt.Sprintf("Temperature %.3f, fitted on %d %s: optimistic on a new domain. ECE: expected calibration error, %d bins.",
		c.Source.Temperature, c.Source.Images, c.Images(), calibration.Bins)
	return d
}
