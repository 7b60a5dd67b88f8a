package config

import (
	"fmt"
	"strconv"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// NoTarget is the target of a run without a held-out domain, which trains on all domains.
const NoTarget = "none"

// Preset names a set of defaults for all settings.
type Preset string

const (
	// Paper follows the equations of Yuan et al. 2022 as written.
	Paper Preset = "paper"
	// Authors follows the published code (junkunyuan/CEG).
	Authors Preset = "authors"
	// Ledg is Authors with settings that source validation selected on features of PACS and on
	// glyphs, by preregistered grids shared by CEG's training, FixMatch and cross-entropy.
	// notebooks/results/preset.md has the choice and the results. With pretrained weights
	// it trains and selects initial labels as on features, which was not measured.
	//
	//	objective           fixmatch
	//	strategy            uniform, since nothing is queried later
	//	timing              once: all labels before training
	//	Epochs              20 on features; twice the data set's, on images without
	//	                    pretrained weights
	//	PerDomain           8, on features: twice the steps in an epoch
	//	learning rates      twice the usual, on features, of ceg, erm and fixmatch
	//	Initial             maxherding, on features and with weights; at random if the
	//	                    initial network is untrained
	//	Normalise           root, of features
	//	DomainLoss          only for strategies that need the domain head
	Ledg Preset = "ledg"
	// Pooled is Ledg for classes and domains of unequal size: on features, erm and fixmatch start from
	// logistic regression and train on batches of images from all domains together. A search on resampled data
	// chose both, and a preregistered study confirmed them (notebooks/results/few-labels.md).
	Pooled Preset = "pooled"
	// Recommended is the preset of those who name none.
	Recommended = Pooled
)

// Presets lists the presets.
func Presets() []Preset { return []Preset{Paper, Authors, Ledg, Pooled} }

// Selected reports whether source validation selected the preset's settings: Ledg, and Pooled after it.
func (p Preset) Selected() bool { return p == Ledg || p == Pooled }

// Protocol selects the optimisation settings of an objective. Its losses, views and networks do
// not depend on it.
type Protocol string

const (
	// PaperProtocol uses CEG's settings for all objectives, as Yuan et al. 2022 report: SGD with
	// a cosine schedule, the data set's number of epochs, 16 images of a domain in a batch, and
	// one pass over the unlabelled images an epoch. Learning rates with pretrained weights are
	// 0.003 for backbones and 0.01 for heads.
	PaperProtocol Protocol = "paper"
	// OriginalProtocol uses the settings of the objective's published code
	// ([Objective.Original]): epochs, batch size, momentum, weight decay, learning rate schedule
	// and, with pretrained weights, learning rates. For methods that train only on labelled
	// images, an epoch is one pass over these. Without weights the learning rates are the data
	// set's for a small network.
	OriginalProtocol Protocol = "original"
)

// Timing names a labelling schedule. Others are specified by exploration.initial_share,
// schedule.query_after and schedule.query_shares.
type Timing string

const (
	// Published is the schedule of the paper and its code: half of the budget at random before
	// training, the rest by queries in the second half of training.
	Published Timing = "published"
	// Early labels a quarter of the budget at random before training and queries the rest in
	// five rounds in the first quarter of the epochs: of 20, after each of the first five.
	Early Timing = "early"
	// Once labels the whole budget upfront: there are no queries, and the query strategy has no
	// effect.
	Once Timing = "once"
)

// EpochOf selects the images that one epoch passes through once.
type EpochOf string

const (
	// OverUnlabelled is one pass over the unlabelled images, as in CEG's published code.
	OverUnlabelled EpochOf = "unlabelled"
	// OverLabelled is one pass over the labelled images: a few steps if labels are few.
	OverLabelled EpochOf = "labelled"
)

// Batches is the rule that divides a batch among the source domains.
type Batches string

const (
	// EqualDomains takes as many images from every domain, so that each image of a small domain
	// counts more.
	EqualDomains Batches = ""
	// EqualImages takes the same number of images from all domains together, so that every image
	// counts equally and an epoch passes over all of them.
	EqualImages Batches = "images"
)

// HeadStart names the initial weights of the class head; empty for random ones.
type HeadStart string

// Logistic starts from logistic regression on the labels before training (linear probing, then
// training: Kumar et al., "Fine-Tuning can Distort Pretrained Features and Underperform
// Out-of-Distribution", ICLR 2022).
const Logistic HeadStart = "logistic"

// InitialNames chooses the initial labels by k-means on features with class probabilities by names appended.
const InitialNames = "names"

// Oracle is the kind of annotator.
type Oracle string

const (
	// Simulated returns the data set's own classes. Images of unknown class are never queried.
	Simulated Oracle = ""
	// People are human annotators, who label through the ledger in the run's folder (package
	// labels). Classes from the user's own folders are labels that exist before the run.
	People Oracle = "ask"
)

// Rounds is the rule that divides labels among the query epochs.
type Rounds string

const (
	// EvenRounds divides them evenly ([active.EvenRounds]).
	EvenRounds Rounds = "even"
	// PublishedRounds divides them as the published code does ([active.PublishedRounds]). With
	// an initial share of one half, the code queries as many as it labelled before, one less
	// than the rest of an odd budget. The map of package ceg: (31).
	PublishedRounds Rounds = "published"
)

// ReliableRule is the rule that selects the reliable set.
type ReliableRule string

const (
	// NearestImages selects the images with the smallest distance to a centroid: the paper's
	// dist < T.
	NearestImages ReliableRule = "nearest"
	// QuotaRandom takes the nearest images of every centroid, 1.5 times its share, and keeps a
	// random part of the union, as the published code does.
	QuotaRandom ReliableRule = "quota_random"
)

// ThresholdBase is the set of images that the threshold T is a share of.
type ThresholdBase string

const (
	// OfUnlabelled takes a share of the unlabelled images, the paper's reading.
	OfUnlabelled ThresholdBase = "unlabelled"
	// OfAll takes a share of all source training images, as the published code does.
	OfAll ThresholdBase = "all"
)

// Threshold names a rule for confidence thresholds.
type Threshold string

// FreeMatch uses self-adaptive thresholds, a global one and one for each class.
const FreeMatch Threshold = "freematch"

// Average names an average of weights.
type Average string

const (
	// EMA is an exponential moving average.
	EMA Average = "ema"
	// Three is the mean of three sets of weights: the moving average, the last weights, and the
	// weights of the epoch with the best source validation accuracy.
	Three Average = "three"
)

// Normalisation transforms every feature vector before the pool's mean is subtracted. Empty
// leaves it unchanged.
type Normalisation string

const (
	// RootFeatures replaces every feature by sign(x) sqrt|x|, which reduces the skew of a ReLU
	// network's features (Tukey's ladder of powers; Yang et al., "Free Lunch for Few-Shot
	// Learning: Distribution Calibration", ICLR 2021).
	RootFeatures Normalisation = "root"
	// UnitFeatures L2-normalises every vector.
	UnitFeatures Normalisation = "unit"
	// RootUnitFeatures applies RootFeatures, then UnitFeatures.
	RootUnitFeatures Normalisation = "root-unit"
)

// Pooling computes a feature vector from a network's last feature maps.
type Pooling string

const (
	// MeanPool averages every channel over its map.
	MeanPool Pooling = "mean"
	// FlattenPool flattens the maps to one vector, channel by channel as in PyTorch: the feature
	// dimension then depends on the image size.
	FlattenPool Pooling = "flatten"
)

// Reduction is the rule that reduces losses over source domains.
type Reduction string

const (
	// MeanOverDomains averages over all images: the expectations of the paper.
	MeanOverDomains Reduction = "mean"
	// SumOverDomains sums the domains' means, as the published code does (trainers/adg.py): with
	// K domains the losses are K times larger. The map of package ceg: (26).
	SumOverDomains Reduction = "sum"
)

// ConsistencyOn selects the images of L_ac.
type ConsistencyOn string

const (
	// Nothing omits L_ac.
	Nothing ConsistencyOn = "nothing"
	// OnUnlabelled is the paper's L_ac.
	OnUnlabelled ConsistencyOn = "unlabelled"
	// Both adds the labelled images, with pseudo-labels in place of their labels, as the
	// published code does. The map of package ceg: (23).
	Both ConsistencyOn = "both"
)

// BatchNorm selects the images that share batch statistics.
type BatchNorm string

const (
	// Joint passes each kind of view through the network as one batch.
	Joint BatchNorm = "joint"
	// PerDomain passes every domain (and every pair of domains, for inter-domain MixUp)
	// separately, as the published code does. The map of package ceg: (27).
	PerDomain BatchNorm = "per_domain"
)

// TargetPass controls whether the passes for pseudo-labels and for the domain head update
// BatchNorm's running statistics. They normalise by batch statistics in either case.
type TargetPass string

const (
	// FrozenStats does not update the running statistics.
	FrozenStats TargetPass = "frozen_stats"
	// UpdateStats updates them, as the published code does.
	// The map of package ceg: (28).
	UpdateStats TargetPass = "train"
)

// DomainFeatures selects the features that train the domain head.
type DomainFeatures string

const (
	// Reuse uses the weak views' features of the pseudo-label pass, before the step.
	Reuse DomainFeatures = "reuse"
	// PostUpdate recomputes them after the backbone's step, as the published code does.
	// The map of package ceg: (29).
	PostUpdate DomainFeatures = "post_update"
)

// Precision is the number format of the backbone's computation. Weights, gradients, statistics,
// losses and optimizer are always float32. Its text is "tf32", "float32" or "bfloat16".
type Precision string

const (
	// TF32 permits the backend to round the inputs of convolutions and matrix products to TF32
	// (10 bits of mantissa) if that is faster: on NVIDIA's GPUs, as XLA does by default.
	// Elsewhere it equals Float32.
	TF32 Precision = ""
	// Float32 never rounds to TF32.
	Float32 Precision = "float32"
	// BFloat16 computes convolutions in bfloat16. It needs XLA.
	BFloat16 Precision = "bfloat16"
)

// Precisions lists all precisions.
func Precisions() []Precision { return []Precision{TF32, Float32, BFloat16} }

// String returns the text of p.
func (p Precision) String() string {
	if p == TF32 {
		return "tf32"
	}
	return string(p)
}

func (p Precision) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p *Precision) UnmarshalText(text []byte) error {
	for _, q := range Precisions() {
		if string(text) == q.String() {
			*p = q
			return nil
		}
	}
	return fmt.Errorf("precision %q, want %s, %s or %s", text, TF32, Float32, BFloat16)
}

