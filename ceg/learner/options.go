// Package learner carries out training objectives: it owns the weights and the
// optimizer's state, compiles one executable for each kind of work (a training
// step in each of its stages, prediction), and runs them on batches of uint8
// views. What a step does is an objective.Objective; the learner knows nothing of
// it, nor of pools, budgets or epochs.
package learner

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Precision says in what numbers the backbone computes. Weights, gradients,
// statistics, losses and the optimizer are float32 in any case. As text it is
// "tf32", "float32" or "bfloat16".
type Precision string

const (
	// TF32 lets the backend round the inputs of convolutions and products to TF32
	// (10 bits of mantissa) where its device is faster for it: NVIDIA's GPUs, and
	// XLA's default there. Elsewhere it is Float32.
	TF32 Precision = ""
	// Float32 never rounds them.
	Float32 Precision = "float32"
	// BFloat16 convolves in bfloat16; see [native.Target]. It needs XLA.
	BFloat16 Precision = "bfloat16"
)

// String returns the text of p.
func (p Precision) String() string {
	if p == TF32 {
		return "tf32"
	}
	return string(p)
}

// MarshalText is String.
func (p Precision) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the text of a precision.
func (p *Precision) UnmarshalText(text []byte) error {
	for _, q := range []Precision{TF32, Float32, BFloat16} {
		if string(text) == q.String() {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("precision %q, want %s, %s or %s", text, TF32, Float32, BFloat16)
}

// Open opens the backend that spec names (see [engine.Open]) for work w, exactly where p
// is Float32. It returns an error where the backend cannot compute in p.
func (p Precision) Open(spec string, w engine.Work) (engine.Backend, error) {
	w.Exact = p == Float32
	b, err := w.Open(spec)
	if err != nil {
		return engine.Backend{}, err
	}
	if err := p.check(b); err != nil {
		b.Close()
		return engine.Backend{}, err
	}
	return b, nil
}

// check returns an error where b cannot compute in p.
func (p Precision) check(b engine.Backend) error {
	if p == BFloat16 && b.FastConv {
		return fmt.Errorf("precision %s needs XLA, and this is %s", p, b.Description)
	}
	return nil
}

// Options describe the networks and the training. There are no defaults; package
// ceg has presets.
type Options struct {
	Backbone   nets.Backbone
	DomainHead nets.DomainHead
	// Objective is what a step does.
	Objective objective.Objective
	Precision Precision
	// ImageSize is the side of the square images in pixels; 0 for vectors.
	ImageSize int
	// Classes and Domains (source domains, K) are counts.
	Classes, Domains int
	// PerDomain is the number of images from each domain in a batch (B), so
	// that every pool's batch has K*B images, domain after domain.
	PerDomain int

	// Momentum and WeightDecay are SGD's, as in PyTorch: g += WeightDecay*w,
	// v = Momentum*v + g, w -= rate*v, for every trained parameter. With Nesterov
	// the last is w -= rate*(g + Momentum*v).
	Momentum, WeightDecay float64
	Nesterov              bool
}

// Validate reports the first setting that makes no sense.
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
	if err := o.Objective.Validate(); err != nil {
		return fmt.Errorf("learner: %w", err)
	}
	if !slices.Contains([]Precision{TF32, Float32, BFloat16}, o.Precision) {
		return fmt.Errorf("learner: precision %q, want one of %q", o.Precision, []Precision{TF32, Float32, BFloat16})
	}
	return nil
}
