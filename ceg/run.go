package ceg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// Options say where and how a run happens. They do not change its result.
type Options struct {
	// Dir is the run's directory.
	Dir string
	// Resume continues an unfinished run in Dir, and returns the result of a
	// finished one. Without it a Dir that is not empty is an error.
	Resume bool
	// Root is the folder of the images, which glyphs do not have, and SplitsDir that
	// of the PACS lists; empty looks in and beside Root. Without a Root the images
	// are where the run in Dir last found them.
	Root, SplitsDir string
	// Backend is what engine.Open takes; empty chooses.
	Backend string
	// CacheDir holds decoded images; empty means datasets' default.
	CacheDir string
	// Workers is the number of goroutines that make views; zero means GOMAXPROCS.
	Workers int
	// Beginnings is a folder in which runs share what they have in common: runs
	// that differ in nothing but how they choose what to ask are the same until
	// they ask for the first time, so the first one leaves its state there and the
	// others go on from it, to the same bytes. Only the same executable on the same
	// engine shares: its settings (TF32, XLA_FLAGS), its plugin and its device count.
	// Their times hold those of the shared epochs as the first run took them. Empty
	// shares nothing.
	Beginnings string
	// Observe is called with the run's progress; nil for nobody. It must return
	// quickly.
	Observe func(Event)
}

