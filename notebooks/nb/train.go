package nb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/checkpoint"
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
// It shows the learning curves, for a finished run once in a session. A run whose labels people give
// (exploration.oracle = ask) ends and says how many labels it awaits. The same call resumes it.
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
		if b.runs < 2 && filepath.Dir(dir) != storedRuns && !shown[dir] && firstSeen(dir) {
			b.end(dir)
		}
		shown[dir] = true
		return dir
	}
	o := ceg.Options{Dir: filepath.Join(Dir(name), run), Root: r.Root, Resume: true, Observe: b.observe()}
	words := model.WeightArgs{Weights: cmp.Or(config.NetworkFile(r.Set), specified(r.Weights, r.Set["network.weights"])), Style: specified(r.StyleWeights, r.Set["generalization.style_weights"])}
	b.history = nil
	if begun, err := result.OpenRun(o.Dir); err == nil {
		b.history = newHistory(c.Schedule.Epochs, begun.Records)
	}
	var err error
	if o.Weights, o.Style, err = model.OpenWeights(context.Background(), &c, words, checkpoint.Exists(o.Dir), nil); err == nil {
		_, err = ceg.Run(context.Background(), c, o)
	}
	if awaiting := new(ceg.ErrAwaitingLabels); errors.As(err, &awaiting) {
		if text := awaiting.Error(); firstSeen(o.Dir + text) {
			b.html("<p>" + html.EscapeString(text) + "</p>")
		}
		return o.Dir
	}
	Check(err)
	firstSeen(o.Dir)
	shown[o.Dir] = true
	if b.runs < 2 {
		b.end(o.Dir)
	}
	return o.Dir
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

// shown are the runs that this cell, a program of its own, has shown already.
var shown = map[string]bool{}

// firstSeen tells whether no other cell of this session has shown a run.
func firstSeen(dir string) bool {
	session := os.Getenv(protocol.GONB_TMP_DIR_ENV)
	program, err := os.ReadFile(filepath.Join(session, "main.go"))
	if session == "" || err != nil {
		return true
	}
	_, cell, _ := strings.Cut(string(program), "\nfunc main() {") // without what other cells have declared
	cell, _, _ = strings.Cut(cell, "\n}\n")
	file := filepath.Join(session, fmt.Sprintf("shown-%x", sha256.Sum256([]byte(dir))))
	shown, err := os.ReadFile(file)
	if err != nil {
		return os.WriteFile(file, []byte(cell), 0o600) == nil
	}
	return string(shown) == cell
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
		b.html(fmt.Sprintf("<p>%d runs are finished</p>", b.runs))
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

// end replaces the bar by the result of a run.
func (b *bar) end(dir string) {
	run := Must(result.OpenRun(dir))
	text := fmt.Sprintf("%d labels", run.Result.Labels)
	if last := run.Result.Accuracy.LastEpoch; run.Result.Accuracy.Measured() {
		text += fmt.Sprintf(", %.1f%% on the target after %d epochs", 100*last.TargetAccuracy, run.Result.Epochs)
	}
	h := newHistory(run.Result.Epochs, run.Records)
	h.Title, h.Chance = labelOf(run), report.Chance(run.Config.Data.Dataset, run)
	b.still(h, text)
}
