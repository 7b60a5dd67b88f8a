package page

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/plots"
)

// runPage is what the page shows of one run.
type runPage struct {
	Name       string
	Method     string
	Short      *short
	Result     *result.Result
	Rules      *result.Table
	Domains    *result.Table
	Curves     *figure // nil of a run that measured nothing
	Target     string
	Queried    []queriedDomain
	QueriedAll int
	Chosen     string        // how the labels were chosen
	Shown      int           // number of tiles
	Scored     bool          // some tile has scores
	Matrix     *result.Table // queries, domain by class
	NoImages   string        // why there are no pictures
	People     *result.Table // who labelled; nil if no people did
	Stale      string        // error of the calibration
	Confusion  *confusion
	Measured   string // what the confusion matrix is of
	Reliable   *figure
	Settings   string
	Versions   *result.Table
}

// confusion is a confusion matrix; a cell's Shade, 0 to 9, is its share of the row. With
// many classes its columns have numbers for names, and Worst the largest confusions.
type confusion struct {
	Columns []string
	Rows    []confusionRow
	Worst   *result.Table
}

type confusionRow struct {
	Class string
	Cells []confusionCell
}

type confusionCell struct {
	Count, Shade int
	Right        bool
}

func newRun(ctx context.Context, out *result.Run, o Options) (*runPage, error) {
	r := &runPage{Name: out.Name(), Method: out.Config.Arm().Name(), Result: out.Result, Target: "target " + out.Result.Target}
	if out.Result.Target == config.NoTarget {
		r.Target = "no target domain"
	}
	f, err := report.OpenRun(out.Path)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(out.Records, func(rec result.Record) bool { return rec.Target().Total+rec.SourceVal().Total > 0 }) {
		g, err := draw(ctx, f, "epochs", o.Figures)
		if err != nil {
			return nil, err
		}
		r.Curves = &g
	}
	k, err := artifact.Read(out.Path)
	if err != nil {
		return nil, err
	}
	if r.Short, err = newShort(out, k, o); err != nil {
		return nil, err
	}
	r.addAccuracies(out)
	var b bytes.Buffer
	if err := result.WriteConfig(&b, out.Config); err != nil {
		return nil, err
	}
	r.Settings = b.String()
	if err := r.addQueried(out, o); err != nil {
		return nil, err
	}
	if err := r.addPeople(out.Path); err != nil {
		return nil, err
	}
	return r, r.addCalibration(out, o)
}

// addCalibration adds reliability and confusion matrix, if the run has them.
func (r *runPage) addCalibration(out *result.Run, o Options) error {
	r.Stale = o.Stale[out.Path]
	c := o.Calibrations[out.Path]
	if c == nil {
		var err error
		if c, err = readCalibration(out); c == nil || err != nil {
			return err
		}
	}
	switch {
	case c.HasTarget():
		r.Measured = "the target, " + r.Result.Target
	case c.CrossValidated:
		r.Measured = c.On()
	default:
		r.Measured = "the source validation images"
	}
	r.Confusion = newConfusion(c.Classes, c.Confusion)
	g, err := both(func(t plots.Theme) (*plots.Grid, error) { return plots.Reliability(t, Reliability(c)) })
	r.Reliable = &g
	return err
}

// addAccuracies adds the three rules, the domains at the end, and the versions.
func (r *runPage) addAccuracies(out *result.Run) {
	r.Rules = &result.Table{Columns: []result.Column{{Name: "rule"}, {Name: "epoch", Right: true}, {Name: "labels", Right: true},
		{Name: "target %", Right: true}, {Name: "source val %", Right: true}}}
	end := 3 // of the columns that are left out: the target's, if there is none
	if out.Result.Target == config.NoTarget {
		end++
		r.Rules.Columns = slices.Delete(r.Rules.Columns, 3, end)
	}
	for _, rule := range out.Result.Accuracy.Rules() {
		if c := rule.Choice; c != nil {
			r.Rules.AddRow(slices.Delete([]string{rule.Title, fmt.Sprint(c.Epoch + 1), fmt.Sprint(c.Labels), share(c.Target), share(c.SourceVal)}, 3, end)...)
		}
	}
	r.Domains = &result.Table{Columns: []result.Column{{Name: "domain"}, {Name: "split"}, {Name: "correct", Right: true}, {Name: "%", Right: true}}}
	last := out.Records[len(out.Records)-1].Accuracy
	byClass := slices.ContainsFunc(last, func(a result.Accuracy) bool { return a.Classes != nil })
	if byClass {
		r.Domains.Columns = append(r.Domains.Columns, result.Column{Name: "macro-F1 %", Right: true})
	}
	for _, a := range last {
		row := []string{a.Domain, a.Split, a.Tally.String(), share(a.Tally)}
		if byClass {
			row = append(row, fmt.Sprintf("%.2f", 100*a.Classes.MacroF1()))
		}
		r.Domains.AddRow(row...)
	}
	v := out.Result.Versions
	r.Versions = &result.Table{Columns: []result.Column{{Name: "what"}, {Name: "version"}}}
	for _, row := range [][2]string{{"ledg", v.Ledg}, {"Go", v.Go}, {"GoMLX", v.GoMLX}, {"compute", v.Compute}, {"backend", v.Backend}} {
		r.Versions.AddRow(row[0], row[1])
	}
	if list := out.Result.Revisions(); list != nil {
		r.Versions.AddRow("commits", strings.Join(list, ", "))
	}
}

func newConfusion(classes []string, counts [][]int) *confusion {
	c := &confusion{Columns: classes}
	names := slices.Clone(classes)
	if len(classes) > manyClasses {
		c.Worst, c.Columns = worst(classes, counts), nil
		for i, name := range classes {
			c.Columns = append(c.Columns, fmt.Sprint(i+1))
			names[i] = fmt.Sprint(i+1, " ", name)
		}
	}
	for i, row := range counts {
		sum := 0
		for _, n := range row {
			sum += n
		}
		out := confusionRow{Class: names[i]}
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

// worst lists the most frequent confusions.
func worst(classes []string, counts [][]int) *result.Table {
	type mistake struct{ class, predicted, n, all int }
	var list []mistake
	for i, row := range counts {
		all := 0
		for _, n := range row {
			all += n
		}
		for j, n := range row {
			if i != j && n > 0 {
				list = append(list, mistake{i, j, n, all})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b mistake) int { return b.n - a.n })
	t := &result.Table{Columns: []result.Column{{Name: "class"}, {Name: "confused with"}, {Name: "images", Right: true}, {Name: "% of the class", Right: true}}}
	for _, m := range list[:min(len(list), 15)] {
		t.AddRow(classes[m.class], classes[m.predicted], fmt.Sprint(m.n), share(result.Tally{Correct: m.n, Total: m.all}))
	}
	return t
}