// Freeze selects the frozen part of a backbone: FreezeBackbone, FreezeNorm, or a number of
// stages; empty for none. With any of them BatchNorm uses its running statistics, which stay
// fixed.
type Freeze string

const (
	// FreezeBackbone trains only the heads.
	FreezeBackbone Freeze = "head"
	// FreezeNorm freezes the scales and shifts of normalisation layers.
	FreezeNorm Freeze = "norm"
)

func (f Freeze) check() error {
	if n, err := strconv.Atoi(string(f)); f != "" && f != FreezeBackbone && f != FreezeNorm && (err != nil || n < 1 || strconv.Itoa(n) != string(f)) {
		return Errorf("network.freeze", "%q, want %s, %s or a number of stages", f, FreezeBackbone, FreezeNorm)
	}
	return nil
}

// Pixels is the normalisation of images by mean and standard deviation of each channel.
type Pixels string

const (
	// ImageNetPixels uses the statistics of ImageNet, as torchvision and most networks do.
	ImageNetPixels Pixels = ""
	// CLIPPixels uses the statistics of OpenAI's CLIP.
	CLIPPixels Pixels = "clip"
	// HalfPixels scales to [-1, 1], as for SigLIP and Google's ViT.
	HalfPixels Pixels = "half"
	// UnitPixels scales to [0, 1], for networks that normalise internally.
	UnitPixels Pixels = "unit"
	// RawPixels leaves pixels from 0 to 255, for networks that preprocess internally.
	RawPixels Pixels = "raw"
)

