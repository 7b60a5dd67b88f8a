package ceg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// newRun opens everything that a run needs and puts it into the state of its
// checkpoint, or into the first one.
func newRun(ctx context.Context, c Config, o Options) (_ *run, err error) {
	r := &run{c: c, o: o}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if err := r.openData(); err != nil {
		return nil, err
	}
	r.last = Event{Epochs: c.Schedule.Epochs, TargetAcc: math.NaN(), ValAcc: math.NaN()}
	var notes []string // said once nothing is in the way of the run
	if finished := o.Resume && result.Finished(os.DirFS(o.Dir)); !finished {
		if err := r.openBackend(); err != nil {
			return nil, err
		}
		if err := r.openLearner(); err != nil {
			return nil, err
		}
		if notes, err = r.loadWeights(); err != nil {
			return nil, err
		}
	}
	// What can be wrong with the config is known from here on: only now touch
	// the directory.
	if r.dir, err = openDir(c, o); err != nil {
		if errors.Is(err, result.ErrFinished) && o.Resume {
			res, err := result.ReadResult(os.DirFS(o.Dir), result.ResultFile)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.Dir, err)
			}
			r.finished = &res
			return r, CheckImages(ctx, o)
		}
		return nil, err
	}

	r.introduce()
	for _, note := range notes {
		r.say("%s", note)
	}
	if err := r.openImages(ctx); err != nil {
		return nil, err
	}
	compile, err := r.learner.Compile(evalBatch, r.stages()...)
	if err != nil {
		return nil, err
	}
	r.timing.Compile = compile.Seconds()

	if err := r.restore(ctx); err != nil {
		return nil, err
	}
	return r, r.remember()
}

// openImages decodes and caches the images of the data set, and makes the loader,
// which reads them.
func (r *run) openImages(ctx context.Context) (err error) {
	start := time.Now()
	if r.images, err = datasets.Prepare(ctx, r.data, r.c.Data.ImageSize, r.o.CacheDir, r.progress("preparing images")); err != nil {
		return err
	}
	r.timing.Prepare = time.Since(start).Seconds()
	var names []string
	for _, d := range r.sources {
		names = append(names, r.data.Domains[d])
	}
	r.loader, err = feed.New(feed.Pixels(r.images), feed.Config{Seed: r.c.Seed, Domains: names, Batch: r.c.Schedule.PerDomain, Workers: r.o.Workers})
	if err != nil {
		return err
	}
	return nil
}

// stages lists the stages of training that a run goes through.
func (r *run) stages() []learner.Stage {
	var list []learner.Stage
	for epoch := range r.c.Schedule.Epochs {
		phase := 0
		if r.objective.Phase != nil {
			phase = r.objective.Phase(epoch)
		}
		stage := learner.Stage{Phase: phase, Reliable: epoch > 0 && r.mixes()}
		if !slices.Contains(list, stage) {
			list = append(list, stage)
		}
	}
	return list
}

// openBackend opens what computes.
func (r *run) openBackend() (err error) {
	r.backend, err = r.c.Network.Precision.Open(r.o.Backend)
	return err
}

// introduce says what computes, and that a strategy has nothing to choose.
func (r *run) introduce() {
	if x := r.c.Exploration; len(r.rounds) == 0 && x.Strategy != (active.Uniform{}).Name() {
		r.say("all labels are given at random before training, so %s chooses none; with the timing published or early it does", x.Strategy)
	}
	r.say("%s", r.backend.Description)
	if r.backend.Notice != "" {
		r.say("%s", r.backend.Notice)
	}
}

// openLearner makes a learner on the open backend.
func (r *run) openLearner() error {
	options, err := r.c.LearnerOptions(len(r.data.Classes), len(r.sources))
	if err != nil {
		return err
	}
	if r.learner, err = learner.New(r.backend, options, r.c.Seed); err != nil {
		return err
	}
	r.look = func(ctx context.Context, examples []int) (predictions, error) {
		return predict(ctx, r.learner, r.images, examples, len(r.data.Classes), len(r.sources))
	}
	return nil
}

