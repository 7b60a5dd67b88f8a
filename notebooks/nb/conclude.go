package nb

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// SummarizeTable writes in sentences what a table of a folder shows: which rows differ significantly
// from its baseline, which do not, and which have too few runs for a test.
func SummarizeTable(f *report.Folder, table string, o report.TableOptions) {
	text := sentences(Must(f.Verdicts(table, o)))
	if n := untried(f, table); n > 0 {
		text += fmt.Sprintf("%s of the table %s not been run on all target domains.", counted(n, "row"), map[bool]string{true: "has", false: "have"}[n == 1])
	}
	Markdown("%s", formatted(strings.TrimSpace(text)))
}

// sentences states which differences to a baseline are significant after Holm's correction, and
// which have an interval that excludes zero only before it.
func sentences(list []report.Verdict) string {
	if len(list) == 0 {
		return ""
	}
	baseline := list[0].Baseline
	var below, above, uncorrected, same, few []string
	for _, v := range list {
		name := fmt.Sprintf("%s: %+.1f pp (%+.1f to %+.1f, n = %d)", v.Row, 100*v.Mean, 100*v.Low, 100*v.High, v.N)
		if v.Targets > 1 {
			name += fmt.Sprintf(", above on %d of %d targets", v.Favour, v.Targets)
		}
		switch {
		case !v.HasInterval():
			few = append(few, v.Row)
		case !v.ExcludesZero():
			same = append(same, fmt.Sprintf("%s; detects %.1f pp with 80%% power", name, 100*v.Detectable()))
		case v.Holm >= significance:
			uncorrected = append(uncorrected, name)
		case v.Mean < 0:
			below = append(below, name)
		default:
			above = append(above, name)
		}
	}
	var b strings.Builder
	what := " (Holm-corrected; difference with 95% interval over seeds):"
	for _, s := range []struct {
		of   string
		list []string
	}{
		{"**Significantly below " + baseline + "**", below}, {"**Significantly above " + baseline + "**", above},
		{"**Not significantly different from " + baseline + " after correction, though the interval excludes zero**", uncorrected},
		{"**Not significantly different from " + baseline + "**", same},
	} {
		if len(s.list) > 0 {
			fmt.Fprintf(&b, "%s%s\n\n* %s\n\n", s.of, what, strings.Join(s.list, "\n* "))
			what = ":"
		}
	}
	if len(few) > 0 {
		fmt.Fprintf(&b, "**Fewer than %d seeds in common, so no test**: %s.\n\n", result.Enough, strings.Join(few, "; "))
	}
	return b.String()
}

// significance is the largest p-value of a significant difference.
const significance = 1 - result.Level

var subscript = regexp.MustCompile(`_\{([^}]*)\}`)

// formatted is a text with the field's symbols, as a cell shows it.
func formatted(text string) string {
	return subscript.ReplaceAllString(plots.Symbols(text), "<sub>$1</sub>")
}

// untried counts the rows of a paper's table that no finished seed has on all targets.
func untried(f *report.Folder, table string) (n int) {
	for _, spec := range report.PaperTables() {
		if spec.Name != table {
			continue
		}
		for _, row := range spec.Rows {
			targets, done := map[string]bool{}, map[uint64]map[string]bool{}
			for _, r := range f.Runs {
				if r.Method != row.Method || r.Variant != row.Variant {
					continue
				}
				targets[r.Target] = true
				if Must(f.State(r)) == result.Complete {
					if done[r.Seed] == nil {
						done[r.Seed] = map[string]bool{}
					}
					done[r.Seed][r.Target] = true
				}
			}
			whole := false
			for _, t := range done {
				whole = whole || len(t) == len(targets)
			}
			if !whole {
				n++
			}
		}
	}
	return n
}

