package nb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/datasets"
)

// Run specifies a run in a cell: its settings and the location of its images.
type Run struct {
	config.Spec
	// Root is the folder of the images, or the file of features; glyphs need none.
	Root string
}

// Set sets a setting by its path, its flag or its name in the paper: "schedule.epochs", "epochs",
// "target", "budget", "timing", "lr", "gamma1" (`ledg settings` lists them). The last Set of a setting
// counts; it overrides the method, the preset and the fields of [Run].
func Set(name string, value any) func(*Run) {
	return func(r *Run) { Check(r.Put(name, value)) }
}

// Train trains a run in its own folder below [Dir](name), named by its settings and a digest of its
// data, and returns that folder. A repeated call returns immediately if the run is finished, and
// otherwise resumes it; another setting makes another run, and so does other data, also in the same
// file. Runs on this data with committed records (in storedRuns) count as finished.
//
// method is a name of config.Methods, STRATEGY+OBJECTIVE, or a preset: pooled is the
// recommended one. By default runs
// use glyphs with the target photo, 5% of the labels and seed 1.
//
// While it trains it shows its progress, then the loss and the accuracies; [LearningCurves] shows a finished
// run. A run whose labels people give (exploration.oracle = ask) ends and says how many labels it awaits.
// The same call resumes it.
func Train(name, method string, change ...func(*Run)) (dir string) {
	dir, f := (&bar{runs: 1}).train(name, method, change...)
	Check(f.err)
	return dir
}

// train is [Train] in a bar. The failure has no error if there is none.
func (b *bar) train(name, method string, change ...func(*Run)) (dir string, f failure) {
	defer func() { b.finished++ }()
	f.method = method
	f.err = attempt(func() {
		r := newRun(method, change...)
		f.target, f.seed = specified(r.Target, r.Set["data.target"]), cmp.Or(r.Seed, 1)
		r.needTarget()
		c := Config(r.Spec)
		f.run, dir = findRun(name, c, r.Root)
		if dir == "" {
			dir = b.trainIn(filepath.Join(Dir(name), f.run), r, c)
		}
	})
	return dir, f
}

func (b *bar) trainIn(dir string, r Run, c config.Config) string {
	o := ceg.Options{Dir: dir, Root: r.Root}
	words := model.WeightArgs{Weights: cmp.Or(config.NetworkFile(r.Set), specified(r.Weights, r.Set["network.weights"])), Style: specified(r.StyleWeights, r.Set["generalization.style_weights"])}
	err := b.run(context.Background(), c, o, words)
	if awaiting := new(ceg.ErrAwaitingLabels); errors.As(err, &awaiting) {
		b.text(awaiting.Error())
		return dir
	}
	Check(err)
	if b.runs < 2 {
		b.end(dir)
	}
	return dir
}

func (b *bar) run(ctx context.Context, c config.Config, o ceg.Options, words model.WeightArgs) (err error) {
	watch := o.Observe
	o.Resume, o.Observe = true, func(e ceg.Event) {
		if b.observe(e); watch != nil {
			watch(e)
		}
	}
	if o.Weights, o.Style, err = model.OpenWeights(ctx, &c, words, checkpoint.Exists(o.Dir), nil); err == nil {
		_, err = ceg.Run(ctx, c, o)
	}
	return err
}

// runName names the folder of a run with these settings on this data.
func runName(c config.Config, id examples.Identity) string {
	return Must(study.DirName(c)) + "-" + id.All[:8]
}

