package config

import (
	"fmt"
	"strconv"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// NoTarget is the target of a run that has none and trains on all domains.
const NoTarget = "none"

// Preset names a reading of CEG. It says what every setting is that is not said.
type Preset string

const (
	// Paper follows the equations of Yuan et al. 2022 as written.
	Paper Preset = "paper"
	// Authors follows what the published code does (junkunyuan/CEG).
	Authors Preset = "authors"
	// Ledg is Authors with what source validation chose, on features of PACS and on glyphs,
	// from grids that CEG's training, FixMatch's and cross-entropy shared, announced before
	// they ran. notebooks/results/preset.md has both, and what can be said against them.
	// With pretrained weights it trains and chooses the first labels as on features, which
	// was not measured there:
	//
	//	objective           fixmatch
	//	strategy            uniform, since nothing is asked for later
	//	timing              once: all labels before training
	//	Epochs              20 on features; twice the data set's, on images without
	//	                    pretrained weights
	//	PerDomain           8, on features: twice the steps in an epoch
	//	learning rates      twice the usual, on features, of ceg, erm and fixmatch
	//	Initial             maxherding, on features and with weights; at random where the
	//	                    network that looks knows nothing
	//	Normalise           root, of features
	//	DomainLoss          only for strategies that ask the domain head
	Ledg Preset = "ledg"
)

// Presets lists the presets.
func Presets() []Preset { return []Preset{Paper, Authors, Ledg} }

// Protocol names whose optimisation an objective is trained with. Its losses, views
// and networks are its own in either case.
type Protocol string

const (
	// PaperProtocol shares CEG's among all objectives, as Yuan et al. 2022 say that they
	// did: SGD, cosine, the data set's number of epochs, 16 images of a domain in a
	// batch, an epoch as long as the unlabelled images last, and with weights 0.003 for
	// backbones and 0.01 for heads.
	PaperProtocol Protocol = "paper"
	// OriginalProtocol takes them from the objective's published code
	// ([Objective.Original]): epochs, batch, momentum, weight decay, the schedule of the
	// rates and, with weights, the rates. For methods that train with labels alone an
	// epoch is one pass over the labelled images. Without weights the rates are the data
	// set's for a small network.
	OriginalProtocol Protocol = "original"
)

// Timing names when labels are asked for. Others than these are said by
// exploration.initial_share, schedule.query_after and schedule.query_shares.
type Timing string

const (
	// Published is the paper's and the published code's: half of the budget at
	// random before training, the rest by queries in the second half of it.
	Published Timing = "published"
	// Early labels a quarter at random before training and asks for the rest in
	// five queries in the first quarter of the epochs: of 20, after each of
	// the first five.
	Early Timing = "early"
	// Once labels the whole budget before training: no queries, and nothing for a query
	// strategy to do.
	Once Timing = "once"
)

// EpochOf says which images an epoch is one pass over.
type EpochOf string

const (
	// OverUnlabelled is the published code of CEG's.
	OverUnlabelled EpochOf = "unlabelled"
	// OverLabelled makes epochs of a few steps where few images have labels.
	OverLabelled EpochOf = "labelled"
)

// Oracle says who answers.
type Oracle string

const (
	// Simulated answers from the data set's own classes. Images whose class it does
	// not know are never asked for.
	Simulated Oracle = ""
	// People answer through the ledger of package labels in the run's folder. Classes
	// that a folder of your own names are answers given before the run.
	People Oracle = "ask"
)

// Rounds says how the labels are divided among the query epochs.
type Rounds string

const (
	// EvenRounds divides them as evenly as can be ([active.EvenRounds]).
	EvenRounds Rounds = "even"
	// PublishedRounds divides them as the published code does
	// ([active.PublishedRounds]). With an initial share of one half the code asks
	// for as many as it has labelled before, which is one less than the rest of an
	// odd budget.
	// The map of package ceg: (31).
	PublishedRounds Rounds = "published"
)

// ReliableRule says how the reliable set is chosen.
type ReliableRule string

const (
	// NearestImages takes the images with the smallest distance to a centroid: the
	// paper's dist < T.
	NearestImages ReliableRule = "nearest"
	// QuotaRandom takes the nearest images of every centroid, with a quota of 1.5
	// times its share, and keeps a random part of the union: the published code.
	QuotaRandom ReliableRule = "quota_random"
)

// ThresholdBase says what the threshold T is a share of.
type ThresholdBase string

const (
	// OfUnlabelled is the paper's reading: a share of the unlabelled images.
	OfUnlabelled ThresholdBase = "unlabelled"
	// OfAll is the published code's: a share of all source training images.
	OfAll ThresholdBase = "all"
)

// Threshold names thresholds of confidence.
type Threshold string

// FreeMatch has thresholds that adapt, for all classes and for each.
const FreeMatch Threshold = "freematch"

// Average names an average of weights.
type Average string

const (
	// EMA is an exponential moving average.
	EMA Average = "ema"
	// Three is the mean of that, of the last weights, and of those of the epoch with the
	// best source validation.
	Three Average = "three"
)

// Normalisation says what is made of every feature vector before the pool's mean is
// taken off. Empty leaves it as it is stored.
type Normalisation string

const (
	// RootFeatures puts sign(x) sqrt|x| in the place of every feature, which brings the
	// few loud features of a ReLU network nearer to the many quiet ones (Tukey's ladder of
	// powers; Yang et al., "Free Lunch for Few-Shot Learning: Distribution Calibration",
	// ICLR 2021).
	RootFeatures Normalisation = "root"
	// UnitFeatures divides every vector by its length.
	UnitFeatures Normalisation = "unit"
	// RootUnitFeatures does both, the root first.
	RootUnitFeatures Normalisation = "root-unit"
)

// Pooling makes a feature vector of a network's last maps.
type Pooling string

const (
	// MeanPool averages every channel over its map.
	MeanPool Pooling = "mean"
	// FlattenPool lays out the maps as one vector, channel by channel as in
	// PyTorch: the feature dimension then depends on the image size.
	FlattenPool Pooling = "flatten"
)

// Reduction says how losses are averaged over source domains.
type Reduction string

const (
	// MeanOverDomains averages over all images: the expectations of the paper.
	MeanOverDomains Reduction = "mean"
	// SumOverDomains adds up the domains' means, as the published code does
	// (trainers/adg.py): with K domains the same losses K times larger.
	// The map of package ceg: (26).
	SumOverDomains Reduction = "sum"
)

// ConsistencyOn says which images take part in L_ac.
type ConsistencyOn string

const (
	// Nothing leaves L_ac out.
	Nothing ConsistencyOn = "nothing"
	// OnUnlabelled is the paper's L_ac.
	OnUnlabelled ConsistencyOn = "unlabelled"
	// Both adds the labelled images, with their pseudo-labels in place of their
	// labels, as the published code does.
	// The map of package ceg: (23).
	Both ConsistencyOn = "both"
)

// BatchNorm says which images share batch statistics.
type BatchNorm string

const (
	// Joint sends each kind of view through the network as one batch.
	Joint BatchNorm = "joint"
	// PerDomain sends every domain (and every pair of domains, for inter-domain
	// MixUp) by itself, as the published code does.
	// The map of package ceg: (27).
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
	// The map of package ceg: (28).
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
	// The map of package ceg: (29).
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
	// BFloat16 convolves in bfloat16. It needs XLA.
	BFloat16 Precision = "bfloat16"
)

// Precisions lists them.
func Precisions() []Precision { return []Precision{TF32, Float32, BFloat16} }

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
	for _, q := range Precisions() {
		if string(text) == q.String() {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("precision %q, want %s, %s or %s", text, TF32, Float32, BFloat16)
}

// Freeze says which part of a backbone does not learn: FreezeBackbone, FreezeNorm, or a number of
// stages; empty for none. With any, BatchNorm normalises with its running statistics, which stay.
type Freeze string

const (
	// FreezeBackbone leaves the heads to learn.
	FreezeBackbone Freeze = "head"
	// FreezeNorm leaves the scales and shifts of normalisation as they are.
	FreezeNorm Freeze = "norm"
)

// check reports what is none.
func (f Freeze) check() error {
	if n, err := strconv.Atoi(string(f)); f != "" && f != FreezeBackbone && f != FreezeNorm && (err != nil || n < 1 || strconv.Itoa(n) != string(f)) {
		return Errorf("network.freeze", "%q, want %s, %s or a number of stages", f, FreezeBackbone, FreezeNorm)
	}
	return nil
}

// Pixels says how images are normalised for a network: by the mean and the deviation of each
// colour.
type Pixels string

const (
	// ImageNetPixels are torchvision's and most others', of ImageNet's images.
	ImageNetPixels Pixels = ""
	// CLIPPixels are OpenAI's CLIP's.
	CLIPPixels Pixels = "clip"
	// HalfPixels are values from -1 to 1, SigLIP's and Google's ViT's.
	HalfPixels Pixels = "half"
	// UnitPixels are values from 0 to 1, for networks that normalise by themselves.
	UnitPixels Pixels = "unit"
)

// Weights says which weights a network starts from.
type Weights struct {
	// Name is the repository on the hub, of a network from there behind [HubPrefix], or the
	// file's base name; in a plan, before they are opened, what was asked for on the hub, or
	// its base name.
	Name string `json:"name"`
	// Revision is the commit of the repository on the hub, if they come from there.
	Revision string `json:"revision,omitempty"`
	// Digest is the file's SHA-256 in lower-case hexadecimal.
	Digest string `json:"sha256,omitempty"`
	// Data is what the weights were trained on: "ImageNet-1k" for files known by digest,
	// what the file's metadata say, or "unknown".
	Data string `json:"data"`
	// Licence is the licence of weights from the hub.
	Licence string `json:"licence,omitempty"`
}

const (
	// NoWeights is the word for random weights.
	NoWeights = "none"
	// ImageNet is the word for weights trained on ImageNet-1k that ledg knows.
	ImageNet = "imagenet"
	// StyleName is what runs record of AdaIN's weights by name.
	StyleName = "pytorch-AdaIN"
)

// String names the weights in a table's cell: name, data and the beginning of
// the digest.
func (w *Weights) String() string {
	if w == nil {
		return NoWeights
	}
	if w.Digest == "" {
		return w.Name
	}
	return fmt.Sprintf("%s (%s, sha256 %.12s)", w.Name, w.Data, w.Digest)
}

// Space returns where centroids are averaged and distances measured.
func (x Exploration) Space() cluster.Space {
	if x.PhiCentroids {
		return cluster.Augmented
	}
	return cluster.Raw
}

// QueryStrategy returns the query strategy that the settings describe, for a number of
// classes. tieSeed orders equal scores.
func (x Exploration) QueryStrategy(tieSeed uint64, classes int) (active.Strategy, error) {
	s, err := active.ByName(x.Strategy, x.Options(tieSeed, classes))
	if err != nil {
		return nil, err
	}
	return active.Divide(s, x.Domains)
}

// Options returns what the settings say to any query strategy.
func (x Exploration) Options(tieSeed uint64, classes int) active.Options {
	return active.Options{
		Weights:      active.Weights{Uncertainty: x.WeightU, Representativeness: x.Gamma1, Diversity: x.Gamma2},
		Space:        x.Space(),
		SoftmaxTwice: x.SoftmaxTwice,
		Classes:      classes,
		TieSeed:      tieSeed,
	}
}

// InitialStrategy returns the strategy that chooses the initial labels, nil for a draw
// from the pooled sources.
func (x Exploration) InitialStrategy(tieSeed uint64, classes int) (active.Strategy, error) {
	if x.Initial == "" && x.Domains == "" {
		return nil, nil
	}
	if x.Strategy = x.Initial; x.Strategy == "" {
		x.Strategy = active.Uniform{}.Name()
	}
	return x.QueryStrategy(tieSeed, classes)
}