// counted is a number of things in words.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// LabelSavings shows label savings in a figure, and in a table that is folded away: for each target
// of a budget figure, the number of labels with which the other method reaches the method's accuracy.
// pool is the number of images that percentages refer to; 0 if budgets are numbers of labels.
func LabelSavings(d plots.BudgetData, method, other string, pool int) {
	titleOf := func(name string) string { // of the curve with a name
		for _, target := range d.Targets {
			for _, c := range target.Curves {
				if c.Name == name {
					return plots.Symbols(cmp.Or(c.Title, name))
				}
			}
		}
		return name
	}
	picture := plots.SavingsData{Method: titleOf(method), Other: titleOf(other), Ticks: map[float64]string{}}
	t := NewTable("target", titleOf(method), "accuracy", titleOf(other)+" needs", "saved")
	for _, target := range d.Targets {
		a := slices.IndexFunc(target.Curves, func(c plots.Curve) bool { return c.Name == method })
		b := slices.IndexFunc(target.Curves, func(c plots.Curve) bool { return c.Name == other })
		if a < 0 || b < 0 {
			continue
		}
		labels := func(budget float64) int {
			if pool > 0 {
				budget *= float64(pool) / 100
			}
			return int(math.Round(budget))
		}
		spent := func(budget float64) int { // a share of the pool is rounded down
			if pool > 0 {
				return int(budget*float64(pool)/100 + 1e-9)
			}
			return labels(budget)
		}
		points := target.Curves[b].Points
		saved := plots.Curve{Name: target.Name}
		for _, s := range report.Savings(target.Curves[a], target.Curves[b]) {
			if name := d.Ticks[s.Budget]; pool > 0 {
				picture.Ticks[float64(spent(s.Budget))] = fmt.Sprintf("%d (%g%%)", spent(s.Budget), s.Budget)
			} else if strings.HasSuffix(name, "%") {
				picture.Ticks[s.Budget] = fmt.Sprintf("%d (%s)", spent(s.Budget), name)
			}
			row := []string{target.Name, fmt.Sprintf("%d labels", spent(s.Budget)), fmt.Sprintf("%.1f%%", s.Accuracy)}
			if !math.IsInf(s.Worth, 0) {
				saved.Points = append(saved.Points, plots.Point{X: float64(spent(s.Budget)), Values: []float64{s.Worth / s.Budget}})
			}
			switch {
			case math.IsInf(s.Worth, 1):
				most := spent(points[len(points)-1].X)
				saved := "not known"
				if n := most - spent(s.Budget); n > 0 {
					saved = fmt.Sprintf("more than %d", n)
				}
				row = append(row, fmt.Sprintf("more than %d", most), saved)
			case math.IsInf(s.Worth, -1):
				least := spent(points[0].X)
				row = append(row, fmt.Sprintf("fewer than %d", least), fmt.Sprintf("less than %d", least-spent(s.Budget)))
			default:
				worth := labels(s.Worth)
				row = append(row, fmt.Sprintf("about %d", worth), fmt.Sprintf("about %d", worth-spent(s.Budget)))
			}
			t.AddRow(row...)
		}
		if len(saved.Points) > 0 {
			picture.Curves = append(picture.Curves, saved)
		}
	}
	t.Notes = []string{"Between measured budgets: linear interpolation over the logarithm of the budget. Means over seeds, without intervals."}
	if len(picture.Curves) == 0 {
		Table(t, nil)
		return
	}
	Show(plots.Savings(Theme(), picture))
	Markdown("%s", folded("The numbers", markdownOf(t)))
}