// loadWeights gives the backbone the weights that the config names, and returns
// what is to be said of them. A run that has a checkpoint has them there.
func (r *run) loadWeights() (notes []string, err error) {
	w := r.c.Network.Weights
	if w == nil {
		return nil, nil
	}
	if w.File == nil {
		if _, err := os.Stat(filepath.Join(r.o.Dir, CheckpointFile)); err == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("the weights %s are not loaded: open them with pretrained.Open", w)
	}
	report, err := r.learner.Load(w.File.Tensors)
	if err != nil {
		return nil, fmt.Errorf("weights %s: %w", w, err)
	}
	notes = append(notes, fmt.Sprintf("weights %s: %d tensors", w, report.Loaded))
	if report.HeadLoaded {
		notes = append(notes, "weights: the classifier head too, which has as many classes")
	}
	for _, note := range slices.Concat(w.File.Notes, report.Notes) {
		notes = append(notes, "weights: "+note)
	}
	return notes, nil
}

// openData opens the data set, makes those who know its classes, finds sources and
// target, resolves the budget and makes the strategy.
func (r *run) openData() error {
	data, truth, err := r.c.Data.open(r.o)
	if err != nil {
		return err
	}
	return r.setData(data, truth)
}

// setData is openData of a data set that is open.
func (r *run) setData(data *datasets.Dataset, truth datasets.Truth) error {
	c := r.c
	r.objective = c.Objective()
	target, err := data.Domain(c.Data.Target)
	if err != nil {
		return &SettingError{"target", err}
	}
	r.evaluate = evaluator{data, truth, target}
	r.oracle = active.Simulated(func(id string) int {
		i, ok := data.Index(id)
		if !ok {
			return -1
		}
		return truth.Class(i)
	})
	r.data, r.source = data, map[int]int{}
	for d := range data.Domains {
		if d != target {
			r.source[d] = len(r.sources)
			r.sources = append(r.sources, d)
		}
	}
	if len(r.sources) == 0 {
		return &SettingError{"target", fmt.Errorf("data set %s has the domain %s alone: nothing to train on", data.Name, c.Data.Target)}
	}
	var ids []string
	var domains []int
	for i, e := range data.Examples {
		if k, ok := r.source[e.Domain]; ok && e.Split == datasets.Train {
			ids, domains, r.places = append(ids, e.ID), append(domains, k), append(r.places, i)
		}
	}
	if r.pool, err = active.NewPool(ids, domains, len(r.sources), len(data.Classes)); err != nil {
		return err
	}
	if err := r.divideBudget(); err != nil {
		return &SettingError{"budget", err}
	}
	r.strategy, err = c.Exploration.strategy(c.Seed)
	return err
}

// divideBudget resolves the budget into initial labels and rounds of queries.
func (r *run) divideBudget() error {
	x := r.c.Exploration
	budget, err := active.ParseBudget(x.Budget)
	if err != nil {
		return err
	}
	if r.budget, err = budget.Labels(r.pool.Len()); err != nil {
		return err
	}
	if r.initial, r.rounds, err = r.c.divide(r.budget); err != nil {
		return err
	}
	if r.initial < len(r.sources) {
		return fmt.Errorf("budget %s of %d images leaves %d initial labels for %d source domains, and every domain needs one",
			x.Budget, r.pool.Len(), r.initial, len(r.sources))
	}
	if r.budget == r.pool.Len() && (r.objective.Uses(objective.Unlabelled) || r.mixes()) {
		return fmt.Errorf("budget %s labels all %d images and leaves nothing for the losses on unlabelled ones; use a method that ends in -ce",
			x.Budget, r.pool.Len())
	}
	return nil
}

// openDir makes or takes over the run's directory.
func openDir(c Config, o Options) (*result.Dir, error) {
	if o.Resume {
		return result.Resume(o.Dir, c)
	}
	return result.Create(o.Dir, c)
}

// progress returns a callback that reports a share of work now and then.
func (r *run) progress(what string) func(done, total int) {
	var last time.Time
	return func(done, total int) {
		if done == total || time.Since(last) > 2*time.Second {
			last = time.Now()
			r.say("%s: %d of %d", what, done, total)
		}
	}
}

// close releases what newRun has opened.
func (r *run) close() {
	if r.images != nil {
		r.images.Close()
	}
	if r.dir != nil {
		r.dir.Close()
	}
	if r.learner != nil {
		r.learner.Close()
	}
	r.backend.Close()
}

