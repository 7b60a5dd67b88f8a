package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/result"
)

// Run is Algorithm 1 of Yuan et al. 2022: it labels part of the budget at random, trains, and
// alternates between querying labels (exploration) and training with them (generalization). Only
// the evaluator reads the target domain.
//
// Every epoch ends with a record and a checkpoint in the run's folder. A run that was
// interrupted at any moment and is resumed with Options.Resume ends with the same bytes, except
// times (package engine names the platforms). The images may have moved in between; different
// images are an error. When ctx is cancelled, Run stops at the next step and returns its cause.
//
// A run with human annotators returns an *ErrAwaitingLabels after it has written its queries,
// unless Options.Wait is set.
func Run(ctx context.Context, c Config, o Options) (*result.Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	for {
		res, err := runOn(ctx, c, o)
		var awaiting *ErrAwaitingLabels
		if !o.Wait || !errors.As(err, &awaiting) {
			return res, err
		}
		newReporter(o.Observe, c.Schedule.Epochs).say("%v", awaiting)
		if o.Ready != nil { // a resumed run is not opened before its labels are there
			o.Ready()
		}
		if err := awaitLabels(ctx, o.Dir); err != nil {
			return nil, err
		}
		o.Resume = true
	}
}

// runOn runs until the end, or until labels are missing.
func runOn(ctx context.Context, c Config, o Options) (*result.Result, error) {
	r, err := newRun(ctx, c, o)
	if errors.Is(err, result.ErrFinished) && o.Resume {
		return finished(ctx, c, o)
	}
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.start(ctx, o); err != nil {
		return nil, err
	}
	for r.epoch < c.Schedule.Epochs {
		err := r.oneEpoch(ctx)
		if awaiting := (*ErrAwaitingLabels)(nil); errors.As(err, &awaiting) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", r.epoch, err)
		}
	}
	if err := r.writeArtifact(ctx, o); err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// start brings the run into the state of its checkpoint. Without one it labels the
// initial examples and saves the first.
func (r *run) start(ctx context.Context, o Options) error {
	saved, ok, err := r.load()
	if err != nil {
		return err
	}
	if err := r.computeViews(ctx, o); err != nil {
		return err
	}
	if ok {
		if err := r.restore(r.folder.File(checkpoint.File), saved); err != nil {
			return err
		}
		r.reporter.say("resumed after %d of %d epochs", r.epoch, r.c.Schedule.Epochs)
	} else {
		queries, err := r.explorer.labelInitial(ctx)
		if err != nil {
			return err
		}
		if err := r.folder.AppendQueries(queries); err != nil {
			return err
		}
		if err := r.save(); err != nil {
			return err
		}
	}
	compile, err := r.trainer.Compile(r.epoch)
	r.timing.Compile = compile.Seconds()
	return err
}

// oneEpoch trains one epoch and evaluates, unless that was done before its queries were
// labelled. It then queries labels if due, selects the reliable set, and records all of it.
func (r *run) oneEpoch(ctx context.Context) error {
	var rec result.Record
	var came []result.Query
	var err error
	if r.pending == nil {
		rec, came, err = r.generalize(ctx)
	} else {
		rec = *r.pending
		came, err = r.sync()
	}
	if err != nil {
		return err
	}

	start := time.Now()
	queries, reliable, err := r.explorer.explore(ctx, r.epoch)
	rec.Time.Query += time.Since(start).Seconds()
	rec.Time.Seconds += time.Since(start).Seconds()
	var awaiting *ErrAwaitingLabels
	if errors.As(err, &awaiting) {
		if err := r.suspend(rec, came); err != nil {
			return err
		}
		return awaiting
	}
	if err != nil {
		return err
	}
	rec.Queried = len(queries)

	if err := r.folder.AppendRecord(rec); err != nil {
		return err
	}
	if err := r.folder.AppendQueries(append(came, queries...)); err != nil {
		return err
	}
	if r.epoch+1 < r.c.Schedule.Epochs { // else there is none
		r.reliable = reliable
	}
	r.epoch++
	r.steps, r.pending = rec.StepsTotal, nil
	if err := r.save(); err != nil {
		return err
	}
	r.tellDone(rec)
	return nil
}

// suspend saves the run after an epoch that waits for labels, with the labels that arrived
// before it.
func (r *run) suspend(rec result.Record, came []result.Query) error {
	if err := r.folder.AppendQueries(came); err != nil {
		return err
	}
	r.pending = &rec
	return r.save()
}

