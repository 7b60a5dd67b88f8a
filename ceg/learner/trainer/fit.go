package trainer

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
)

// fitted is a fitted class head: its labelled examples and its terms.
type fitted struct {
	examples, labels []int
	terms            result.Losses
}

// fit is an epoch of an objective that fits its class head in closed form: one step, which does
// nothing if the labels have not changed.
func (t *Trainer) fit(ctx context.Context, subsets feed.Subsets, after func(Step)) (sum Trained, err error) {
	from := subsets.Labelled
	if last := t.fitted; last.terms == nil || !slices.Equal(last.examples, from.Example) || !slices.Equal(last.labels, from.Label) {
		h, err := t.fitHead(ctx, t.Objective, subsets)
		if err != nil {
			return sum, err
		}
		t.fitted = fitted{slices.Clone(from.Example), slices.Clone(from.Label), nil}
		for _, term := range h.Terms {
			t.fitted.terms = append(t.fitted.terms, result.Term{Name: term.Name, Value: term.Value})
		}
	}
	sum = Trained{Steps: 1, Terms: slices.Clone(t.fitted.terms), Loss: t.fitted.terms[0].Value}
	after(Step{Number: 1, Of: 1, Loss: sum.Loss})
	return sum, nil
}

// fitHead fits the class head by an objective with [objective.Objective.Fit], and sets it.
func (t *Trainer) fitHead(ctx context.Context, o objective.Objective, subsets feed.Subsets) (h objective.Fitted, err error) {
	from := subsets.Labelled
	p, err := t.Predict(ctx, from.Example)
	if err != nil {
		return h, err
	}
	s := objective.Samples{Features: p.Features, Labels: from.Label, Domains: from.Domain, Classes: t.Classes}
	if t.Groups != nil {
		for _, i := range from.Example {
			s.Groups = append(s.Groups, t.Groups[i])
		}
	}
	if others := subsets.Unlabelled.Example; o.Pool && len(others) > 0 {
		u, err := t.Predict(ctx, others)
		if err != nil {
			return h, err
		}
		s.Unlabelled = u.Features
	}
	if o.Names {
		s.Names = t.examples.Names()
	}
	if h, err = o.Fit(s); err != nil {
		return h, fmt.Errorf("objective %s: %w", o.Name, err)
	}
	return h, t.Learner.SetClassHead(h.Weight, h.Bias)
}