// FinalAccuracy states the final values of a figure's curves, highest first.
func FinalAccuracy(d plots.EpochsData, err error) {
	Check(err)
	type end struct {
		text string
		mean float64
	}
	var ends []end
	for _, c := range d.Curves {
		ends = append(ends, end{plots.Symbols(cmp.Or(c.Title, c.Name)) + " at ", lastMean(c)})
		p := c.Points[len(c.Points)-1]
		ends[len(ends)-1].text += fmt.Sprintf("%.1f%% (%s)", lastMean(c), spread(p.Values))
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(b.mean, a.mean) })
	var list []string
	for _, e := range ends {
		list = append(list, e.text)
	}
	Markdown("%s", fmt.Sprintf("After %g epochs, %s: %s.", d.Curves[0].Points[len(d.Curves[0].Points)-1].X, d.Title, formatted(html.EscapeString(strings.Join(list, "; ")))))
}

// lastMean is where a curve ends.
func lastMean(c plots.Curve) float64 { return stat.Mean(c.Points[len(c.Points)-1].Values, nil) }

// spread says from how many runs a mean is, and between which values.
func spread(values []float64) string {
	if len(values) == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs, from %.1f to %.1f", len(values), slices.Min(values), slices.Max(values))
}

// SweepTable shows the numbers of a sensitivity figure: each value compared with the default, paired
// by seed, with the paper's number if its text has one. For pairs of values, which the figure
// shows as a heat map, it shows only the paper's. It then states which settings differ
// significantly from the default.
func SweepTable(d plots.SensitivityData, err error) {
	Check(err)
	t := NewTable("setting", "value", "accuracy, %", "runs", "minus the usual", "paper, PACS", "paper, Office-Home")
	var all swept
	for _, s := range d.Sweeps {
		for _, c := range s.Curves {
			var points []setting
			for _, p := range c.Points {
				points = append(points, setting{map[string]float64{s.XLabel: p.X}, p.Values, s.Chosen != nil && p.X == *s.Chosen})
			}
			all.add(t, []string{s.XLabel}, points)
		}
	}
	for _, s := range d.Surfaces {
		var points []setting
		for _, c := range s.Cells {
			points = append(points, setting{map[string]float64{s.XLabel: c.X, s.YLabel: c.Y}, c.Values, s.Chosen != nil && *s.Chosen == [2]float64{c.X, c.Y}})
		}
		all.add(t, []string{s.XLabel, s.YLabel}, points)
	}
	if len(all.differences) > 0 {
		t.Notes = []string{"Minus the usual: paired by seed, with a 95% interval. ~D: not significant. With this n and spread, a true difference of D would be significant with 80% probability."}
	}
	Table(t, nil)
	if text := all.sentences(); text != "" {
		Markdown("%s", formatted(text))
	}
}

// setting is a value of a parameter, or a pair of values of two, with the accuracies of its
// runs in the order of their seeds.
type setting struct {
	at     map[string]float64
	values []float64
	usual  bool
}

// swept are settings beside the usual ones.
type swept struct {
	names, usual []string
	means, seeds []float64 // of the settings, and of the runs of the usual ones
	differences  []result.Difference
}

// add adds the rows of a parameter, or of two that vary together.
func (a *swept) add(t *result.Table, labels []string, points []setting) {
	var usual []float64
	if i := slices.IndexFunc(points, func(p setting) bool { return p.usual }); i >= 0 {
		usual = points[i].values
		a.seeds = append(a.seeds, usual...)
	}
	for _, p := range points {
		var at, named []string
		for _, l := range labels {
			value := fmt.Sprint(p.at[l])
			short, _, _ := strings.Cut(l, " (")
			at, named = append(at, value), append(named, short+" = "+value)
		}
		mean := stat.Mean(p.values, nil)
		row := []string{strings.Join(labels, ", "), strings.Join(at, ", "), fmt.Sprintf("%.1f", mean), spread(p.values), "", "", ""}
		switch {
		case p.usual:
			row[4] = "usual"
			a.usual = append(a.usual, strings.Join(named, ", "))
		case len(usual) > 0:
			row[4] = fmt.Sprintf("%+.1f", mean-stat.Mean(usual, nil))
			if d, err := result.Paired(trials(p.values), trials(usual)); err == nil && d.HasInterval() && len(usual) == len(p.values) {
				row[4] += fmt.Sprintf(" (%+.1f to %+.1f)", d.Low, d.High)
				if !d.ExcludesZero() {
					row[4] += fmt.Sprintf(" ~%.1f", d.Detectable())
				}
				a.names, a.means, a.differences = append(a.names, strings.Join(named, ", ")), append(a.means, mean), append(a.differences, d)
			}
		}
		for _, paper := range report.PaperSensitivity() {
			known := map[string]float64{}
			for name, v := range paper.At {
				known[report.ParameterLabel(name)] = v
			}
			if p.usual && paper.At == nil || maps.Equal(known, p.at) {
				row[5], row[6] = fmt.Sprintf("%.2f", paper.PACS), fmt.Sprintf("%.2f", paper.OfficeHome)
			}
		}
		if len(labels) == 1 || row[5] != "" {
			t.AddRow(row...)
		}
	}
}