// changes describes changes of labels: how many arrived, the net increase, and how many images
// were marked bad or no longer are.
func changes(came, more, bad, all int) string {
	var list []string
	for _, c := range []struct {
		n    int
		what string
	}{{came, "new"}, {came - more, "withdrawn"}, {more - came, "known already"}, {bad, "marked bad"}, {-bad, "no longer bad"}} {
		if c.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return fmt.Sprintf("labels changed: %s; there are %d labels now", strings.Join(list, ", "), all)
}

// sync reads labels that arrived since, for the next record.
func (r *run) sync() (came []result.Query, err error) {
	labels, gone := r.campaign.LabelledCount(), r.campaign.GoneCount()
	came, err = r.campaign.Sync()
	changed := r.campaign.LabelledCount() - labels
	r.changed += changed
	gone = r.campaign.GoneCount() - gone
	if len(came) == 0 && changed == 0 && gone == 0 {
		return came, err
	}
	r.reporter.say("%s", changes(len(came), changed, gone, r.campaign.LabelledCount()))
	// Images that were unlabelled when the reliable set was chosen may be labelled now.
	reliable := r.reliable.examples[:0:0]
	var pseudo []int
	for i, x := range r.reliable.examples {
		id := r.campaign.Data.Examples[x].ID
		if _, labelled := r.campaign.Label(id); !labelled && !r.campaign.IsGone(id) {
			reliable, pseudo = append(reliable, x), append(pseudo, r.reliable.labels[i])
		}
	}
	if len(reliable) < len(r.reliable.examples) {
		r.reliable = reliableSet{reliable, pseudo}
	}
	return came, err
}

// generalize trains one epoch, evaluates, and returns its record, with labels that were added
// without a query.
func (r *run) generalize(ctx context.Context) (rec result.Record, came []result.Query, err error) {
	start := time.Now()
	if came, err = r.sync(); err != nil {
		return rec, nil, err
	}
	if err := r.campaign.Another(); err != nil { // withdrawn; the checkpoint knows nothing of it yet
		return rec, nil, err
	}
	rec = result.Record{Epoch: r.epoch, Labels: r.campaign.LabelledCount(), Changed: r.changed,
		LearningRate: r.trainer.Rates(r.epoch), Accuracy: []result.Accuracy{}}
	r.changed = 0
	pools := batches(r.campaign, r.trainer.Objective, r.reliable)
	if len(pools.Reliable.Views) > 0 {
		rec.Reliable = r.evaluator.Reliable(r.reliable.examples, r.reliable.labels)
	}
	e := &r.reporter.last
	e.Epoch, e.Labelled = r.epoch, rec.Labels
	sum, err := r.trainer.Epoch(ctx, r.epoch, r.steps, pools, func(s trainer.Step) {
		r.evaluator.PseudoLabels(&rec.PseudoLabel, s.Unlabelled, s.Labels, s.Sure)
		e.Step, e.Steps, e.Loss = s.Number, s.Of, s.Loss
		r.reporter.tell()
	})
	if err != nil {
		return rec, nil, err
	}
	rec.Steps, rec.StepsTotal = sum.Steps, r.steps+sum.Steps
	rec.Loss = sum.Terms
	for i := range rec.Loss {
		rec.Loss[i].Value *= 1 / float64(sum.Steps)
	}
	e.Loss = sum.Loss / float64(sum.Steps)
	rec.Time.Train = time.Since(start).Seconds()
	rec.Time.Wait = sum.Wait.Seconds()

	t := time.Now()
	if r.c.Generalization.Average == config.Three {
		if err := r.trainer.MixThree(ctx, func(ctx context.Context) (result.Tally, error) { return r.evaluator.Validation(ctx, r.classify) }); err != nil {
			return rec, nil, err
		}
	}
	if r.c.Schedule.Evaluates(r.epoch) {
		list, err := r.evaluator.Accuracies(ctx, r.classify, r.epoch+1 == r.c.Schedule.Epochs)
		if err != nil {
			return rec, nil, fmt.Errorf("evaluation: %w", err)
		}
		rec.Accuracy = append(rec.Accuracy, list...)
	}
	rec.Time.Eval = time.Since(t).Seconds()
	rec.Time.Seconds = time.Since(start).Seconds()
	return rec, came, nil
}

// classify asks the networks for class logits.
func (r *run) classify(ctx context.Context, list []int, fn func(n int, logits []float32)) error {
	return r.trainer.Each(ctx, list, func(n int, out learner.Prediction) { fn(n, out.ClassLogits) })
}

// tellDone tells that an epoch is complete.
func (r *run) tellDone(rec result.Record) {
	e := &r.reporter.last
	if rec.Evaluated() {
		e.TargetAcc, e.ValAcc = share(rec.Target()), share(rec.SourceVal())
	}
	e.Done = true
	r.reporter.tell()
	e.Done = false
}

// share is a tally's, NaN for an empty one.
func share(t result.Tally) float64 {
	if t.Total == 0 {
		return math.NaN()
	}
	return t.Share()
}

// none lists the images of the pool that have left it because they show none of the classes.
func (r *run) none() []string {
	return slices.DeleteFunc(r.campaign.None(), func(id string) bool { return !r.campaign.IsGone(id) })
}

func (r *run) finish(ctx context.Context) (*result.Result, error) {
	records, err := r.folder.Records()
	if err != nil {
		return nil, err
	}
	choices, err := result.Choose(records)
	if err != nil {
		return nil, err
	}
	names, err := r.namesAlone(ctx)
	if err != nil {
		return nil, err
	}
	res := result.Result{
		Names:  names,
		Format: result.Format, Method: r.c.Method, Dataset: r.c.Data.Dataset, Target: r.c.Data.Target,
		Preset: string(r.c.Preset), Seed: r.c.Seed, Epochs: len(records),
		Pool: r.campaign.Len(), Budget: r.campaign.Budget, Labels: r.campaign.LabelledCount(),
		Unqueried: r.campaign.Unqueried, Withdrawn: r.campaign.Withdrawn, Bad: r.campaign.GoneCount() - len(r.none()), None: r.none(), Unsure: r.campaign.Unsure(),
		Groups: r.campaign.GroupCounts(), LeftOut: len(r.leftOut(nil)),
		Classes: r.campaign.Data.Classes, ValLabels: r.evaluator.ValLabels(), ValInBudget: false,
		Images: r.examples.Digest, Accuracy: choices, Versions: trainer.Versions(r.trainer.Backend), Engines: r.engines,
		Timing: r.timed(records),
	}
	if !choices.Measured() {
		res.Note = "no label of the target domain " + res.Target + " is known, so there is nothing to measure with"
		if res.Target == config.NoTarget {
			res.Note = result.WithoutTarget
		}
		if records[len(records)-1].HeldOut().Total > 0 {
			res.Note = "the test images are of the domains of training: there are no labels of a target domain"
		}
	}
	if err := r.folder.Finish(res); err != nil {
		return nil, err
	}
	return &res, nil
}
