// Package learner executes training objectives. A [Learner] owns the weights and the optimizer
// state, compiles a training step for each [Stage] and the prediction, and runs them on batches
// of uint8 views or float32 vectors. An objective.Objective defines the step; pools, budgets and
// epochs are the caller's.
package learner

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Open opens the backend that spec names (see [engine.Open]) for work w in precision p; Float32
// disables reduced-precision arithmetic such as TF32. A backend that cannot compute in p is an
// error.
func Open(p config.Precision, spec string, w engine.Work) (engine.Backend, error) {
	w.Exact = p == config.Float32
	b, err := w.Open(spec)
	if err != nil {
		return engine.Backend{}, err
	}
	if err := check(p, b); err != nil {
		b.Close()
		return engine.Backend{}, err
	}
	return b, nil
}

// check returns an error where b cannot compute in p.
func check(p config.Precision, b engine.Backend) error {
	if p == config.BFloat16 && b.Kind == engine.Go {
		return fmt.Errorf("precision %s needs XLA, and this is %s", p, b.Description)
	}
	return nil
}

// Options describe the networks and the optimizer. There are no defaults; package config has
// presets.
type Options struct {
	Backbone   nets.Backbone
	DomainHead nets.DomainHead
	// Objective defines the training step.
	Objective objective.Objective
	Precision config.Precision
	// ImageSize is the side of the square images in pixels; 0 for feature vectors.
	ImageSize int
	// Back is the part of the backbone that is trained if examples are outputs of the frozen
	// part before it: maps [height, width, channels], see [nets.Part]. Weights are the whole
	// backbone's. The zero value trains all of it.
	Back nets.Backbone
	Maps [3]int
	// Classes and Domains (source domains, K) are counts.
	Classes, Domains int
	// PerDomain is the number of images from each domain in a batch (B), so that every subset's
	// batch has K*B images, ordered by domain.
	PerDomain int

	// Momentum and WeightDecay are SGD's, as in PyTorch: g += WeightDecay*w, v = Momentum*v + g,
	// w -= rate*v. With Nesterov the last update is w -= rate*(g + Momentum*v).
	Momentum, WeightDecay float64
	Nesterov              bool
}

// Validate returns an error for the first invalid option.
func (o Options) Validate() error {
	switch {
	case o.Backbone.Layers == nil:
		return fmt.Errorf("learner: no backbone")
	case o.ImageSize < 1 && o.Backbone.Vector == 0:
		return fmt.Errorf("learner: image size %d", o.ImageSize)
	case o.Classes < 2:
		return fmt.Errorf("learner: %d classes, want at least 2", o.Classes)
	case o.Domains < 1:
		return fmt.Errorf("learner: %d source domains, want at least 1", o.Domains)
	case o.PerDomain < 1:
		return fmt.Errorf("learner: %d images per domain in a batch, want at least 1", o.PerDomain)
	case !(o.Momentum >= 0 && o.Momentum < 1):
		return fmt.Errorf("learner: momentum %v, want 0 to below 1", o.Momentum)
	case !(o.WeightDecay >= 0):
		return fmt.Errorf("learner: weight decay %v, want 0 or more", o.WeightDecay)
	}
	if o.Objective.Images && o.Backbone.Vector > 0 {
		return fmt.Errorf("learner: objective %s works on the pixels of images, and the examples are feature vectors", o.Objective.Name)
	}
	if o.Objective.Images && o.Back.Layers != nil {
		return fmt.Errorf("learner: objective %s works on the pixels of images, and the examples are what a part of the network has made of them", o.Objective.Name)
	}
	if err := o.Objective.Validate(); err != nil {
		return fmt.Errorf("learner: %w", err)
	}
	if !slices.Contains(config.Precisions(), o.Precision) {
		return fmt.Errorf("learner: precision %q, want one of %q", o.Precision, config.Precisions())
	}
	return nil
}

func (o Options) computed() nets.Backbone {
	if o.Back.Layers != nil {
		return o.Back
	}
	return o.Backbone
}

// side is the side of the images, or maps, that computed reads.
func (o Options) side() int {
	if o.Back.Layers != nil {
		return o.Maps[0]
	}
	return o.ImageSize
}
