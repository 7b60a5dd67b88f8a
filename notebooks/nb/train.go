package nb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
// method is a name of config.Methods, STRATEGY+OBJECTIVE, or the preset ledg. By default runs
// use glyphs with the target photo, 5% of the labels and seed 1.
//
// While it trains it shows its progress, then the loss and the accuracies; [LearningCurves] shows a finished
// run. A run whose labels people give (exploration.oracle = ask) ends and says how many labels it awaits.
// The same call resumes it.
func Train(name, method string, change ...func(*Run)) (dir string) {
	return (&bar{runs: 1}).train(name, method, change...)
}

// train is [Train] in a bar.
func (b *bar) train(name, method string, change ...func(*Run)) (dir string) {
	defer func() { b.finished++ }()
	r := newRun(method, change...)
	c := Config(r.Spec)
	run, dir := findRun(name, c, r.Root)
	if dir != "" {
		return dir
	}
	o := ceg.Options{Dir: filepath.Join(Dir(name), run), Root: r.Root}
	words := model.WeightArgs{Weights: cmp.Or(config.NetworkFile(r.Set), specified(r.Weights, r.Set["network.weights"])), Style: specified(r.StyleWeights, r.Set["generalization.style_weights"])}
	err := b.run(c, o, words)
	if awaiting := new(ceg.ErrAwaitingLabels); errors.As(err, &awaiting) {
		b.text(awaiting.Error())
		return o.Dir
	}
	Check(err)
	if b.runs < 2 {
		b.end(o.Dir)
	}
	return o.Dir
}

// run trains a run, or resumes it.
func (b *bar) run(c config.Config, o ceg.Options, words model.WeightArgs) (err error) {
	ctx := context.Background()
	o.Resume, o.Observe = true, b.observe
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
	id := Must(examples.Identify(context.Background(), c.Data, "", result.Place{Root: root}))
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

// newRun returns the run of a method or preset with changes.
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
	return r
}

// dataset is the run's data set.
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

// trainArms trains arms with the seeds 1 to n, in quick mode to 3 at most, with one progress bar.
func trainArms(n int, name string, arms ...arm) (dirs []string) {
	if IsQuick() {
		n = min(n, 3)
	}
	b := &bar{runs: len(arms) * n}
	for _, a := range arms {
		for seed := range uint64(n) {
			dirs = append(dirs, b.train(name, a.method, append(slices.Clone(a.change), func(r *Run) { r.Seed = seed + 1 })...))
		}
	}
	if b.id != "" && b.runs > 1 {
		b.text(fmt.Sprintf("%d runs are finished", b.runs))
	}
	return dirs
}

// Seeds calls [Train] for the seeds 1 to n, with one progress bar; in quick mode, to 3 at most.
func Seeds(n int, name, method string, change ...func(*Run)) (dirs []string) {
	return trainArms(n, name, arm{method, change})
}

// Sweep calls [Seeds] for each value of a setting, the baseline of differences first, and plots the target accuracy at the last
// epoch. It returns the folders of all runs.
func Sweep(name, method, setting string, values []float64, seeds int, change ...func(*Run)) (dirs []string) {
	var arms []arm
	for _, v := range values {
		arms = append(arms, arm{method, append(slices.Clone(change), Set(setting, v))})
	}
	dirs = trainArms(seeds, name, arms...)
	Show(sweepFigure(method, setting, values, dirs))
	return dirs
}

// storedRuns is the folder of the committed records of notebooks' runs, relative to a notebook's
// folder. A run with records there is not trained again.
var storedRuns = filepath.Join("results", "notebooks")

// labelOf is what a run is called where it stands alone.
func labelOf(r *result.Run) string {
	return fmt.Sprintf("%s, target %s, seed %d", r.Config.Arm().Name(), r.Config.Data.Target, r.Config.Seed)
}
