// Package learner trains the networks of CEG: it owns the weights and the
// optimizer's state, compiles one executable for each kind of work (a training
// step with and without MixUp, prediction), and runs them on batches of uint8
// views. It knows nothing of pools, budgets or epochs.
package learner

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
)

// Reduction says how losses are averaged over source domains.
type Reduction string

const (
	// MeanOverDomains averages over all images: the expectations of the paper.
	MeanOverDomains Reduction = "mean"
	// SumOverDomains adds up the domains' means, as the published code does
	// (trainers/adg.py): with K domains the same losses K times larger.
	SumOverDomains Reduction = "sum"
)

// ConsistencyOn says which images take part in L_ac.
type ConsistencyOn string

const (
	// Nothing leaves L_ac out.
	Nothing ConsistencyOn = "nothing"
	// Unlabelled is the paper's L_ac.
	Unlabelled ConsistencyOn = "unlabelled"
	// Both adds the labelled images, with their pseudo-labels in place of their
	// labels, as the published code does.
	Both ConsistencyOn = "both"
)

// BatchNorm says which images share batch statistics.
type BatchNorm string

const (
	// Joint sends each kind of view through the network as one batch.
	Joint BatchNorm = "joint"
	// PerDomain sends every domain (and every pair of domains, for inter-domain
	// MixUp) by itself, as the published code does.
	PerDomain BatchNorm = "per_domain"
)

// TargetPass says what the pass that makes pseudo-labels, and the one that
// feeds the domain head, do to BatchNorm's running statistics. Batch statistics
// normalise in either case.
type TargetPass string

const (
	// FrozenStats leaves the running statistics alone.
	FrozenStats TargetPass = "frozen_stats"
	// UpdateStats updates them, as the published code does.
	UpdateStats TargetPass = "train"
)

// DomainFeatures says which features train the domain head.
type DomainFeatures string

const (
	// Reuse takes the weak views' features of the pseudo-label pass, before the
	// step.
	Reuse DomainFeatures = "reuse"
	// PostUpdate computes them again after the backbone's step, as the published
	// code does.
	PostUpdate DomainFeatures = "post_update"
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
	// BFloat16 convolves in bfloat16; see [native.BuildBFloat16]. It needs XLA.
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

// Open opens the backend that spec names (see [engine.Open]) for p. It returns an
// error where the backend cannot compute in it.
func (p Precision) Open(spec string) (engine.Backend, error) {
	open := engine.Open
	if p == Float32 {
		open = engine.OpenExact
	}
	b, err := open(spec)
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

// Options describe the networks and the training step. There are no defaults;
// package ceg has presets.
type Options struct {
	Backbone   nets.Backbone
	DomainHead nets.DomainHead
	Precision  Precision
	// ImageSize is the side of the square images in pixels.
	ImageSize int
	// Classes and Domains (source domains, K) are counts.
	Classes, Domains int
	// PerDomain is the number of images from each domain in a batch (B), so
	// that every pool's batch has K*B images, domain after domain.
	PerDomain int

	// Consistency says which images L_ac is over; Tau is its confidence
	// threshold, in [0, 1].
	Consistency ConsistencyOn
	Tau         float64
	// Delta weighs L_eg in L_ss. IntraWeight and InterWeight weigh the two kinds
	// of MixUp within L_eg. A term whose weight is zero is not computed.
	Delta, IntraWeight, InterWeight float64
	// DomainLoss trains the domain head (L_dd). Without it, without L_ac and
	// without L_eg a step needs labelled images alone.
	DomainLoss bool

	Reduction      Reduction
	BatchNorm      BatchNorm
	TargetPass     TargetPass
	DomainFeatures DomainFeatures

	// Momentum and WeightDecay are SGD's, as in PyTorch: g += WeightDecay*w,
	// v = Momentum*v + g, w -= rate*v, for every trained parameter.
	Momentum, WeightDecay float64
}

// Validate reports the first setting that makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Backbone.Layers == nil:
		return fmt.Errorf("learner: no backbone")
	case o.ImageSize < 1:
		return fmt.Errorf("learner: image size %d", o.ImageSize)
	case o.Classes < 2:
		return fmt.Errorf("learner: %d classes, want at least 2", o.Classes)
	case o.Domains < 1:
		return fmt.Errorf("learner: %d source domains, want at least 1", o.Domains)
	case o.PerDomain < 1:
		return fmt.Errorf("learner: %d images per domain in a batch, want at least 1", o.PerDomain)
	case !(o.Tau >= 0 && o.Tau <= 1):
		return fmt.Errorf("learner: confidence threshold %v, want 0 to 1", o.Tau)
	case !(o.Delta >= 0 && o.IntraWeight >= 0 && o.InterWeight >= 0):
		return fmt.Errorf("learner: negative loss weight: delta %v, intra %v, inter %v", o.Delta, o.IntraWeight, o.InterWeight)
	case !(o.Momentum >= 0 && o.Momentum < 1):
		return fmt.Errorf("learner: momentum %v, want 0 to below 1", o.Momentum)
	case !(o.WeightDecay >= 0):
		return fmt.Errorf("learner: weight decay %v, want 0 or more", o.WeightDecay)
	}
	if err := oneOf("precision", o.Precision, TF32, Float32, BFloat16); err != nil {
		return err
	}
	if err := oneOf("consistency", o.Consistency, Nothing, Unlabelled, Both); err != nil {
		return err
	}
	if err := oneOf("loss reduction", o.Reduction, MeanOverDomains, SumOverDomains); err != nil {
		return err
	}
	if err := oneOf("batch-norm", o.BatchNorm, Joint, PerDomain); err != nil {
		return err
	}
	if err := oneOf("target pass", o.TargetPass, FrozenStats, UpdateStats); err != nil {
		return err
	}
	return oneOf("domain features", o.DomainFeatures, Reuse, PostUpdate)
}

func oneOf[T ~string](what string, got T, valid ...T) error {
	for _, v := range valid {
		if got == v {
			return nil
		}
	}
	return fmt.Errorf("learner: %s %q, want one of %q", what, got, valid)
}

// MixesUp reports whether L_eg has any weight.
func (o Options) MixesUp() bool {
	return o.Delta > 0 && (o.IntraWeight > 0 || (o.InterWeight > 0 && o.Domains > 1))
}

// NeedsUnlabelled reports whether a step reads unlabelled images.
func (o Options) NeedsUnlabelled() bool { return o.Consistency != Nothing || o.DomainLoss }

// batch returns the images of one pool in a batch, K*B.
func (o Options) batch() int { return o.Domains * o.PerDomain }

// pairs lists the unordered pairs of domains in the order (0,1), (0,2), (1,2).
func (o Options) pairs() [][2]int {
	var p [][2]int
	for i := range o.Domains {
		for j := i + 1; j < o.Domains; j++ {
			p = append(p, [2]int{i, j})
		}
	}
	return p
}