// findRun returns the name of the folder of a run on the data at root, and the path of the finished
// run below [Dir](name) or in storedRuns, "" if there is none. Runs of older versions and committed
// ones have names without the data's digest; their results have it.
func findRun(name string, c config.Config, root string) (run, dir string) {
	id, err := examples.Identify(context.Background(), c.Data, "", result.Place{Root: root})
	Check(within(root, err))
	run = runName(c, id)
	plain := Must(study.DirName(c))
	for _, folder := range []string{Dir(name), storedRuns} {
		all := result.OpenRuns(folder)
		for _, called := range []string{run, plain} {
			if Must(all.State(called)) == result.Complete && (called == run || id.Check("", Must(all.Result(called))) == nil) {
				return run, filepath.Join(folder, called)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(Dir(name), run)); err != nil {
		if others := Must(filepath.Glob(filepath.Join(Dir(name), plain+"*"))); len(others) > 0 {
			fmt.Printf("Note: %s has a run with these settings on other data. This is a new run.\n", others[0])
		}
	}
	return run, ""
}

func newRun(method string, change ...func(*Run)) Run {
	r := Run{Spec: config.Spec{Set: map[string]any{}}}
	if p := config.Preset(method); slices.Contains(config.Presets(), p) {
		r.Preset = p
	} else {
		r.Method = method
	}
	for _, f := range change {
		f(&r)
	}
	if r.dataset() == datasets.Drawn {
		r.defaultTarget()
	}
	if classes := extracted[r.Root]; classes != nil && r.Set["data.classes"] == nil {
		r.Set["data.classes"] = classes
	}
	return r
}

// needTarget ends the cell if no target is set, and names the domains.
func (r *Run) needTarget() {
	if r.Target == "" && r.Set["data.target"] == nil {
		Check(config.Errorf("data.target", "missing: the domain that is held out, one of %s, or %s", strings.Join(r.domains(), ", "), config.NoTarget))
	}
}

// domains are those of the run's data set.
func (r *Run) domains() []string {
	info, _ := datasets.Lookup(r.dataset())
	if info.Domains != nil {
		return info.Domains
	}
	data, _ := Data(r.dataset(), r.Root)
	return data.Domains
}

func (r *Run) dataset() string {
	return cmp.Or(specified(r.Dataset, r.Set["data.dataset"]), datasets.Drawn)
}

// defaultTarget sets the target photo if none is set.
func (r *Run) defaultTarget() {
	if r.Target == "" && r.Set["data.target"] == nil {
		r.Target = "photo"
	}
}

// specified is a setting of a spec that has a field and a path.
func specified(field string, set any) string {
	if text, ok := set.(string); ok {
		return text
	}
	return field
}

// arm is a method with changes.
type arm struct {
	method string
	change []func(*Run)
}

// trainArms trains arms with the seeds 1 to n, in quick mode to 3 at most, with one progress bar. It returns the
// folders of each arm's runs. Runs that fail are in failures; it is an error if all do.
func trainArms(n int, name string, arms ...arm) (dirs [][]string) {
	if IsQuick() {
		n = min(n, 3)
	}
	b := &bar{runs: len(arms) * n}
	var failed []failure
	for _, a := range arms {
		var finished []string
		for seed := range uint64(n) {
			dir, f := b.train(name, a.method, append(slices.Clone(a.change), func(r *Run) { r.Seed = seed + 1 })...)
			if f.err != nil {
				failed = append(failed, f)
				continue
			}
			finished = append(finished, dir)
		}
		dirs = append(dirs, finished)
	}
	switch {
	case len(failed) == b.runs && b.runs > 1:
		Check(fmt.Errorf("all %d runs failed; the first, %s: %w", b.runs, failed[0].label(), failed[0].err))
	case len(failed) == b.runs && b.runs > 0:
		Check(failed[0].err)
	case b.id != "" && b.runs > 1 && failed == nil:
		b.text(fmt.Sprintf("%d runs are finished", b.runs))
	case b.runs > 1 && failed != nil:
		b.text(fmt.Sprintf("%d of %d runs are finished, %d failed", b.runs-len(failed), b.runs, len(failed)))
	}
	failures = append(failures, failed...)
	return dirs
}

// Seeds calls [Train] for the seeds 1 to n, with one progress bar; in quick mode, to 3 at most. When a run
// fails, the others go on; see [Grid].
func Seeds(n int, name, method string, change ...func(*Run)) (dirs []string) {
	defer showFailures()
	return slices.Concat(trainArms(n, name, arm{method, change})...)
}

// Sweep calls [Seeds] for each value of a setting, the baseline of differences first, and plots the target accuracy at the last
// epoch: a curve over numbers, and [Dots] of texts or booleans. It returns the folders of all runs.
//
// Two settings are separated by a comma, and their values are pairs, plotted as a heat map if they are numbers:
//
//	nb.Sweep("mine", "ceg", "gamma1,gamma2", [][2]float64{{1, 1}, {1, 3}, {3, 1}, {3, 3}}, 3)
func Sweep[T any](name, method, setting string, values []T, seeds int, change ...func(*Run)) (dirs []string) {
	settings := strings.Split(strings.ReplaceAll(setting, " ", ""), ",")
	var arms []arm
	var places [][]float64
	for _, v := range values {
		a := arm{method, slices.Clone(change)}
		var at []float64
		for k, x := range Must(valuesOf(v, len(settings))) {
			a.change = append(a.change, Set(settings[k], x))
			if x, err := strconv.ParseFloat(fmt.Sprint(x), 64); err == nil {
				at = append(at, x)
			}
		}
		if arms = append(arms, a); len(at) == len(settings) {
			places = append(places, at)
		}
	}
	of := trainArms(seeds, name, arms...)
	defer showFailures()
	if dirs = slices.Concat(of...); len(places) < len(values) || len(settings) > 2 {
		Dots(dirs...)
		return dirs
	}
	Show(sweepFigure(method, settings, places, of))
	return dirs
}

// valuesOf returns the values of n settings that v is, or holds.
func valuesOf(v any, n int) ([]any, error) {
	if n == 1 {
		return []any{v}, nil
	}
	list := reflect.ValueOf(v)
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array || list.Len() != n {
		return nil, fmt.Errorf("a sweep over %d settings: the value %v: want %d values, such as [%d]float64{…}", n, v, n, n)
	}
	var all []any
	for i := range n {
		all = append(all, list.Index(i).Interface())
	}
	return all, nil
}

// storedRuns is the folder of the committed records of notebooks' runs, relative to a notebook's
// folder. A run with records there is not trained again.
var storedRuns = filepath.Join("results", "notebooks")

// labelOf is what a run is called where it stands alone.
func labelOf(r *result.Run) string {
	return fmt.Sprintf("%s, target %s, seed %d", r.Config.Arm().Name(), r.Config.Data.Target, r.Config.Seed)
}
