// Package trainer trains the networks of a run epoch by epoch and predicts with them. It takes
// the subsets of an epoch from its caller; queries and evaluation are elsewhere.
package trainer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
)

// Trainer holds the networks, their backend and the objective.
type Trainer struct {
	Backend   engine.Backend
	Learner   *learner.Learner
	Objective objective.Objective
	// Classes and Domains are the numbers of outputs of the class and the domain head.
	Classes, Domains int
	// Groups are the groups of the data set's examples, or nil.
	Groups []int

	examples *examples.Set
	loader   *feed.Loader
	c        config.Config
	// labelledBatch is the number of labelled images per step if an epoch passes over the labelled
	// images, 0 if it passes over the unlabelled ones.
	labelledBatch int
	// prior is the input [objective.Prior] of the epoch.
	prior []float32
	// fitted is what an objective that fits has fitted last.
	fitted fitted
}

// New returns a trainer with freshly initialised weights on a backend, which Close closes. o is
// the learner's part of config c.
func New(c config.Config, b engine.Backend, o learner.Options) (_ *Trainer, err error) {
	t := &Trainer{Backend: b, Objective: o.Objective, Classes: o.Classes, Domains: o.Domains, c: c}
	if c.Schedule.EpochOf == config.OverLabelled {
		t.labelledBatch = t.Domains * c.Schedule.PerDomain
	}
	if t.Learner, err = learner.New(b, o, c.Seed); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// SetExamples sets the examples and the names of the source domains, before any training or prediction.
// workers is the number of goroutines that augment images, 0 for GOMAXPROCS.
func (t *Trainer) SetExamples(x *examples.Set, domains []string, workers int) (err error) {
	t.examples = x
	t.loader, err = feed.New(x.Source, feed.Config{Seed: t.c.Seed, Domains: domains, Batch: t.c.Schedule.PerDomain, Pooled: t.c.Schedule.Batches == config.EqualImages, Workers: workers})
	return err
}

// Close frees the networks and closes the backend.
func (t *Trainer) Close() {
	if t.Learner != nil {
		t.Learner.Close()
	}
	t.Backend.Close()
}

// rates returns the learning rates of an epoch.
func (t *Trainer) rates(epoch int) learner.Rates {
	f, o := t.c.RateFactor(epoch), t.c.Optimizer
	return learner.Rates{Backbone: o.BackboneRate * f, ClassHead: o.ClassHeadRate * f, DomainHead: o.DomainHeadRate * f}
}

// Rates returns the learning rates of an epoch, for the record.
func (t *Trainer) Rates(epoch int) result.LearningRates { return result.LearningRates(t.rates(epoch)) }

// Load loads pretrained weights into the backbone and returns messages for the user.
func (t *Trainer) Load(w *pretrained.Source) (notes []string, err error) {
	report, err := t.Learner.Load(w.File.Tensors)
	if err != nil {
		return nil, fmt.Errorf("weights %s: %w", w, err)
	}
	notes = append(notes, fmt.Sprintf("weights %s: %d tensors", w, report.Loaded))
	if report.HeadLoaded {
		notes = append(notes, "weights: the classifier head too, which has as many classes")
	}
	if s := t.Learner.Dims().Backbone.Adapters; s != "" {
		notes = append(notes, s)
	}
	for _, note := range slices.Concat(w.File.Notes, report.Notes) {
		notes = append(notes, "weights: "+note)
	}
	return notes, nil
}

// stage is the part of training that an epoch belongs to; reliable tells whether there is a
// reliable set.
func (t *Trainer) stage(epoch int, reliable bool) learner.Stage {
	s := learner.Stage{Reliable: reliable, Heads: epoch < t.c.Network.HeadEpochs}
	if t.Objective.Phase != nil {
		s.Phase = t.Objective.Phase(epoch)
	}
	return s
}

// Compile compiles the executables of all epochs from the given one and returns the time taken.
func (t *Trainer) Compile(from int) (time.Duration, error) {
	var list []learner.Stage
	if t.Objective.Fit != nil {
		return t.Learner.Compile(examples.EvalBatch)
	}
	for epoch := from; epoch < t.c.Schedule.Epochs; epoch++ {
		if stage := t.stage(epoch, epoch > 0 && t.Objective.Uses(objective.Reliable)); !slices.Contains(list, stage) {
			list = append(list, stage)
		}
	}
	return t.Learner.Compile(examples.EvalBatch, list...)
}

// Trained is the result of one training epoch.
type Trained struct {
	// Steps is the number of training steps.
	Steps int
	// Terms are the loss terms summed over steps; Loss is the sum of the first minimised loss.
	Terms result.Losses
	Loss  float64
	// Wait is the time spent waiting for batches.
	Wait time.Duration
}

// Step is the result of one training step.
type Step struct {
	Number, Of int
	Loss       float64
	// Unlabelled holds the unlabelled examples of the batch, followed by their pseudo-labels and
	// whether each was used; nil if the objective makes none.
	Unlabelled []int
	Labels     []int32
	Sure       []bool
}

// Epoch trains one epoch; before is the number of earlier steps. after is called after each
// step. Without unlabelled images, the losses on them take the labelled ones, whose labels they
// do not see.
func (t *Trainer) Epoch(ctx context.Context, number, before int, subsets feed.Subsets, after func(Step)) (sum Trained, err error) {
	if t.Objective.Fit != nil {
		return t.fit(ctx, subsets, after)
	}
	if number == 0 && t.c.Network.HeadStart == config.Logistic {
		if _, err := t.fitHead(ctx, objective.LogisticRegression(), subsets); err != nil {
			return sum, err
		}
	}
	t.prior = objective.LogShares(subsets.Labelled.Label, t.Classes)
	if t.labelledBatch > 0 {
		subsets.Iterations = max(1, len(subsets.Labelled.Example)/t.labelledBatch)
	}
	if len(subsets.Unlabelled.Example) == 0 { // all are labelled
		l := subsets.Labelled
		subsets.Unlabelled = feed.Subset{Example: l.Example, Domain: l.Domain, Views: t.Objective.Views(objective.Unlabelled)}
	}
	planned, err := t.loader.Epoch(number, subsets)
	if err != nil {
		return sum, err
	}
	steps, waiting := planned.Len(), time.Now()
	for b, err := range t.prefetch(ctx, planned, number, t.stage(number, len(subsets.Reliable.Views) > 0)) {
		sum.Wait += time.Since(waiting)
		if err != nil {
			return sum, err
		}
		now := learner.Now{Rates: t.rates(number), Epoch: number, Steps: before + sum.Steps,
			Progress: (float64(number) + float64(sum.Steps)/float64(steps)) / float64(t.c.Schedule.Epochs)}
		out, err := t.Learner.StepOn(b.inputs, now)
		b.inputs.Free()
		if err != nil {
			return sum, err
		}
		terms, err := out.Terms()
		if err != nil {
			return sum, fmt.Errorf("step %d: %w", sum.Steps+1, err)
		}
		s := Step{Loss: out.Loss(terms), Of: steps}
		if s.Labels, s.Sure, err = out.PseudoLabels(); err != nil {
			return sum, err
		}
		if s.Labels != nil {
			s.Unlabelled = b.unlabelled
		}
		sum.Terms = addTerms(sum.Terms, terms)
		sum.Loss += s.Loss
		sum.Steps++
		s.Number = sum.Steps
		after(s)
		waiting = time.Now()
	}
	return sum, nil
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

// Predictions holds network outputs for a list of examples, row by row, in evaluation mode on
// unaugmented images.
type Predictions struct {
	Features, ClassLogits, DomainLogits blas32.General
}

// Predict runs the networks on examples of the data set.
func (t *Trainer) Predict(ctx context.Context, list []int) (Predictions, error) {
	rows := len(list)
	matrix := func(cols int) blas32.General {
		return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float32, 0, rows*cols)}
	}
	p := Predictions{matrix(t.Learner.FeatureDim()), matrix(t.Classes), matrix(t.Domains)}
	err := t.Each(ctx, list, func(n int, out learner.Prediction) {
		add := func(m *blas32.General, v []float32) { m.Data = append(m.Data, v[:n*m.Cols]...) }
		add(&p.Features, out.Features)
		add(&p.ClassLogits, out.ClassLogits)
		add(&p.DomainLogits, out.DomainLogits)
	})
	return p, err
}