// Run is Algorithm 1 of Yuan et al. 2022: it labels part of the budget at
// random, trains, and alternates between asking for labels (exploration) and
// training with them (generalization). The target domain is seen by the
// evaluator alone.
//
// Every epoch ends with a record and a checkpoint in the run's directory. A run
// that is stopped, in any way and at any moment, and then started again with
// Options.Resume ends with the same result, to the byte on the Go backend, times
// apart. The images may be elsewhere meanwhile; if they are others, it is an
// error. When ctx is cancelled, Run stops at the next step and returns its cause.
func Run(ctx context.Context, c Config, o Options) (*result.Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r, err := newRun(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if r.finished != nil {
		return r.finished, nil
	}
	for r.epoch < c.Schedule.Epochs {
		if err := r.oneEpoch(ctx); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// run is the state of a run.
type run struct {
	c        Config
	o        Options
	dir      *result.Dir
	backend  engine.Backend
	data     *datasets.Dataset
	images   *datasets.Images
	learner  *learner.Learner
	loader   *feed.Loader
	oracle   active.Oracle
	evaluate evaluator
	strategy active.Strategy
	// objective is what the networks are trained for.
	objective objective.Objective
	// look asks the networks about examples of the data set.
	look func(ctx context.Context, examples []int) (predictions, error)

	sources []int       // the source domains, as numbers of the data set
	source  map[int]int // and their positions in it
	pool    *active.Pool
	places  []int // the data set's indices of the pool's images, in its order
	// budget is the number of labels to spend, initial the part of it before
	// training.
	budget, initial int
	// rounds has the number of labels for each query epoch.
	rounds []int

	// The state between epochs; see checkpoint.
	epoch, steps, round int
	reliable            reliableSet
	engines             []result.Engine

	finished *result.Result
	timing   result.Timing
	last     Event
}

// reliableSet holds examples and their pseudo-labels.
type reliableSet struct{ examples, labels []int }

// oneEpoch trains one epoch, evaluates, asks for labels if it is time to,
// rebuilds the reliable set, and records all of it.
func (r *run) oneEpoch(ctx context.Context) error {
	start := time.Now()
	rec := result.Record{Epoch: r.epoch, Labels: r.pool.LabelledCount()}
	rates := r.c.rates(r.epoch)
	rec.LearningRate = result.LearningRates(rates)
	if err := r.train(ctx, rates, &rec); err != nil {
		return fmt.Errorf("epoch %d: %w", r.epoch, err)
	}

	t := time.Now()
	var err error
	rec.Accuracy = []result.Accuracy{}
	if r.c.Schedule.evaluates(r.epoch) {
		if rec.Accuracy, err = r.evaluate.accuracies(ctx, r.learner, r.images); err != nil {
			return fmt.Errorf("epoch %d: evaluation: %w", r.epoch, err)
		}
	}
	rec.Time.Eval = time.Since(t).Seconds()

	t = time.Now()
	queries, err := r.explore(ctx)
	if err != nil {
		return fmt.Errorf("epoch %d: %w", r.epoch, err)
	}
	rec.Queried = len(queries)
	rec.Time.Query = time.Since(t).Seconds()
	rec.Time.Seconds = time.Since(start).Seconds()

	if err := r.dir.AppendRecord(rec); err != nil {
		return err
	}
	if err := r.dir.AppendQueries(queries); err != nil {
		return err
	}
	r.epoch++
	r.steps = rec.StepsTotal
	if err := r.save(); err != nil {
		return err
	}
	if err := r.leaveBeginning(); err != nil {
		return err
	}
	r.last.Done = true
	if rec.Evaluated() {
		r.last.TargetAcc, r.last.ValAcc = rec.Target().Share(), math.NaN()
		if v := rec.SourceVal(); v.Total > 0 {
			r.last.ValAcc = v.Share()
		}
	}
	r.observe()
	r.last.Done = false
	return nil
}

// evaluates reports whether the networks are evaluated after an epoch.
func (s Schedule) evaluates(epoch int) bool {
	return epoch+1 == s.Epochs || (epoch+1)%max(s.EvaluateEvery, 1) == 0
}

// train runs one epoch of training steps.
func (r *run) train(ctx context.Context, rates learner.Rates, rec *result.Record) error {
	start := time.Now()
	pools := r.pools()
	if len(pools.Reliable.Views) > 0 {
		rec.Reliable = r.evaluate.reliable(r.reliable.examples, r.reliable.labels)
	}
	batches, steps, err := r.upload(ctx, pools)
	if err != nil {
		return err
	}
	defer batches.close()
	r.last.Epoch, r.last.Steps, r.last.Labelled = r.epoch, steps, rec.Labels
	var loss float64
	for {
		b, err := batches.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		now := learner.Now{Rates: rates, Epoch: r.epoch, Steps: r.steps + rec.Steps,
			Progress: (float64(r.epoch) + float64(rec.Steps)/float64(steps)) / float64(r.c.Schedule.Epochs)}
		out, err := r.learner.StepOn(b.inputs, now)
		b.free()
		if err != nil {
			return err
		}
		terms, err := out.Terms()
		if err != nil {
			return fmt.Errorf("step %d: %w", b.iteration+1, err)
		}
		labels, sure, err := out.PseudoLabels()
		if err != nil {
			return err
		}
		if labels != nil {
			r.evaluate.pseudoLabels(&rec.PseudoLabel, b.unlabelled, labels, sure)
		}
		rec.Loss = addTerms(rec.Loss, terms)
		loss += out.Loss(terms)
		rec.Steps++
		r.last.Step, r.last.Loss = rec.Steps, out.Loss(terms)
		r.observe()
	}
	rec.StepsTotal = r.steps + rec.Steps
	for i := range rec.Loss {
		rec.Loss[i].Value *= 1 / float64(rec.Steps)
	}
	r.last.Loss = loss / float64(rec.Steps)
	rec.Time.Train = time.Since(start).Seconds()
	rec.Time.Wait = batches.wait.Seconds()
	return nil
}

// addTerms adds loss terms to sums of the same ones.
func addTerms(sums result.Losses, terms []learner.Term) result.Losses {
	for i, t := range terms {
		if i == len(sums) {
			sums = append(sums, result.Term{Name: t.Name})
		}
		sums[i].Value += t.Value
	}
	return sums
}

func (r *run) observe() {
	if r.o.Observe != nil {
		r.o.Observe(r.last)
	}
}

// say sends a line to the observer.
func (r *run) say(format string, args ...any) {
	if r.o.Observe != nil {
		e := r.last
		e.Message = fmt.Sprintf(format, args...)
		r.o.Observe(e)
	}
}

// finish writes the result.
func (r *run) finish() (*result.Result, error) {
	records, err := r.dir.Records()
	if err != nil {
		return nil, err
	}
	choices, err := result.Choose(records)
	if err != nil {
		return nil, err
	}
	r.timing.AddRecords(records)
	r.timing.PeakMemoryBytes = learner.PeakMemory()
	res := result.Result{
		Format: result.Format, Method: r.c.Method, Dataset: r.c.Data.Dataset, Target: r.c.Data.Target,
		Preset: string(r.c.Preset), Seed: r.c.Seed, Epochs: len(records),
		Pool: r.pool.Len(), Budget: r.budget, Labels: r.pool.LabelledCount(),
		ValLabels: r.valLabels(), ValInBudget: false,
		Images: r.images.Digest(), Accuracy: choices, Versions: r.versions(), Engines: r.engines, Timing: r.timing,
	}
	if err := r.dir.Finish(res); err != nil {
		return nil, err
	}
	return &res, nil
}

func (r *run) valLabels() int {
	n := 0
	for _, e := range r.data.Examples {
		if _, ok := r.source[e.Domain]; ok && e.Split == datasets.Val {
			n++
		}
	}
	return n
}