// restore brings the run into the state of its checkpoint. Without one it labels
// the initial examples and saves the first.
func (r *run) restore(ctx context.Context) error {
	c, state, ok, err := readCheckpoint(r.dir.File(CheckpointFile), r.learner.Params())
	if err == nil && !ok {
		if err = r.takeBeginning(); err == nil {
			c, state, ok, err = readCheckpoint(r.dir.File(CheckpointFile), r.learner.Params())
		}
	}
	if err != nil {
		return err
	}
	if err := r.dir.Truncate(c.Written); err != nil {
		return err
	}
	if !ok {
		r.engines = []result.Engine{r.engine()}
		queries, err := r.labelInitial(ctx)
		if err != nil {
			return err
		}
		if err := r.dir.AppendQueries(queries); err != nil {
			return err
		}
		return r.save()
	}
	if err := r.learner.SetState(state); err != nil {
		return fmt.Errorf("%s: %w", r.dir.File(CheckpointFile), err)
	}
	if err := r.restorePool(c); err != nil {
		return err
	}
	r.epoch, r.steps, r.round = c.Epoch, c.Steps, c.Round
	r.addEngine(c.Engines)
	for i, at := range c.Reliable {
		if at < 0 || int(at) >= len(r.places) {
			return fmt.Errorf("%s: the reliable set has image %d of %d", r.dir.File(CheckpointFile), at, len(r.places))
		}
		r.reliable.examples = append(r.reliable.examples, r.places[at])
		r.reliable.labels = append(r.reliable.labels, int(c.ReliableLabels[i]))
	}
	r.say("resumed after %d of %d epochs", r.epoch, r.c.Schedule.Epochs)
	return nil
}

// restorePool gives the pool, which has no labels, those of a checkpoint. It
// returns an error if that is of other images.
func (r *run) restorePool(c checkpoint) error {
	path := filepath.Join(r.o.Dir, CheckpointFile)
	err := r.pool.Restore(c.Pool)
	var other *active.OtherSamplesError
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("%s: the run began with other source training images than data set %s has now (%d then, %d now): %s",
			path, r.data.Name, other.Then, other.Now, other.Change)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	return sameImages(path, c.Images, r.images)
}

// save writes the checkpoint.
func (r *run) save() error {
	written, err := r.dir.Lengths()
	if err != nil {
		return err
	}
	state, err := r.learner.State()
	if err != nil {
		return err
	}
	c := r.checkpoint()
	c.Images, c.Written = r.images.Digest(), written
	return r.dir.WriteFile(CheckpointFile, func(w io.Writer) error { return c.write(w, r.learner.Params(), state) })
}

// checkpoint returns the state of the run that is not in its files.
func (r *run) checkpoint() checkpoint {
	c := checkpoint{
		Format: checkpointFormat, Epoch: r.epoch, Steps: r.steps, Round: r.round,
		Pool: r.pool.Snapshot(), Engines: r.engines,
	}
	for i, x := range r.reliable.examples {
		at, _ := slices.BinarySearch(r.places, x) // it is of the pool
		c.Reliable, c.ReliableLabels = append(c.Reliable, int32(at)), append(c.ReliableLabels, int32(r.reliable.labels[i]))
	}
	return c
}

// engine describes what computes from the present epoch on.
func (r *run) engine() result.Engine {
	s := r.backend.Settings
	plugin := s.Plugin
	if plugin != "" {
		plugin = filepath.Base(plugin) // its folder is this machine's affair
	}
	return result.Engine{
		FromEpoch: r.epoch, Backend: s.Backend, TF32: s.TF32,
		Plugin: plugin, PluginAPI: s.PluginAPI, PluginSHA256: s.PluginSHA256, XLAFlags: s.XLAFlags,
	}
}

// addEngine adds the present engine to those that have computed the run so far,
// unless it is the last of them.
func (r *run) addEngine(before []result.Engine) {
	r.engines = before
	now := r.engine()
	if n := len(before); n > 0 {
		last := before[n-1]
		last.FromEpoch = now.FromEpoch
		if last == now {
			return
		}
		r.say("the epochs before were computed by %s with tf32=%v, these are by %s with tf32=%v",
			last.Backend, last.TF32, now.Backend, now.TF32)
	}
	r.engines = append(r.engines, now)
}

// versions names the code that runs.
func (r *run) versions() result.Versions {
	v := result.Versions{Backend: r.backend.Name}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go, v.Ledg = info.GoVersion, info.Main.Version
	for _, d := range info.Deps {
		switch d.Path {
		case "github.com/gomlx/gomlx":
			v.GoMLX = d.Version
		case "github.com/gomlx/compute":
			v.Compute = d.Version
		}
	}
	return v
}
