package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// FigureOptions select the content of a figure. The zero value works for a folder with one data
// set.
type FigureOptions struct {
	// Dataset and Preset select runs; empty means the only one.
	Dataset, Preset string
	// Budget selects runs in all figures but budget; empty means 5%, or the only one.
	Budget string
	// Rule is the model selection rule; empty means last_epoch.
	Rule string
	// SourceVal shows source validation accuracy, in the figure targets alone.
	SourceVal bool
	// Targets are the target domains to show or to average over; empty means all.
	Targets []string
	// Methods are labels of runs, such as "ceg" or "ceg w/o S_u", in legend order; empty means the
	// methods of the paper's figure that exist, or the only one.
	Methods []string
	// Baseline is the label of a row: budget and targets show the differences to it, paired by seed, in pp.
	Baseline string
	// Band is what the bands of curves show; empty means the theme's.
	Band plots.Band
	// Seed selects the run of a single-run figure; nil means the first finished one.
	Seed *uint64
	// Count is the number of images in queried; 0 means 24.
	Count int
	// Roots are the folders of images by data set, for figures that show or embed images;
	// SplitsDir is the folder of the PACS lists. Empty means where the run last found them.
	Roots     map[string]string
	SplitsDir string
	// Keep computes a missing file of a run's folder for tsne or scores, result.MapFile or
	// result.ScoresFile, with the run's weights, as study.Keeper does. Without it these figures need the stored file.
	Keep func(ctx context.Context, file, dir string) error
	// beside is set by withDefaults: runs of the preset ledg are drawn beside runs of authors,
	// under their names in tables.
	beside bool
}

// figures are the functions behind the names, in the order in which they are
// listed.
var figures = []struct {
	name string
	draw func(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error)
}{
	{"sensitivity", draw(true, (*Folder).Sensitivity, plots.Sensitivity)},
	{"budget", draw(true, (*Folder).Budget, plots.Budget)},
	{"targets", draw(true, (*Folder).Targets, plots.Dots)},
	{"tsne", drawTSNE},
	{"epochs", draw(false, (*Folder).Epochs, plots.Epochs)},
	{"scores", drawScores},
	{"queried", draw(false, (*Folder).Queried, plots.ContactSheet)},
}

// draw joins what reads a figure's data with what draws it, and notes the rule
// where one was used.
func draw[D any](usesRule bool, data func(*Folder, FigureOptions) (D, error), grid func(plots.Theme, D) (*plots.Grid, error)) func(context.Context, *Folder, plots.Theme, FigureOptions) (*plots.Grid, error) {
	return func(_ context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
		d, err := data(f, o)
		if err != nil {
			return nil, err
		}
		g, err := grid(t, d)
		if err != nil {
			return nil, err
		}
		if usesRule {
			g.Note = strings.TrimSpace(g.Note + " Accuracy " + atRule(cmp.Or(o.Rule, "last_epoch")) + ".")
		}
		return g, nil
	}
}

// atRule says in words at which epoch a rule looks.
func atRule(rule string) string {
	for _, r := range (result.Choices{}).Rules() {
		if r.Name == rule {
			return "at the " + r.Title
		}
	}
	return "by the rule " + rule
}

// FigureNames lists the figures of [Folder.Figure].
func FigureNames() []string {
	names := make([]string, len(figures))
	for i, f := range figures {
		names[i] = f.name
	}
	return names
}

// Figure draws the named figure, one of [FigureNames], from the folder's runs.
func (f *Folder) Figure(ctx context.Context, name string, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	for _, fig := range figures {
		if fig.name != name {
			continue
		}
		if o.SourceVal && name != "targets" {
			return nil, fmt.Errorf("figure %s has no source validation accuracy, only targets has", name)
		}
		if o.Baseline != "" && name != "budget" && name != "targets" {
			return nil, fmt.Errorf("figure %s subtracts no baseline, only budget and targets do", name)
		}
		t.Band, t.Arms = cmp.Or(o.Band, t.Band), Looks()
		f.read, f.names = versions{}, nil
		g, err := fig.draw(ctx, f, t, o)
		if err != nil {
			return nil, fmt.Errorf("figure %s of %s: %w", name, f.Path, err)
		}
		g.Aside = f.read.note(f.names)
		return g, nil
	}
	return nil, fmt.Errorf("no figure %q, want one of %s", name, strings.Join(FigureNames(), ", "))
}

