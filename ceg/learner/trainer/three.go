package trainer

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
)

// MixThree evaluates the last weights on source validation, saves them if they are the best so
// far, and computes the mean of the three networks of [objective.WithThree], which predicts from
// then on.
func (t *Trainer) MixThree(ctx context.Context, validation func(context.Context) (result.Tally, error)) error {
	state, err := t.Learner.State()
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, p := range t.Learner.Params() {
		at[p.Name] = i
	}
	of := func(net, name string) []float32 { return state.Weights[at[net+"."+name]] }
	names, err := t.predicting()
	if err != nil {
		return err
	}
	for _, name := range names {
		copy(of(objective.ThreeNet, name), state.Weights[at[name]])
	}
	if err := t.Learner.SetState(state); err != nil {
		return err
	}
	tally, err := validation(ctx)
	if err != nil {
		return fmt.Errorf("validation: %w", err)
	}
	now := float32(0)
	if tally.Total > 0 {
		now = float32(tally.Share())
	}
	best := state.Weights[at[objective.BestAccuracy]]
	better := now >= best[0]
	if better {
		best[0] = now
	}
	for _, name := range names {
		last, best, average, mean := state.Weights[at[name]], of(objective.BestNet, name), of(objective.AverageNet, name), of(objective.ThreeNet, name)
		if better {
			copy(best, last)
		}
		for j := range mean {
			mean[j] = (best[j] + last[j] + average[j]) / 3
		}
	}
	return t.Learner.SetState(state)
}

// predicting names the parameters of the backbone and the class head.
func (t *Trainer) predicting() (names []string, err error) {
	d := t.Learner.Dims()
	params, features, err := nets.Params(d.Backbone, d.ImageSize)
	if err != nil {
		return nil, err
	}
	for _, p := range append(params, nets.LinearParams(nets.ClassHead, features, d.Classes)...) {
		names = append(names, p.Name)
	}
	return names, nil
}
