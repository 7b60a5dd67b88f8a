package nb

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html"
	"slices"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/report/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// LearningCurves shows the accuracy of runs, a curve for each method: over the number of labels if a
// method has several budgets, else over epochs. [Save] writes the figure to a file.
func LearningCurves(dirs ...string) Fig { return curves(false, dirs) }

// PerTarget shows what [LearningCurves] shows with a panel for each target domain and, over the number
// of labels, one for their average.
func PerTarget(dirs ...string) Fig { return curves(true, dirs) }

func curves(each bool, dirs []string) Fig {
	if len(byBudget(dirs)) > 1 {
		d := Must(report.LabelsOver(each, metric(dirs), dirs...))
		return showFig(func(t plots.Theme) (*plots.Grid, error) { return plots.Budget(t, d) })
	}
	d := Must(report.CurvesOver(each, metric(dirs), dirs...))
	return showFig(func(t plots.Theme) (*plots.Grid, error) { return plots.EpochsPanels(t, d) })
}

// Dots shows the accuracy of finished runs at the last epoch, grouped by target: the mean over seeds with
// its [Band] and the seeds as small dots. [Save] writes the figure to a file.
func Dots(dirs ...string) Fig {
	d := Must(report.DotsOver(metric(dirs), dirs...))
	return showFig(func(t plots.Theme) (*plots.Grid, error) { return plots.Dots(t, d) })
}

// TSNE shows an interactive t-SNE embedding of a run's images by its learned features,
// including the target's. Images appear under the pointer or by the arrow keys; classes, domains
// and query rounds can be hidden. Without scripts the static figure remains. It needs the run's
// weights or stored coordinates. [Save] writes the static figure to a file.
func TSNE(dir string) Fig {
	f, ctx, o := Must(report.OpenRun(dir)), context.Background(), Options(report.FigureOptions{})
	end := (new(bar)).wait("t-SNE of the images' features")
	fig, still, err := f.Map(ctx, Theme(), o)
	end()
	Check(err)
	showIn("", still, map[protocol.MIMEType]any{protocol.MIMETextHTML: Must(fig.HTML(ctx, still))})
	return Fig{func(t plots.Theme) (*plots.Grid, error) { return f.Figure(ctx, "tsne", t, o) }}
}

// Queried shows n queried images of a run, those with the highest scores, with their scores.
func Queried(dir string, n int) Fig {
	return Figure(OpenRun(dir), "queried", FigureOptions{Count: n})
}

// QueryScores shows the scores of the images queried last among those of all candidates: the uncertainty,
// representativeness and diversity of CEG, and that of your own strategy. It needs the run's weights or
// stored scores. [Save] writes the figure to a file.
func QueryScores(dir string) Fig { return Figure(OpenRun(dir), "scores", FigureOptions{}) }

// Report shows the page of `ledg report` for runs in the cell. It loads nothing and has no
// script.
func Report(dirs ...string) {
	if gonbui.IsNotebook {
		gonbui.DisplayHTML(fmt.Sprintf(`<iframe srcdoc="%s" title="Report" style="width: 100%%; height: 46rem; border: 1px solid; border-radius: 8px"></iframe>`, html.EscapeString(reportPage(dirs...))))
		gonbui.Sync()
	}
}

func reportPage(dirs ...string) string {
	var folders []*report.Folder
	var title string
	for _, r := range Must(result.OpenAll(dirs...)) {
		folders = append(folders, Must(report.OpenRun(r.Path)))
		title = labelOf(r)
	}
	if len(folders) != 1 {
		title = fmt.Sprintf("%d runs", len(folders))
	}
	var b bytes.Buffer
	Check(page.Write(context.Background(), &b, title, folders, page.Options{}))
	return b.String()
}

// sweepFigure draws the accuracy over the values of a setting, each with its runs.
func sweepFigure(method string, settings []string, places [][]float64, of [][]string) (*plots.Grid, error) {
	c := plots.Curve{Name: method}
	var cells []plots.Cell
	title, note := "", ""
	measure := metric(slices.Concat(of...))
	for i, at := range places {
		if len(of[i]) == 0 { // all its runs failed
			continue
		}
		p := plots.Point{X: at[0]}
		for _, run := range Must(result.OpenAll(of[i]...)) {
			if !run.Result.Accuracy.Measured() {
				return nil, fmt.Errorf("%s: %w", run.Path, result.ErrNoTarget)
			}
			v, err := report.MeasureOf(run, measure)
			if err != nil {
				return nil, err
			}
			p.Values = append(p.Values, 100*v)
			title = fmt.Sprintf("%s, target %s", report.TitleOfRun(run, run.Config.Data.Target), run.Config.Data.Target)
			c.Title = run.Config.Arm().Name()
			if chance := report.Chance(run.Config.Data.Dataset, run); chance != nil && By == "" {
				note = fmt.Sprintf(" Chance: %.1f%%.", chance.Y) // a line would flatten the curve
			}
		}
		if c.Points = append(c.Points, p); len(at) == 2 {
			cells = append(cells, plots.Cell{X: at[0], Y: at[1], Values: p.Values})
		}
	}
	slices.SortFunc(c.Points, func(a, b plots.Point) int { return cmp.Compare(a.X, b.X) })
	d := plots.SensitivityData{ValueLabel: report.ValueLabel(measure)}
	if x := report.ParameterLabel(settings[0]); cells != nil {
		d.Surfaces = []plots.Surface{{Title: c.Title + ", " + title, XLabel: x, YLabel: report.ParameterLabel(settings[1]), Cells: cells}}
	} else {
		d.Sweeps = []plots.Sweep{{Title: title, XLabel: x, Curves: []plots.Curve{c}}}
	}
	g, err := plots.Sensitivity(Theme(), d)
	if err != nil {
		return nil, err
	}
	g.Note += note
	return g, nil
}

// Result returns the result of a finished run.
func Result(dir string) *result.Result {
	run := Must(result.OpenRun(dir))
	if run.Result == nil {
		Check(fmt.Errorf("%s: the run is not finished: %d epochs are recorded", run.Path, len(run.Records)))
	}
	return run.Result
}
