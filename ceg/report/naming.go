package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// naming tells what a run is called in the second table: by its method and
// target, by its timing, preset, weights, budget and data set where the runs
// differ in them, and by other settings where runs that would have one name do.
type naming struct {
	timing, preset, weights, budget, dataset bool
	settings                                 map[string][]config.Setting // by the name without them
}

// unnamed are settings by which no run is called: those that a table has a column for,
// that pair runs, or that follow from others.
var unnamed = []string{"method", "preset", "seed", "data.target", "data.dataset", "data.labels", "data.split_seed", "exploration.budget", "exploration.initial_share",
	"network.weights", "schedule.timing", "schedule.query_after", "schedule.query_shares"}

func newNaming(runs []*RecordedRun) naming { return namingBy(runs, true) }

// namingBy is [newNaming], in which budgets tell runs apart or, as on an axis of labels, do not.
func namingBy(runs []*RecordedRun, budgets bool) (n naming) {
	timing := config.Timing("")
	for _, run := range runs {
		if !alwaysOnce(run) {
			n.timing = n.timing || timing != "" && run.timing() != timing
			timing = run.timing()
		}
	}
	for _, run := range runs[1:] {
		n.preset = n.preset || run.Result.Preset != runs[0].Result.Preset
		n.weights = n.weights || run.weights() != runs[0].weights()
		n.budget = n.budget || budgets && run.budget() != runs[0].budget()
		n.dataset = n.dataset || run.Result.Dataset != runs[0].Result.Dataset
	}
	n.settings = map[string][]config.Setting{}
	first := map[[2]string]*RecordedRun{}
	for _, run := range runs {
		name := n.plain(run)
		key := [2]string{name, run.Result.Dataset}
		if first[key] == nil {
			first[key] = run
		}
		for _, s := range config.Settings() {
			known := slices.Contains(unnamed, s.Path) || slices.ContainsFunc(n.settings[name], func(o config.Setting) bool { return o.Path == s.Path })
			if !known && s.Text(first[key].Config) != s.Text(run.Config) {
				n.settings[name] = append(n.settings[name], s)
			}
		}
	}
	return n
}

// alwaysOnce reports whether a run's method implies labels upfront by its name, as objectives
// without a strategy do, and the run had them.
func alwaysOnce(run *RecordedRun) bool {
	name := run.Result.Method
	return run.timing() == config.Once && config.AtOnce(name)
}

// timed is the method with its timing where that differs.
func (n naming) timed(run *RecordedRun) string {
	name := run.Result.Method
	if n.timing && !alwaysOnce(run) && !strings.HasSuffix(name, " "+string(run.timing())) {
		name += " " + string(run.timing())
	}
	return name
}

// method is the run's name.
func (n naming) method(run *RecordedRun) string {
	return n.plain(run) + n.besides(run, false)
}

// display returns the display name of the run's arm and the short one, with what n tells runs
// apart by besides.
func (n naming) display(run *RecordedRun) (name, short string) {
	a, more := run.Config.Arm(), ""
	if n.weights {
		more += ", weights " + cmp.Or(run.weights(), "none")
	}
	if n.budget {
		more += ", budget " + run.budget()
	}
	more += n.besides(run, true)
	return a.Name() + more, a.Short() + more
}

// besides names the settings by which runs of one name differ, but for those that the names of
// arms tell.
func (n naming) besides(run *RecordedRun, arm bool) (words string) {
	settings := n.settings[n.plain(run)]
	rate, one := oneRate(settings, run)
	for _, s := range settings {
		if one && isRate(s) {
			if s.Path == rate.Path {
				words += ", learning rate " + s.Text(run.Config)
			}
			continue
		}
		if arm && slices.Contains([]string{"exploration.initial", "exploration.strategy", "generalization.objective"}, s.Path) {
			continue
		}
		_, last, _ := strings.Cut(s.Path, ".")
		words += ", " + cmp.Or(last, s.Path) + " " + s.Text(run.Config)
	}
	return words
}

// isRate reports whether a setting is one of the learning rates that the parameter lr sets.
func isRate(s config.Setting) bool {
	return strings.HasPrefix(s.Path, "optimizer.") && strings.HasSuffix(s.Path, "_rate")
}

// oneRate returns the first of several learning rates among settings; one is true if the run has the
// same for all of them.
func oneRate(settings []config.Setting, run *RecordedRun) (first config.Setting, one bool) {
	var rates []config.Setting
	for _, s := range settings {
		if isRate(s) {
			rates = append(rates, s)
		}
	}
	if len(rates) < 2 {
		return first, false
	}
	other := func(s config.Setting) bool { return s.Text(run.Config) != rates[0].Text(run.Config) }
	return rates[0], !slices.ContainsFunc(rates, other)
}

// plain is the run's name but for single settings.
func (n naming) plain(run *RecordedRun) string {
	name := n.timed(run)
	if n.preset {
		name += " " + run.Result.Preset
	}
	if n.weights {
		name += ", weights " + cmp.Or(run.weights(), "none")
	}
	if n.budget {
		name += ", budget " + run.budget()
	}
	return name
}

// target is what a target, or the average, of a run's data set is called.
func (n naming) target(r *result.Result, target string) string {
	if n.dataset {
		return r.Dataset + " " + target
	}
	return target
}