// sentences states which settings differ significantly from the defaults after Holm's correction,
// among those with enough seeds. Those whose interval contains zero are folded away.
func (a *swept) sentences() string {
	if len(a.differences) == 0 {
		return ""
	}
	var p []float64
	for _, d := range a.differences {
		p = append(p, d.P)
	}
	holm := result.Holm(p)
	var below, above, uncorrected, same []string
	for i, d := range a.differences {
		switch name := fmt.Sprintf("%s: %+.1f (%+.1f to %+.1f)", a.names[i], d.Mean, d.Low, d.High); {
		case !d.ExcludesZero():
			same = append(same, fmt.Sprintf("%s; n = %d detects %.1f pp with 80%% power", name, d.N, d.Detectable()))
		case holm[i] >= significance:
			uncorrected = append(uncorrected, name)
		case d.Mean < 0:
			below = append(below, name)
		default:
			above = append(above, name)
		}
	}
	text := fmt.Sprintf("The other %d settings have means from %.1f to %.1f%%, the runs of the usual one (%s) accuracies from %.1f to %.1f%%. "+
		"Differences from it, with 95%% intervals (n = %d seeds, Holm-corrected over all %d):\n",
		len(a.means), slices.Min(a.means), slices.Max(a.means), strings.Join(a.usual, ", "), slices.Min(a.seeds), slices.Max(a.seeds),
		a.differences[0].N, len(p))
	for _, part := range []struct {
		name string
		list []string
	}{
		{"Significantly below", below}, {"Significantly above", above},
		{"Not significant after correction, though the interval excludes zero", uncorrected},
	} {
		text += fmt.Sprintf("\n* **%s**: %s.", part.name, cmp.Or(strings.Join(part.list, "; "), "none"))
	}
	if len(same) > 0 {
		text += folded(fmt.Sprintf("Not significantly different from it: %s", counted(len(same), "setting")), "* "+strings.Join(same, "\n* "))
	}
	return text
}

// folded is a text that shows its summary alone until somebody opens it.
func folded(summary, text string) string {
	return "\n\n<details><summary>" + summary + "</summary>\n\n" + text + "\n\n</details>"
}

// trials are values whose keys are their places.
func trials(values []float64) (list []result.Trial) {
	for i, v := range values {
		list = append(list, result.Trial{Key: fmt.Sprint(i), Value: v})
	}
	return list
}

// Summarize writes in sentences what Compare shows in a table: which methods differ significantly
// from the first, for each budget as there.
func Summarize(dirs ...string) {
	if groups := byBudget(dirs); len(groups) > 1 {
		for _, g := range groups {
			Markdown("*Budget %s*", g.budget)
			Summarize(g.dirs...)
		}
		return
	}
	list, err := report.VerdictsOver(dirs...)
	Check(err)
	if len(list) == 0 {
		Markdown("Single runs cannot be compared: n = 1.")
		return
	}
	Markdown("%s", formatted(strings.TrimSpace(sentences(list))))
}
