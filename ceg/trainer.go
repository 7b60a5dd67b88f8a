package ceg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/ask"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/upload"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
)

// trainer is the third part of a run: the networks, what computes them, and what
// they are trained for. It knows nothing of labels, but for the pools that an epoch
// draws from.
type trainer struct {
	backend   engine.Backend
	learner   *learner.Learner
	objective objective.Objective
	// examples are there as soon as something is to be computed.
	examples *examples
	// classes and domains are what the networks tell apart.
	classes, domains int
	seed             uint64
	epochs           int
	rates            func(epoch int) learner.Rates
	// labelledBatch is the number of labelled images of which an epoch has a step each,
	// 0 where it is as long as the unlabelled ones last.
	labelledBatch int
	// fitted is what an objective that fits has fitted last.
	fitted fitted
}

// newTrainer makes a trainer with fresh weights on the backend that the options
// name.
func newTrainer(c Config, o Options, p *ask.Campaign) (_ *trainer, err error) {
	t := &trainer{objective: objective.New(c), classes: len(p.Data.Classes), domains: p.DomainCount(),
		seed: c.Seed, epochs: c.Schedule.Epochs, rates: func(epoch int) learner.Rates { return rates(c, epoch) }}
	if c.Schedule.EpochOf == config.OverLabelled {
		t.labelledBatch = t.domains * c.Schedule.PerDomain
	}
	if p.Budget == p.Len() && (t.objective.Uses(objective.Unlabelled) || t.mixes()) {
		return nil, &config.Error{Path: "exploration.budget", Err: fmt.Errorf("budget %s labels all %d images and leaves nothing for the losses on unlabelled ones; use an objective that trains with labels alone, as those do that end in -ce",
			c.Exploration.Budget, p.Len())}
	}
	if t.backend, err = learner.Open(c.Network.Precision, o.Backend, Work(c.Network, c.Data.ImageSize)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	options, err := LearnerOptions(c, t.classes, t.domains, vectorOf(p.Data))
	if err != nil {
		return nil, err
	}
	t.learner, err = learner.New(t.backend, options, c.Seed)
	return t, err
}

// close frees what computes.
func (t *trainer) close() {
	if t.learner != nil {
		t.learner.Close()
	}
	t.backend.Close()
}

// load gives the backbone its weights, and returns what is to be said of them.
func (t *trainer) load(w *pretrained.Source) (notes []string, err error) {
	report, err := t.learner.Load(w.File.Tensors)
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

// mixes reports whether the objective trains with reliable images.
func (t *trainer) mixes() bool { return t.objective.Uses(objective.Reliable) }

// phase numbers the part of training that an epoch belongs to.
func (t *trainer) phase(epoch int) int {
	if t.objective.Phase == nil {
		return 0
	}
	return t.objective.Phase(epoch)
}

// compile compiles what the epochs from one on need, and returns the time it took.
func (t *trainer) compile(from int) (time.Duration, error) {
	var list []learner.Stage
	if t.objective.Fit != nil {
		return t.learner.Compile(evalBatch)
	}
	for epoch := from; epoch < t.epochs; epoch++ {
		stage := learner.Stage{Phase: t.phase(epoch), Reliable: epoch > 0 && t.mixes()}
		if !slices.Contains(list, stage) {
			list = append(list, stage)
		}
	}
	return t.learner.Compile(evalBatch, list...)
}

// trained is what an epoch of training amounts to.
type trained struct {
	// steps is the number of iterations, of planned ones that the epoch has.
	steps, planned int
	// terms are sums over the steps, and loss that of what is minimised first.
	terms result.Losses
	loss  float64
	wait  time.Duration
}

// step is what one step came to.
type step struct {
	number, of int
	loss       float64
	// unlabelled are the unlabelled examples of the batch, with their pseudo-labels
	// and whether these were kept; nil where an objective makes none.
	unlabelled []int
	labels     []int32
	sure       []bool
}

// epoch trains one epoch after a number of steps. after is called after each.
func (t *trainer) epoch(ctx context.Context, number, before int, pools feed.Pools, after func(step)) (sum trained, err error) {
	if t.objective.Fit != nil {
		return t.fit(ctx, pools.Labelled, after)
	}
	if t.labelledBatch > 0 {
		pools.Iterations = max(1, len(pools.Labelled.Example)/t.labelledBatch)
	}
	if n := len(pools.Labelled.Example); len(pools.Unlabelled.Example) == 0 && t.objective.Uses(objective.Unlabelled) {
		return sum, fmt.Errorf("all %d images that are trained on have labels now, which leaves nothing for the losses on unlabelled ones; begin a run with a method that ends in -ce, and these labels", n)
	}
	from := upload.Source{Loader: t.examples.loader, Examples: t.examples.Source, Learner: t.learner, Objective: t.objective, Seed: t.seed}
	batches, err := from.Epoch(ctx, number, pools)
	if err != nil {
		return sum, err
	}
	defer batches.Close()
	steps := batches.Len()
	sum.planned = steps
	for {
		b, err := batches.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return sum, err
		}
		now := learner.Now{Rates: t.rates(number), Epoch: number, Steps: before + sum.steps,
			Progress: (float64(number) + float64(sum.steps)/float64(steps)) / float64(t.epochs)}
		out, err := t.learner.StepOn(b.Inputs, now)
		b.Free()
		if err != nil {
			return sum, err
		}
		terms, err := out.Terms()
		if err != nil {
			return sum, fmt.Errorf("step %d: %w", b.Iteration+1, err)
		}
		s := step{loss: out.Loss(terms), of: steps}
		if s.labels, s.sure, err = out.PseudoLabels(); err != nil {
			return sum, err
		}
		if s.labels != nil {
			s.unlabelled = b.Unlabelled
		}
		sum.terms = addTerms(sum.terms, terms)
		sum.loss += s.loss
		sum.steps++
		s.number = sum.steps
		after(s)
	}
	sum.wait = batches.Waited()
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

// predictions are what the networks say about a list of examples, row by row,
// in evaluation mode on unaugmented views.
type predictions struct {
	features, classLogits, domainLogits blas32.General
}

// predict runs the networks over examples of the data set.
func (t *trainer) predict(ctx context.Context, list []int) (predictions, error) {
	rows := len(list)
	matrix := func(cols int) blas32.General {
		return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float32, 0, rows*cols)}
	}
	p := predictions{matrix(t.learner.FeatureDim()), matrix(t.classes), matrix(t.domains)}
	err := t.each(ctx, list, func(n int, out learner.Prediction) {
		add := func(m *blas32.General, v []float32) { m.Data = append(m.Data, v[:n*m.Cols]...) }
		add(&p.features, out.Features)
		add(&p.classLogits, out.ClassLogits)
		add(&p.domainLogits, out.DomainLogits)
	})
	return p, err
}

// each calls fn with what the networks say about batches of the examples, in
// order; the first n rows of out are those of the next n examples.
func (t *trainer) each(ctx context.Context, list []int, fn func(n int, out learner.Prediction)) error {
	for b, err := range t.examples.batches(ctx, list) {
		if err != nil {
			return err
		}
		out, err := t.learner.Predict(feed.Values(t.examples.DType(), b.Plain))
		if err != nil {
			return err
		}
		fn(len(b.Example), out)
	}
	return nil
}

// engine describes what computes from an epoch on.
func (t *trainer) engine(from int) result.Engine {
	s := t.backend.Settings
	plugin := s.Plugin
	if plugin != "" {
		plugin = filepath.Base(plugin) // its folder is this machine's affair
	}
	v := versions(t.backend)
	return result.Engine{
		FromEpoch: from, Backend: s.Backend, TF32: s.TF32,
		Plugin: plugin, PluginAPI: s.PluginAPI, PluginSHA256: s.PluginSHA256, XLAFlags: s.XLAFlags,
		Hardware: s.Hardware, Software: fmt.Sprintf("%s, gomlx %s, compute %s", v.Go, v.GoMLX, v.Compute),
		Revision: result.Revision(v.Commit, v.Dirty),
	}
}