// Weights identifies a network's initial weights.
type Weights struct {
	// Name is the file's base name, or for the hub the repository ([HubPrefix] precedes a
	// network's). In a plan, before the weights are opened, it is the requested name.
	Name string `json:"name"`
	// Revision is the commit of the repository on the hub; empty for files.
	Revision string `json:"revision,omitempty"`
	// Digest is the file's SHA-256 in lower-case hexadecimal.
	Digest string `json:"sha256,omitempty"`
	// Data is the training data of the weights: "ImageNet-1k" for files known by digest, the
	// metadata's entry, or "unknown".
	Data string `json:"data"`
	// Licence is the licence of weights from the hub.
	Licence string `json:"licence,omitempty"`
}

const (
	// NoWeights selects random weights.
	NoWeights = "none"
	// ImageNet selects weights trained on ImageNet-1k that ledg knows.
	ImageNet = "imagenet"
	// StyleName is the name of AdaIN's weights in records.
	StyleName = "pytorch-AdaIN"
)

// String returns name, data and the start of the digest, for a table's cell.
func (w *Weights) String() string {
	if w == nil {
		return NoWeights
	}
	if w.Digest == "" {
		return w.Name
	}
	return fmt.Sprintf("%s (%s, sha256 %.12s)", w.Name, w.Data, w.Digest)
}

// Space returns the feature space of centroids and distances.
func (x Exploration) Space() cluster.Space {
	if x.PhiCentroids {
		return cluster.Augmented
	}
	return cluster.Raw
}

// QueryStrategy returns the configured query strategy for a number of classes. tieSeed orders
// equal scores.
func (x Exploration) QueryStrategy(tieSeed uint64, classes int) (active.Strategy, error) {
	s, err := active.ByName(x.Strategy, x.Options(tieSeed, classes))
	if err != nil {
		return nil, err
	}
	return active.Divide(s, x.Domains)
}

// Options returns the strategies' options for these settings.
func (x Exploration) Options(tieSeed uint64, classes int) active.Options {
	return active.Options{
		Weights:      active.Weights{Uncertainty: x.WeightU, Representativeness: x.Gamma1, Diversity: x.Gamma2},
		Space:        x.Space(),
		SoftmaxTwice: x.SoftmaxTwice,
		Classes:      classes,
		TieSeed:      tieSeed,
	}
}

// InitialStrategy returns the strategy that selects the initial labels, nil for a random sample
// of the pooled source domains.
func (x Exploration) InitialStrategy(tieSeed uint64, classes int) (active.Strategy, error) {
	if x.Initial == "" && x.Domains == "" {
		return nil, nil
	}
	switch x.Strategy = x.Initial; x.Strategy {
	case "":
		x.Strategy = active.Uniform{}.Name()
	case InitialNames:
		x.Strategy = active.KMeans{}.Name()
	}
	return x.QueryStrategy(tieSeed, classes)
}
