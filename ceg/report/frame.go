package report

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// frameColumns are the columns of a frame before those of settings.
var frameColumns = []string{"run", "method", "preset", "dataset", "target", "seed", "budget", "labels", "epoch", "domain", "split", "metric", "value"}

// frameRow is one value of a run: the number of labels and of epochs that it was trained with, the domain
// of an accuracy, the split (train, val or test), and a metric such as accuracy, in [0, 1], or loss_ce.
type frameRow struct {
	labels, epoch         int
	domain, split, metric string
	value                 float64
}

// Frame returns the values of every epoch of runs, finished or not, as tidy rows for pandas, R and
// DuckDB; each path is a run or a folder of runs. The metrics are accuracy per domain and split, the
// number of labelled images behind it, the losses, and the share and accuracy of confident pseudo-labels.
// names adds measures of [MeasureNames] on the target, at the epochs that have them. The last columns are the settings that some run does not have at its default.
func Frame(names []string, paths ...string) (*result.Table, error) {
	var more []measure
	for _, name := range names {
		m, err := findMeasure(name)
		if err != nil {
			return nil, err
		}
		more = append(more, m)
	}
	return frame(paths, func(run *RecordedRun, add func(frameRow)) {
		for e, r := range run.Records {
			for _, m := range more {
				if v, err := m.at(run, e, result.TestSplit); err == nil && r.Evaluated() {
					add(frameRow{r.Labels, r.Epoch + 1, run.Config.Data.Target, result.TestSplit, m.name, v})
				}
			}
			at := func(domain, split, metric string, value float64) {
				add(frameRow{r.Labels, r.Epoch + 1, domain, split, metric, value})
			}
			for _, a := range r.Accuracy {
				if a.Tally.Total > 0 {
					at(a.Domain, a.Split, "accuracy", a.Tally.Share())
				}
				at(a.Domain, a.Split, "images", float64(a.Tally.Total))
			}
			for _, l := range r.Loss {
				at("", result.TrainSplit, "loss_"+l.Name, l.Value)
			}
			if p := r.PseudoLabel; p.Total > 0 {
				at("", result.TrainSplit, "pseudo_label_share", p.KeepRate())
				if p.Accepted > p.Unknown {
					at("", result.TrainSplit, "pseudo_label_accuracy", p.Accuracy())
				}
			}
		}
	})
}

// CompareFrame returns the accuracy on the target of finished runs, with one row for each of the
// three model selection rules: the metrics last_epoch, best_source_val and best_target. Labels and
// epoch belong to the selected epoch.
func CompareFrame(paths ...string) (*result.Table, error) {
	return frame(paths, func(run *RecordedRun, add func(frameRow)) {
		for _, rule := range run.Choices.Rules() {
			if c := rule.Choice; c != nil && c.Target.Total > 0 {
				add(frameRow{c.Labels, c.Epoch + 1, run.Config.Data.Target, result.TestSplit, rule.Name, c.Target.Share()})
			}
		}
	})
}

func frame(paths []string, of func(run *RecordedRun, add func(frameRow))) (*result.Table, error) {
	runs, err := readRuns(paths)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for _, run := range runs {
		for _, path := range notDefault(run.Config) {
			changed[path] = true
		}
	}
	settings := slices.DeleteFunc(config.Settings(), func(s config.Setting) bool { return !changed[s.Path] })
	t := &result.Table{}
	for _, name := range frameColumns {
		t.Columns = append(t.Columns, result.Column{Name: name})
	}
	for _, s := range settings {
		t.Columns = append(t.Columns, result.Column{Name: s.Path})
	}
	for _, run := range runs {
		c := run.Config
		var last []string
		for _, s := range settings {
			text := s.Text(c)
			if kind := s.Kind(); kind != "string" && kind != "list" { // a number, also where a word stands for 0
				text = fmt.Sprint(s.Of(c))
			}
			last = append(last, text)
		}
		of(run, func(r frameRow) {
			t.AddRow(append([]string{run.Path, c.Arm().Name(), string(c.Preset), c.Data.Dataset, c.Data.Target, fmt.Sprint(c.Seed), c.Exploration.Budget,
				fmt.Sprint(r.labels), fmt.Sprint(r.epoch), r.domain, r.split, r.metric, fmt.Sprint(r.value)}, last...)...)
		})
	}
	return t, nil
}

// columned are the settings with a column of their own, or that follow from the method.
var columned = []string{"method", "exploration.strategy", "generalization.objective", "preset", "seed", "data.dataset", "data.target", "exploration.budget"}

// notDefault lists the settings of a config that differ from the defaults of its method, preset
// and data set. Settings derived from its timing and number of epochs count as defaults.
func notDefault(c config.Config) (list []string) {
	spec := config.Spec{Dataset: c.Data.Dataset, Target: c.Data.Target, Preset: c.Preset, Seed: c.Seed, Budget: c.Exploration.Budget}
	var plain config.Config
	strategy, objective := c.Exploration.Strategy, c.Generalization.Objective
	// Those that another program has registered are unknown here; most have the defaults of these.
	const someStrategy, someObjective = "entropy", "meanteacher"
	for _, by := range [][2]string{{strategy, objective}, {someStrategy, objective}, {strategy, someObjective}, {someStrategy, someObjective}} {
		var err error
		spec.Strategy, spec.Objective = by[0], by[1]
		if plain, err = config.Resolve(spec); err == nil {
			break
		}
	}
	if plain.Method == "" {
		return nil
	}
	spec.Timing, spec.Epochs = c.Schedule.Timing, c.Schedule.Epochs
	same, err := config.Resolve(spec)
	if err != nil {
		same = plain
	}
	for _, s := range config.Settings() {
		to := same
		if s.Path == "schedule.timing" || s.Path == "schedule.epochs" {
			to = plain
		}
		if !slices.Contains(columned, s.Path) && s.Text(c) != s.Text(to) {
			list = append(list, s.Path)
		}
	}
	return list
}