// withDefaults fills in what the folder leaves no choice in.
func (o FigureOptions) withDefaults(f *Folder) (FigureOptions, error) {
	all := f.groups(o.Dataset, o.Preset)
	groups := slices.DeleteFunc(slices.Clone(all), func(g group) bool { return g.besides(all) })
	if len(groups) != 1 {
		var list []string
		for _, g := range f.groups("", "") {
			list = append(list, g.dataset+" "+g.preset)
		}
		return o, fmt.Errorf("data set %q, preset %q: the folder has %s: choose one", o.Dataset, o.Preset, cmp.Or(strings.Join(list, ", "), "no runs"))
	}
	o.Dataset, o.Preset, o.beside = groups[0].dataset, groups[0].preset, len(groups) < len(all)
	if len(f.Runs) == 1 && len(o.Methods) == 0 {
		o.Methods = []string{f.Runs[0].Label()}
	}
	o.Budget, o.Rule = cmp.Or(o.Budget, f.usualBudget(groups[0])), cmp.Or(o.Rule, "last_epoch")
	return o, nil
}

// has reports whether a run is one that the options choose, budget and method
// apart.
func (o FigureOptions) has(r result.PlannedRun) bool {
	return r.Dataset == o.Dataset && (r.Preset == o.Preset || o.beside && after(r.Preset, o.Preset)) && (len(o.Targets) == 0 || slices.Contains(o.Targets, r.Target))
}

// choose returns the runs that the options and the condition choose. Two runs
// with the same label, target and seed are an error.
func (f *Folder) choose(o FigureOptions, want func(result.PlannedRun) bool) ([]result.PlannedRun, error) {
	var list []result.PlannedRun
	dirs := map[string]string{}
	for _, r := range only(f.Runs, o.has) {
		if r.Preset != o.Preset && r.Sweep == nil {
			r.Method, r.Variant = r.Label()+", preset "+r.Preset, ""
		}
		if !want(r) {
			continue
		}
		if err := f.once(dirs, r); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// targetsOf lists the targets of runs.
func targetsOf(runs []result.PlannedRun) []string {
	return slices.Sorted(slices.Values(distinct(runs, func(r result.PlannedRun) string { return r.Target })))
}

// labelsOf lists the labels of runs, as they first occur.
func labelsOf(runs []result.PlannedRun) []string { return distinct(runs, result.PlannedRun.Label) }

// withLabel returns the runs that have the label.
func withLabel(runs []result.PlannedRun, label string) []result.PlannedRun {
	return only(runs, func(r result.PlannedRun) bool { return r.Label() == label })
}

// perSeed returns accuracies of the finished runs, which are of one label, in the order of the seeds, each
// averaged over the targets; seeds that lack one are left out.
func (f *Folder) perSeed(runs []result.PlannedRun, targets []string, rule string) ([]float64, error) {
	arms, err := f.drawn(runs, runs[0].Label())
	if err != nil {
		return nil, err
	}
	return arms[0].perSeed(targets, accuracy(rule))
}

// onTargets describes the targets of an average on a data set of that title.
func onTargets(dataset string, targets []string) string {
	if len(targets) == 1 {
		return fmt.Sprintf("%s, target %s", dataset, targets[0])
	}
	return fmt.Sprintf("%s, average of %d targets", dataset, len(targets))
}

// caption returns the caption of a single run.
func caption(r result.PlannedRun, out *result.Run) string {
	key := datasetTitle(r.Dataset, r.Target) + strings.TrimPrefix(r.Key(), r.Dataset)
	return strings.Replace(key, ", "+r.Label()+", ", ", "+out.Config.Arm().Name()+", ", 1)
}
