package config

import (
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Config holds every setting of a run; equal configs give equal results. [Resolve] makes one
// from a [Spec], and config.json stores it.
type Config struct {
	// Format is the version of this struct in config.json.
	Format int `json:"format"`
	// Method is the method's name in tables; the settings below define it.
	Method string `json:"method"`
	// Preset names the defaults that the config started from.
	Preset Preset `json:"preset"`
	// Protocol selects the optimisation settings that the objective is trained with.
	Protocol Protocol `json:"protocol"`
	// Seed seeds the initial weights, the initial labels and all other random choices. Runs with
	// equal seeds have the same initial labels, whatever their method.
	Seed uint64 `json:"seed"`

	Data           Data           `json:"data"`
	Network        Network        `json:"network"`
	Schedule       Schedule       `json:"schedule"`
	Optimizer      Optimizer      `json:"optimizer"`
	Exploration    Exploration    `json:"exploration"`
	Generalization Generalization `json:"generalization"`
}

// Data selects the images of a run, independent of their location.
type Data struct {
	// Dataset is one of datasets.Names: glyphs, pacs, officehome, emoji, clothes, folder, features.
	Dataset string `json:"dataset"`
	// Target is the held-out domain; all others are source domains. NoTarget trains on all
	// domains, for deployment.
	Target string `json:"target"`
	// ImageSize is the side in pixels to which images are resized; 0 for features.
	ImageSize int `json:"image_size"`
	// SplitSeed draws the train/val split of data sets without an official one. It is
	// independent of Seed: runs with different seeds share their split.
	SplitSeed uint64 `json:"split_seed"`
	// PoolShare resamples the pool: the share of every source domain's training images that the
	// run uses, at least one each, in (0, 1). The others are neither labelled nor trained on nor
	// counted by the budget. 0 means all. PoolSeed draws them; 0 uses Seed.
	PoolShare float64 `json:"pool_share,omitempty"`
	PoolSeed  uint64  `json:"pool_seed,omitempty"`
	// Classes are the classes of the user's own images, in index order; nil means the classes
	// found in folders and labels.
	Classes []string `json:"classes,omitempty"`
	// Labels is labels.Digest of the file of labels, empty without one. A resumed run keeps the
	// labels that it started with.
	Labels string `json:"labels,omitempty"`
	// Group is a rule that maps IDs to groups of images (datasets.ParseGroup). A split never
	// divides a group, and one image of a group is queried before a second. Empty means no
	// groups, or the groups in the labels.
	Group string `json:"group,omitempty"`
	// Decode is the rule that decodes the user's own image files to pixels; empty keeps the
	// stored pixels.
	Decode rgb.Decoding `json:"decode,omitempty"`
	// Exclude are the patterns that leave files of the user's own images out, those that cannot
	// be decoded included.
	Exclude []string `json:"exclude,omitempty"`
	// Layout and Site read sites and classes in the paths of the user's own images; both empty
	// are domain/class/image and domain/image.
	Layout string `json:"layout,omitempty"`
	Site   string `json:"site,omitempty"`
	// Views is the number of views of each image that the frozen part of the network computes
	// once: a plain one, a weak one, then strong ones. Training samples from them. 0 augments
	// anew each time.
	Views int `json:"views,omitempty"`
	// Normalise transforms feature vectors; one of Normalisations, empty for none and for
	// images.
	Normalise Normalisation `json:"normalise,omitempty"`
}

// Network describes the backbone and the domain head.
type Network struct {
	// Name is the backbone, one of [Networks].
	Name string `json:"name"`
	// Width is a number of channels: of every layer of smallcnn, of the first stage of a resnet,
	// of the first convolution of an efficientnet-lite, of the hidden layer of mlp.
	Width int `json:"width"`
	// Pooling computes the feature vector of smallcnn. Other networks use average pooling.
	Pooling Pooling `json:"pooling"`
	// Weights are the backbone's initial weights; nil means random ones.
	Weights *Weights `json:"weights"`
	// Precision is the number format of the backbone's computation.
	Precision Precision `json:"precision"`
	// Freeze selects the frozen part of the backbone.
	Freeze Freeze `json:"freeze,omitempty"`
	// HeadEpochs is the number of initial epochs that train only the heads, as with
	// FreezeBackbone (linear probing, then fine-tuning; Kumar et al., ICLR 2022).
	HeadEpochs int `json:"head_epochs,omitempty"`
	// LoRARank is the rank of low-rank adapters, which are then the only trained parameters
	// beside the heads; 0 means none. They are scaled by LoRAAlpha/LoRARank, or by 1 if
	// LoRAAlpha is 0.
	LoRARank  int     `json:"lora_rank,omitempty"`
	LoRAAlpha float64 `json:"lora_alpha,omitempty"`
	// Output names the output of an ONNX network from which features are computed; empty for its
	// only output. Tokens pools an output of tokens, one of datasets.Pools.
	Output string `json:"output,omitempty"`
	Tokens string `json:"tokens,omitempty"`
	// Pixels is the normalisation of input images; empty is ImageNetPixels.
	Pixels Pixels `json:"pixels,omitempty"`
	// HeadStart initialises the class head; empty is at random.
	HeadStart HeadStart `json:"head_start,omitempty"`
	// DomainHidden are the widths of the domain head's hidden layers.
	DomainHidden []int `json:"domain_hidden"`
	// DomainReLU puts ReLU activations between them. The map of package ceg: (30).
	DomainReLU bool `json:"domain_relu"`
	// Code identifies the code of a network that the program registered (nets.Register); empty for
	// built-in ones.
	Code string `json:"code,omitempty"`
}

// Schedule sets the length of training and the query epochs. Epochs count from 0; one epoch is
// one pass over the unlabelled or the labelled images, domain-balanced or as Batches says.
type Schedule struct {
	Epochs int `json:"epochs"`
	// Timing names the schedule preset that the query epochs started from; the fields below and
	// the initial share define it.
	Timing Timing `json:"timing"`
	// QueryAfter lists the epochs after which labels are queried, increasing.
	QueryAfter []int `json:"query_after"`
	// QueryShares holds the share of the budget queried after each of these epochs, above 0;
	// with the initial share they sum to 1. Empty leaves the division to Exploration.Rounds.
	QueryShares []float64 `json:"query_shares"`
	// PerDomain is the number of images from each source domain in a batch.
	PerDomain int `json:"per_domain"`
	// Batches divides a batch, PerDomain images times the number of source domains, among these.
	Batches Batches `json:"batches,omitempty"`
	// EpochOf selects the images that one epoch passes through once.
	EpochOf EpochOf `json:"epoch_of"`
	// EvaluateEvery is the number of epochs between evaluations; 0 and 1 evaluate after every
	// epoch. The last epoch is always evaluated. Records of other epochs have no accuracies, and
	// model selection ignores them.
	EvaluateEvery int `json:"evaluate_every"`
}

// Optimizer holds the settings of SGD. Learning rates follow a cosine to 0 over the run:
// rate/2*(1+cos(pi*epoch/epochs)), one step per epoch (PyTorch's CosineAnnealingLR). With DropAt
// they are constant and drop once to a tenth.
type Optimizer struct {
	BackboneRate   float64 `json:"backbone_rate"`
	ClassHeadRate  float64 `json:"class_head_rate"`
	DomainHeadRate float64 `json:"domain_head_rate"`
	Momentum       float64 `json:"momentum"`
	WeightDecay    float64 `json:"weight_decay"`
	// Nesterov uses Nesterov momentum.
	Nesterov bool `json:"nesterov"`
	// DropAt is the share of the epochs after which learning rates drop to a tenth, in [0, 1); 0
	// for the cosine.
	DropAt float64 `json:"drop_at"`
}

// Exploration defines the queries: which labels are acquired.
type Exploration struct {
	// Budget is the number of labels, including initial ones: "5%" of the source training
	// images, or "120".
	Budget string `json:"budget"`
	// InitialShare is the share of the budget that is labelled before training, in
	// (0, 1].
	InitialShare float64 `json:"initial_share"`
	// Initial is the strategy that selects the initial labels from features of the initial
	// network: one of Initials but uniform. Empty selects at random.
	Initial string `json:"initial"`
	// Domains divides every query, including the initial one, among the source domains: one of
	// active.Divisions but pooled. Empty selects from all domains together.
	Domains active.Division `json:"domains"`
	// Rounds divides the remaining labels among the query epochs, unless QueryShares does.
	Rounds Rounds `json:"rounds"`
	// Strategy selects the remaining labels: ceg, uniform, or another of active.Names.
	Strategy string `json:"strategy"`
	// WeightU, Gamma1 and Gamma2 weigh the ranks of uncertainty (1 in the paper),
	// representativeness and diversity.
	WeightU float64 `json:"weight_u"`
	Gamma1  float64 `json:"gamma1"`
	Gamma2  float64 `json:"gamma2"`
	// Oracle is the annotator.
	Oracle Oracle `json:"oracle,omitempty"`
	// Begun is labels.Digest of labels that the run took over from another, which count towards
	// the budget; empty without.
	Begun string `json:"begun,omitempty"`
	// SoftmaxTwice applies a second softmax to probabilities before scoring, as the published
	// code does by mistake (utils/strategy.py). The map of package ceg: (21).
	SoftmaxTwice bool `json:"softmax_twice"`
	// PhiCentroids maps features f to [f,1]/|[f,1]| before centroids and cosine distances, as
	// the published code does; otherwise features are unchanged, as in the paper.
	// The map of package ceg: (22).
	PhiCentroids bool `json:"phi_centroids"`
	// StrategyCode and InitialCode identify the code of Strategy and Initial where the program
	// registered them (active.Register); empty for built-in ones. They
	// are part of a run's identity.
	StrategyCode string `json:"strategy_code,omitempty"`
	InitialCode  string `json:"initial_code,omitempty"`
}

// Generalization defines the training objective.
type Generalization struct {
	// Consistency selects the images of L_ac; Tau is its confidence threshold.
	Consistency ConsistencyOn `json:"consistency"`
	Tau         float64       `json:"tau"`
	// Delta weighs L_eg in L_ss; IntraWeight and InterWeight weigh its two parts.
	Delta       float64 `json:"delta"`
	IntraWeight float64 `json:"intra_weight"`
	InterWeight float64 `json:"inter_weight"`
	// Reliable is the rule that selects the images of L_eg. Their number is a share of Base that
	// grows over the epochs from ThresholdStart to ThresholdEnd (in [0, 1]).
	Reliable       ReliableRule  `json:"reliable"`
	ThresholdStart float64       `json:"threshold_start"`
	ThresholdEnd   float64       `json:"threshold_end"`
	Base           ThresholdBase `json:"threshold_base"`
	// DomainLoss trains the domain head, which some query strategies need.
	DomainLoss     bool           `json:"domain_loss"`
	Reduction      Reduction      `json:"reduction"`
	BatchNorm      BatchNorm      `json:"batch_norm"`
	TargetPass     TargetPass     `json:"target_pass"`
	DomainFeatures DomainFeatures `json:"domain_features"`
	// Objective is one of [Objectives]. The fields above configure ceg, erm (passes only) and
	// fixmatch (passes, Consistency and Tau); the others have their own settings. For all but
	// ceg, DomainLoss adds training of the domain head.
	Objective string `json:"objective"`
	// StyleWeights are AdaIN's, which stylematch needs; nil for others.
	StyleWeights *Weights `json:"style_weights"`
	// Average selects the weights that predict: empty for the last ones, EMA for their moving
	// average over steps, Three for the mean of three networks.
	Average Average `json:"average"`
	// Threshold is the confidence threshold of pseudo-labels: empty for Tau, FreeMatch for
	// self-adaptive thresholds.
	Threshold Threshold `json:"threshold"`
	// RSCShare is the share that rsc-domainbed masks, of an image's features and of a batch's
	// images, in (0, 1); 0 means DomainBed's 1/3. Other methods do not record it.
	RSCShare float64 `json:"rsc_share,omitempty"`
	// LogitAdjustment is tau of logit adjustment for classes of unequal size (objective.WithLogitAdjustment); 0 is
	// none, which is not recorded.
	LogitAdjustment float64 `json:"logit_adjustment,omitempty"`
	// ObjectiveCode identifies the code of an Objective that the program registered
	// (objective.Register); empty for built-in ones.
	ObjectiveCode string `json:"objective_code,omitempty"`
}