// Each calls fn with the network outputs of batches of the examples, in order; the first n rows
// of out belong to the next n examples.
func (t *Trainer) Each(ctx context.Context, list []int, fn func(n int, out learner.Prediction)) error {
	for b, err := range t.examples.Batches(ctx, list) {
		if err != nil {
			return err
		}
		out, err := t.Learner.Predict(feed.Values(t.examples.DType(), b.Plain))
		if err != nil {
			return err
		}
		fn(len(b.Example), out)
	}
	return nil
}

// Engine describes the backend and its settings from an epoch on, for the record.
func (t *Trainer) Engine(from int) result.Engine {
	s := t.Backend.Settings
	plugin := s.Plugin
	if plugin != "" {
		plugin = filepath.Base(plugin) // its folder is this machine's affair
	}
	v := Versions(t.Backend)
	return result.Engine{
		FromEpoch: from, Backend: s.Backend, TF32: s.TF32,
		Plugin: plugin, PluginAPI: s.PluginAPI, PluginSHA256: s.PluginSHA256, XLAFlags: s.XLAFlags,
		Hardware: s.Hardware, Software: fmt.Sprintf("%s, gomlx %s, compute %s", v.Go, v.GoMLX, v.Compute),
		Revision: result.Revision(v.Commit, v.Dirty),
	}
}
