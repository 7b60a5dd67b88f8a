package run

import (
	"context"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
)

// known are a run's labelled images.
type known struct {
	audit.Labelled
	ids      []string
	examples []int
}

// labelled returns the labelled images, and the number of their groups.
func (r *run) labelled() (k known, groups int) {
	p := r.campaign
	k.ClassNames, k.DomainNames = p.Data.Classes, p.Data.Domains
	distinct := map[int]bool{}
	for _, label := range p.Labelled() {
		i := p.Example(label.ID)
		k.ids, k.examples = append(k.ids, label.ID), append(k.examples, i)
		k.Classes, k.Domains = append(k.Classes, label.Class), append(k.Domains, p.Data.Examples[i].Domain)
		if p.Data.Groups != nil {
			k.Groups = append(k.Groups, p.Data.Groups[i])
			distinct[p.Data.Groups[i]] = true
		}
	}
	return k, len(distinct)
}

// estimate cross-validates the run's training on its labelled images, and records in k the
// accuracy, the misclassified images and, of the run's own training, the logits. Fewer than two
// images or groups have no estimate.
func (r *run) estimate(ctx context.Context, k *artifact.Artifact) (err error) {
	l, groups := r.labelled()
	if len(l.ids) < 2 || groups == 1 {
		return nil
	}
	name := r.trainer.Objective.Name
	var fit audit.Fit
	var by string
	if r.repeatable() {
		k.Crossed = artifact.NewCrossed(l.Classes, len(l.ClassNames))
		fit, by = r.refit(ctx, l, k.Crossed), "the run's training ("+name+") repeated without the tested images"
	} else {
		if fit, err = r.logistic(ctx, l); err != nil {
			return err
		}
		by = "logistic regression on the same features, a stand-in for the run's training (" + name + ")"
	}
	e, err := audit.Cross(l.Labelled, fit)
	if err != nil {
		return err
	}
	for _, m := range e.Missed {
		k.Missed = append(k.Missed, artifact.Missed{ID: l.ids[m.Image], Class: l.Classes[m.Image], Seen: m.Seen})
	}
	e.By = by
	x := r.c.Exploration
	if e.Chosen = x.Initial; e.Chosen == "" && r.campaign.HasQueries() && x.Strategy != (active.Uniform{}).Name() {
		e.Chosen = x.Strategy
	}
	if e.Chosen == (active.Uniform{}).Name() {
		e.Chosen = ""
	}
	k.Estimate = e
	return nil
}

// repeatable reports whether refit trains as the run did: from random weights, with labels alone
// or with unlabelled images. Reliable sets follow from queries, and are not computed again.
func (r *run) repeatable() bool {
	return !r.trainer.Objective.Uses(objective.Reliable) && r.c.Generalization.Average != config.Three &&
		r.c.Network.Weights == nil && r.c.Generalization.StyleWeights == nil
}

// refit trains new networks by the run's settings on some of the labels, and adds the logits of
// the tested images to x. Domains without any labels are left out entirely: their unlabelled
// images are not used either.
func (r *run) refit(ctx context.Context, l known, x *artifact.Crossed) audit.Fit {
	p, data := r.campaign, r.campaign.Data
	tell, done := r.reporter.progress("estimating the accuracy"), 0
	distinct := map[int]bool{}
	for _, d := range l.Domains {
		distinct[d] = true
	}
	all := audit.Folds
	if len(distinct) > 1 {
		all += len(distinct)
	}
	return func(train []int) (func([]int) []int, error) {
		at := map[int]int{} // positions of the domains
		var names []string
		var subsets feed.Subsets
		add := func(to *feed.Subset, example int) {
			to.Example, to.Domain = append(to.Example, example), append(to.Domain, at[data.Examples[example].Domain])
		}
		for d, name := range data.Domains {
			for _, i := range train {
				if l.Domains[i] == d {
					at[d], names = len(names), append(names, name)
					break
				}
			}
		}
		for _, i := range train {
			add(&subsets.Labelled, l.examples[i])
			subsets.Labelled.Label = append(subsets.Labelled.Label, l.Classes[i])
		}
		for _, id := range p.Unlabelled() {
			if i := p.Example(id); hasKey(at, data.Examples[i].Domain) {
				add(&subsets.Unlabelled, i)
			}
		}
		t, err := r.newTrainerFor(names)
		if err != nil {
			return nil, err
		}
		defer t.Learner.Close()
		subsets.Labelled.Views = t.Objective.Views(objective.Labelled)
		if len(subsets.Unlabelled.Example) > 0 {
			subsets.Unlabelled.Views = t.Objective.Views(objective.Unlabelled)
		}
		steps := 0
		for epoch := range r.c.Schedule.Epochs {
			sum, err := t.Epoch(ctx, epoch, steps, subsets, func(trainer.Step) {})
			if err != nil {
				return nil, err
			}
			steps += sum.Steps
		}
		out, err := t.Predict(ctx, l.examples)
		if err != nil {
			return nil, err
		}
		done++
		tell(min(done, all), all)
		return func(test []int) []int {
			seen := make([]int, len(test))
			for k, i := range test {
				logits := out.ClassLogits.Data[i*out.ClassLogits.Stride:][:out.ClassLogits.Cols]
				seen[k] = evaluate.ArgMax(logits)
				x.Add(i, logits)
			}
			return seen
		}, nil
	}
}

func hasKey(m map[int]int, key int) bool { _, ok := m[key]; return ok }

// logistic fits logistic regression on the run's features, which are standardised.
func (r *run) logistic(ctx context.Context, l known) (audit.Fit, error) {
	out, err := r.trainer.Predict(ctx, l.examples)
	if err != nil {
		return nil, err
	}
	m := cluster.Matrix(out.Features)
	o := head.Options{Mean: make([]float64, m.Cols), Scale: make([]float64, m.Cols)}
	for j := range o.Scale {
		o.Scale[j] = 1
	}
	return func(train []int) (func([]int) []int, error) {
		classes := make([]int, len(train))
		for k, i := range train {
			classes[k] = l.Classes[i]
		}
		h, err := head.Fit(cluster.SelectRows(m, train), classes, len(l.ClassNames), o)
		if err != nil {
			return nil, err
		}
		return func(test []int) []int { return h.Predict(cluster.SelectRows(m, test)) }, nil
	}, nil
}
