package config

import (
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Config determines a run: every setting spelled out. Equal configs give equal results.
// [Resolve] makes one of what a person says; config.json keeps it.
type Config struct {
	// Format is the version of this struct in config.json.
	Format int `json:"format"`
	// Method names what runs, for tables; the settings below say what it does.
	Method string `json:"method"`
	// Preset names the settings that the config started from.
	Preset Preset `json:"preset"`
	// Protocol names whose optimisation the objective is trained with.
	Protocol Protocol `json:"protocol"`
	// Seed determines the starting weights, the initial labels and every other
	// random choice. Runs with equal seeds start from the same labels, whatever
	// their method.
	Seed uint64 `json:"seed"`

	Data           Data           `json:"data"`
	Network        Network        `json:"network"`
	Schedule       Schedule       `json:"schedule"`
	Optimizer      Optimizer      `json:"optimizer"`
	Exploration    Exploration    `json:"exploration"`
	Generalization Generalization `json:"generalization"`
}

// Data says which images a run sees, not where they are.
type Data struct {
	// Dataset is one of datasets.Names: glyphs, pacs, officehome, emoji, folder, features.
	Dataset string `json:"dataset"`
	// Target is the domain that is never trained on. All others are sources. NoTarget
	// trains on all domains, for use rather than for study.
	Target string `json:"target"`
	// ImageSize is the side in pixels that images are resized to; 0 for features.
	ImageSize int `json:"image_size"`
	// SplitSeed draws the train/val split of data sets that have no official
	// one. It is not Seed: runs with different seeds share their split.
	SplitSeed uint64 `json:"split_seed"`
	// PoolShare is the share of every source domain's training images that there are for
	// the run, at least one of each, in (0, 1); the others are neither labelled nor trained
	// on, and no budget counts them. 0 means all. PoolSeed draws them; 0 takes Seed.
	PoolShare float64 `json:"pool_share,omitempty"`
	PoolSeed  uint64  `json:"pool_seed,omitempty"`
	// Classes are those of a data set of the user's own images, in the order of their
	// numbers; nil takes those that folders and labels name.
	Classes []string `json:"classes,omitempty"`
	// Labels is labels.Digest of what the file of labels holds, empty without: a run goes
	// on with the labels that it began with.
	Labels string `json:"labels,omitempty"`
	// Group is a rule over IDs that says which images belong together (datasets.ParseGroup);
	// no split divides a group, and one image of it is asked about before a second. Empty
	// without, or where the labels have groups.
	Group string `json:"group,omitempty"`
	// Decode says which pixels the files of the user's own images stand for; empty for those
	// that are stored.
	Decode rgb.Decoding `json:"decode,omitempty"`
	// Views is the number of views of each image, a plain one, a weak one, then strong ones, that
	// the part of the network which does not learn computes once, and that are drawn from in
	// training; 0 makes views anew each time.
	Views int `json:"views,omitempty"`
	// Normalise says what is made of feature vectors; one of Normalisations, empty for
	// nothing, and for images.
	Normalise Normalisation `json:"normalise,omitempty"`
}

// Network describes the backbone and the domain head.
type Network struct {
	// Name is the backbone, one of [Networks].
	Name string `json:"name"`
	// Width is the number of channels: of every layer of smallcnn, of the first
	// stage of a resnet, of the first convolution of an efficientnet-lite, of the
	// hidden layer of mlp.
	Width int `json:"width"`
	// Pooling makes the feature vector of smallcnn. The others always average.
	Pooling Pooling `json:"pooling"`
	// Weights says which weights the backbone starts from; nil for random ones.
	Weights *Weights `json:"weights"`
	// Precision says in what numbers the backbone computes.
	Precision Precision `json:"precision"`
	// Devices is the number of devices that share each batch of images; 0 is one.
	Devices int `json:"devices,omitempty"`
	// Freeze says which part of the backbone does not learn.
	Freeze Freeze `json:"freeze,omitempty"`
	// HeadEpochs is the number of the first epochs in which nothing but the heads learns, as
	// with FreezeBackbone (linear probing, then fine-tuning; Kumar et al., ICLR 2022).
	HeadEpochs int `json:"head_epochs,omitempty"`
	// LoRARank is the rank of low-rank adapters, which alone learn then beside the heads; 0 is
	// none. They are scaled by LoRAAlpha/LoRARank, or where LoRAAlpha is 0 not at all.
	LoRARank  int     `json:"lora_rank,omitempty"`
	LoRAAlpha float64 `json:"lora_alpha,omitempty"`
	// Output is the value of an ONNX file's network that features are made of; empty for its
	// only output. Tokens says what is taken of it if it is of tokens, one of datasets.Pools.
	Output string `json:"output,omitempty"`
	Tokens string `json:"tokens,omitempty"`
	// Pixels says how images are normalised for it; empty is ImageNetPixels.
	Pixels Pixels `json:"pixels,omitempty"`
	// DomainHidden are the widths of the domain head's hidden layers.
	DomainHidden []int `json:"domain_hidden"`
	// DomainReLU puts activations between them.
	// The map of package ceg: (30).
	DomainReLU bool `json:"domain_relu"`
}

// Schedule says how long a run trains and when it asks for labels. Epochs count
// from 0; one epoch is one balanced pass over the unlabelled pool, or the labelled.
type Schedule struct {
	Epochs int `json:"epochs"`
	// Timing names the timing that the queries started from; the fields below and the
	// initial share say what it is.
	Timing Timing `json:"timing"`
	// QueryAfter lists the epochs after which labels are asked for, increasing.
	QueryAfter []int `json:"query_after"`
	// QueryShares holds the share of the budget that is asked for after each of
	// them, above 0; with the initial share they sum to 1. Empty leaves the division
	// of what is not initial to Exploration.Rounds.
	QueryShares []float64 `json:"query_shares"`
	// PerDomain is the number of images from each source domain in a batch of
	// one pool.
	PerDomain int `json:"per_domain"`
	// EpochOf says which images an epoch is one pass over.
	EpochOf EpochOf `json:"epoch_of"`
	// EvaluateEvery is the number of epochs from one evaluation to the next; 0 and 1
	// evaluate after every epoch. The last epoch is always evaluated. Records of the
	// others have no accuracies, and the selection rules choose among those that have.
	EvaluateEvery int `json:"evaluate_every"`
}

// Optimizer holds the settings of the SGD optimizers. All rates follow a cosine from
// their value to 0 over the run: rate/2*(1+cos(pi*epoch/epochs)), one step per epoch
// (PyTorch's CosineAnnealingLR); or with DropAt they stay until they become a tenth.
type Optimizer struct {
	BackboneRate   float64 `json:"backbone_rate"`
	ClassHeadRate  float64 `json:"class_head_rate"`
	DomainHeadRate float64 `json:"domain_head_rate"`
	Momentum       float64 `json:"momentum"`
	WeightDecay    float64 `json:"weight_decay"`
	// Nesterov looks ahead by the momentum.
	Nesterov bool `json:"nesterov"`
	// DropAt is the share of the epochs after which the rates are a tenth of their
	// value, in [0, 1); 0 for the cosine.
	DropAt float64 `json:"drop_at"`
}

// Exploration says which labels are asked for.
type Exploration struct {
	// Budget is the number of labels, initial ones included: "5%" of the source
	// training images, or "120".
	Budget string `json:"budget"`
	// InitialShare is the share of the budget that is labelled before training, in
	// (0, 1].
	InitialShare float64 `json:"initial_share"`
	// Initial is the strategy that chooses these labels, by the features of the network
	// that training starts from: one of Initials but uniform. Empty draws them uniformly
	// at random.
	Initial string `json:"initial"`
	// Domains divides every query, that of the initial labels too, among the source
	// domains: one of active.Divisions but pooled. Empty asks of all together.
	Domains active.Division `json:"domains"`
	// Rounds divides the other labels among the query epochs, unless these have
	// shares of their own.
	Rounds Rounds `json:"rounds"`
	// Strategy chooses the other labels: ceg, uniform, or another of
	// active.Names.
	Strategy string `json:"strategy"`
	// WeightU, Gamma1 and Gamma2 weigh the ranks of uncertainty (1 in the paper),
	// representativeness and diversity.
	WeightU float64 `json:"weight_u"`
	Gamma1  float64 `json:"gamma1"`
	Gamma2  float64 `json:"gamma2"`
	// Oracle is who answers.
	Oracle Oracle `json:"oracle,omitempty"`
	// Begun is labels.Digest of the labels that the run begins with, which another run has
	// left to it and which the budget counts; empty without.
	Begun string `json:"begun,omitempty"`
	// SoftmaxTwice applies softmax to probabilities once more before scoring, as
	// the published code does (utils/strategy.py), apparently by oversight.
	// The map of package ceg: (21).
	SoftmaxTwice bool `json:"softmax_twice"`
	// PhiCentroids maps features f to [f,1]/|[f,1]| before centroids and cosine
	// distances, as the published code does; otherwise features are used as they
	// are, as in the paper.
	// The map of package ceg: (22).
	PhiCentroids bool `json:"phi_centroids"`
}

// Generalization says what the networks are trained on.
type Generalization struct {
	// Consistency says which images L_ac is over, Tau is its threshold.
	Consistency ConsistencyOn `json:"consistency"`
	Tau         float64       `json:"tau"`
	// Delta weighs L_eg in L_ss; IntraWeight and InterWeight its two parts.
	Delta       float64 `json:"delta"`
	IntraWeight float64 `json:"intra_weight"`
	InterWeight float64 `json:"inter_weight"`
	// Reliable chooses the images of L_eg. Their number is a share of Base that
	// grows from ThresholdStart to ThresholdEnd (in [0, 1]) with the epochs.
	Reliable       ReliableRule  `json:"reliable"`
	ThresholdStart float64       `json:"threshold_start"`
	ThresholdEnd   float64       `json:"threshold_end"`
	Base           ThresholdBase `json:"threshold_base"`
	// DomainLoss trains the domain head; a strategy that asks it needs it.
	DomainLoss     bool           `json:"domain_loss"`
	Reduction      Reduction      `json:"reduction"`
	BatchNorm      BatchNorm      `json:"batch_norm"`
	TargetPass     TargetPass     `json:"target_pass"`
	DomainFeatures DomainFeatures `json:"domain_features"`
	// Objective is one of [Objectives]. ceg, erm and fixmatch have their settings
	// above, of which erm reads those of passes alone and fixmatch also Consistency and
	// Tau; the others have their own. For all but ceg, DomainLoss adds the training of
	// the domain head.
	Objective string `json:"objective"`
	// StyleWeights are AdaIN's, which stylematch needs; nil for others.
	StyleWeights *Weights `json:"style_weights"`
	// Average says which weights predict: empty for the last ones, EMA for their moving
	// average over the steps, Three for the mean of three.
	Average Average `json:"average"`
	// Threshold says what a pseudo-label's confidence is held against: empty for Tau,
	// FreeMatch for thresholds that adapt.
	Threshold Threshold `json:"threshold"`
	// RSCShare is the share that rsc-domainbed mutes, of the entries of an image's
	// features and of a batch's images, in (0, 1); 0 means DomainBed's, 1/3. It is nobody
	// else's, so that the settings of others do not have it.
	RSCShare float64 `json:"rsc_share,omitempty"`
}
