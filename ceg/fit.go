package ceg

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
)

// fitted is a class head that was fitted: on which labelled examples, and what is told
// of it.
type fitted struct {
	examples, labels []int
	terms            result.Losses
}

// fit is an epoch of an objective that fits its class head at once: one step, which does
// nothing where labels are those of the last one.
func (t *trainer) fit(ctx context.Context, from feed.Pool, after func(step)) (sum trained, err error) {
	if last := t.fitted; last.terms == nil || !slices.Equal(last.examples, from.Example) || !slices.Equal(last.labels, from.Label) {
		p, err := t.predict(ctx, from.Example)
		if err != nil {
			return sum, err
		}
		h, err := t.objective.Fit(objective.Samples{Features: p.features, Labels: from.Label, Domains: from.Domain, Classes: t.classes})
		if err != nil {
			return sum, fmt.Errorf("objective %s: %w", t.objective.Name, err)
		}
		if err := t.learner.SetClassHead(h.Weight, h.Bias); err != nil {
			return sum, err
		}
		t.fitted = fitted{slices.Clone(from.Example), slices.Clone(from.Label), nil}
		for _, term := range h.Terms {
			t.fitted.terms = append(t.fitted.terms, result.Term{Name: term.Name, Value: term.Value})
		}
	}
	sum = trained{steps: 1, planned: 1, terms: slices.Clone(t.fitted.terms), loss: t.fitted.terms[0].Value}
	after(step{number: 1, of: 1, loss: sum.loss})
	return sum, nil
}
