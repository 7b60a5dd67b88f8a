package ceg

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
)

// Config determines a run: equal configs give equal results. Start from
// [NewConfig], change fields, and hand it to [Run].
type Config struct {
	// Format is the version of this struct in config.json; [result.Format]. A new
	// setting is a new entry in the upgrade of older configs, in package result.
	Format int `json:"format"`
	// Method names what runs, for tables; the settings below say what it does.
	Method string `json:"method"`
	// Preset names the settings that the config started from.
	Preset Preset `json:"preset"`
	// Protocol names whose optimisation the config started from; SetProtocol.
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

// Data says which images a run sees; Options say where they are.
type Data struct {
	// Dataset is one of datasets.Names: glyphs, pacs, officehome, folder, features.
	Dataset string `json:"dataset"`
	// Target is the domain that is never trained on. All others are sources. NoTarget
	// trains on all domains, for use rather than for study.
	Target string `json:"target"`
	// ImageSize is the side in pixels that images are resized to; 0 for features.
	ImageSize int `json:"image_size"`
	// SplitSeed draws the train/val split of data sets that have no official
	// one. It is not Seed: runs with different seeds share their split.
	SplitSeed uint64 `json:"split_seed"`
	// Classes are those of a data set of the user's own images, in the order of their
	// numbers; nil takes those that folders and labels name.
	Classes []string `json:"classes,omitempty"`
	// Labels is labels.Digest of what Options.Labels holds, empty without: a run goes
	// on with the labels that it began with.
	Labels string `json:"labels,omitempty"`
	// Normalise says what is made of feature vectors; one of Normalisations, empty for
	// nothing, and for images.
	Normalise Normalisation `json:"normalise,omitempty"`
}

// NoTarget is the target of a run that trains on all domains.
const NoTarget = result.NoTarget

// Network describes the backbone and the domain head.
type Network struct {
	// Name is the backbone, one of Networks or, for features, of VectorNetworks.
	Name string `json:"name"`
	// Width is the number of channels: of every layer of smallcnn, of the first
	// stage of a resnet, of the first convolution of an efficientnet-lite, of the
	// hidden layer of mlp.
	Width int `json:"width"`
	// Pooling makes the feature vector of smallcnn. The others always average.
	Pooling nets.Pooling `json:"pooling"`
	// Weights says which weights the backbone starts from; nil for random ones.
	// Set it with UseWeights.
	Weights *pretrained.Source `json:"weights"`
	// Precision says in what numbers the backbone computes.
	Precision learner.Precision `json:"precision"`
	// DomainHidden are the widths of the domain head's hidden layers.
	DomainHidden []int `json:"domain_hidden"`
	// DomainReLU puts activations between them.
	DomainReLU bool `json:"domain_relu"`
}

// Schedule says how long a run trains and when it asks for labels. Epochs count
// from 0; one epoch is one balanced pass over the unlabelled pool, or the labelled.
type Schedule struct {
	Epochs int `json:"epochs"`
	// Timing names the timing that the queries started from, which SetTiming sets;
	// the fields below and the initial share say what it is. Empty is Published.
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
	// SoftmaxTwice applies softmax to probabilities once more before scoring, as
	// the published code does (utils/strategy.py), apparently by oversight.
	SoftmaxTwice bool `json:"softmax_twice"`
	// PhiCentroids maps features f to [f,1]/|[f,1]| before centroids and cosine
	// distances, as the published code does; otherwise features are used as they
	// are, as in the paper.
	PhiCentroids bool `json:"phi_centroids"`
}

// Rounds says how the labels are divided among the query epochs.
type Rounds string

const (
	// EvenRounds divides them as evenly as can be ([active.EvenRounds]).
	EvenRounds Rounds = "even"
	// PublishedRounds divides them as the published code does
	// ([active.PublishedRounds]). With an initial share of one half the code asks
	// for as many as it has labelled before, which is one less than the rest of an
	// odd budget.
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

// Generalization says what the networks are trained on.
type Generalization struct {
	// Consistency says which images L_ac is over, Tau is its threshold.
	Consistency objective.ConsistencyOn `json:"consistency"`
	Tau         float64                 `json:"tau"`
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
	DomainLoss     bool                     `json:"domain_loss"`
	Reduction      objective.Reduction      `json:"reduction"`
	BatchNorm      objective.BatchNorm      `json:"batch_norm"`
	TargetPass     objective.TargetPass     `json:"target_pass"`
	DomainFeatures objective.DomainFeatures `json:"domain_features"`
	// Objective is one of objective.Methods. ceg, erm and fixmatch have their settings
	// above, of which erm reads those of passes alone and fixmatch also Consistency and
	// Tau; the others have their own. For all but ceg, DomainLoss adds the training of
	// the domain head.
	Objective string `json:"objective"`
	// StyleWeights are AdaIN's, which stylematch needs; nil for others. Set them with
	// UseStyle.
	StyleWeights *pretrained.Source `json:"style_weights"`
	// Average says which weights predict: empty for the last ones, EMA for their moving
	// average over the steps ([objective.WithAverage]).
	Average Average `json:"average"`
	// Threshold says what a pseudo-label's confidence is held against: empty for Tau,
	// FreeMatch for thresholds that adapt ([objective.WithSelfAdaptive]).
	Threshold Threshold `json:"threshold"`
}

// Threshold names thresholds of confidence.
type Threshold string

// FreeMatch has thresholds that adapt, for all classes and for each.
const FreeMatch Threshold = "freematch"

// thresholds reports whether the objective holds confidences against a threshold.
func (g Generalization) thresholds() bool {
	switch g.Objective {
	case cegObjective, FixMatch:
		return g.Consistency != objective.Nothing
	}
	return strings.HasPrefix(g.Objective, "stylematch")
}

// Average names an average of weights.
type Average string

// EMA is an exponential moving average.
const EMA Average = "ema"

// Identity returns what tells the settings from others, as JSON: equal for equal
// settings in all versions of ledg that have them.
func (c Config) Identity() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return result.SettingsIdentity(data)
}

// SettingError is a setting that does not make sense for the data: a target
// that does not exist, a budget above the pool.
type SettingError struct {
	// Setting is the field's JSON name, such as "target".
	Setting string
	Err     error
}

func (e *SettingError) Error() string { return e.Setting + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *SettingError) Unwrap() error { return e.Err }

// Validate reports the first setting that makes no sense by itself. Run finds
// what does not fit the data.
func (c Config) Validate() error {
	s, o, x, g := c.Schedule, c.Optimizer, c.Exploration, c.Generalization
	switch {
	case c.Format != result.Format:
		return fmt.Errorf("config format %d, want %d", c.Format, result.Format)
	case c.Method == "":
		return fmt.Errorf("config: method has no name")
	case c.Data.Dataset == "":
		return fmt.Errorf("config: no data set")
	case c.Data.Target == "":
		return fmt.Errorf("config: no target domain")
	case c.Data.vectors() && c.Data.ImageSize != 0:
		return fmt.Errorf("config: image size %d, but data set %s has feature vectors", c.Data.ImageSize, c.Data.Dataset)
	case c.Data.vectors() && c.Network.Weights != nil:
		return fmt.Errorf("config: weights %s, but the features of data set %s come from a network already: its classifier starts at random", c.Network.Weights, c.Data.Dataset)
	case c.Data.ImageSize < 8 && !c.Data.vectors():
		return fmt.Errorf("config: image size %d, want at least 8", c.Data.ImageSize)
	case s.Epochs < 1:
		return fmt.Errorf("config: %d epochs, want at least 1", s.Epochs)
	case s.EvaluateEvery < 0:
		return fmt.Errorf("config: evaluation every %d epochs, want 0 or more", s.EvaluateEvery)
	case s.PerDomain < 2:
		return fmt.Errorf("config: %d images per domain in a batch, want at least 2", s.PerDomain)
	case !slices.IsSorted(s.QueryAfter) || len(slices.Compact(slices.Clone(s.QueryAfter))) != len(s.QueryAfter):
		return fmt.Errorf("config: query epochs %v are not increasing", s.QueryAfter)
	case len(s.QueryAfter) > 0 && (s.QueryAfter[0] < 0 || s.QueryAfter[len(s.QueryAfter)-1] > s.Epochs-2):
		return fmt.Errorf("config: query epochs %v, want 0 to %d: labels asked after the last epoch are not trained on", s.QueryAfter, s.Epochs-2)
	case !(x.InitialShare > 0 && x.InitialShare <= 1):
		return fmt.Errorf("config: initial share of the budget %v, want above 0 to 1", x.InitialShare)
	case x.InitialShare < 1 && len(s.QueryAfter) == 0:
		return fmt.Errorf("config: no query epochs to spend %v of the budget in", 1-x.InitialShare)
	case s.Timing != "" && !slices.Contains(Timings(), s.Timing):
		return fmt.Errorf("config: timing %q, want one of %s", s.Timing, list(Timings()))
	case !slices.Contains(Protocols(), c.Protocol):
		return fmt.Errorf("config: protocol %q, want %q or %q", c.Protocol, PaperProtocol, OriginalProtocol)
	case s.EpochOf != OverUnlabelled && s.EpochOf != OverLabelled:
		return fmt.Errorf("config: an epoch of the images %q, want %q or %q", s.EpochOf, OverUnlabelled, OverLabelled)
	case !(o.DropAt >= 0 && o.DropAt < 1):
		return fmt.Errorf("config: rates drop at %v of the epochs, want 0 to below 1", o.DropAt)
	case x.Initial == (active.Uniform{}).Name() || x.Initial != "" && !slices.Contains(Initials(), x.Initial):
		return fmt.Errorf("config: initial labels by %q, want one of %s, which need no labels; empty for uniform", x.Initial, strings.Join(Initials(), ", "))
	case x.Domains == active.Pooled || x.Domains != "" && !slices.Contains(active.Divisions(), x.Domains):
		return fmt.Errorf("config: queries divided among domains %q, want one of %s; empty for pooled", x.Domains, list(active.Divisions()))
	case x.Oracle != Simulated && x.Oracle != People:
		return fmt.Errorf("config: oracle %q, want %q or none", x.Oracle, People)
	case x.Rounds != EvenRounds && x.Rounds != PublishedRounds:
		return fmt.Errorf("config: query rounds %q, want %q or %q", x.Rounds, EvenRounds, PublishedRounds)
	case !(x.WeightU >= 0 && x.Gamma1 >= 0 && x.Gamma2 >= 0) || math.IsInf(x.WeightU+x.Gamma1+x.Gamma2, 0):
		return fmt.Errorf("config: weight_u %v, gamma1 %v, gamma2 %v, want 0 or more", x.WeightU, x.Gamma1, x.Gamma2)
	case !(o.BackboneRate >= 0 && o.ClassHeadRate >= 0 && o.DomainHeadRate >= 0):
		return fmt.Errorf("config: learning rates %v, %v, %v, want 0 or more", o.BackboneRate, o.ClassHeadRate, o.DomainHeadRate)
	case !(g.ThresholdStart >= 0 && g.ThresholdStart <= 1 && g.ThresholdEnd >= 0 && g.ThresholdEnd <= 1):
		return fmt.Errorf("config: thresholds %v to %v, want 0 to 1", g.ThresholdStart, g.ThresholdEnd)
	case g.Reliable != NearestImages && g.Reliable != QuotaRandom:
		return fmt.Errorf("config: reliable set %q, want %q or %q", g.Reliable, NearestImages, QuotaRandom)
	case g.Base != OfUnlabelled && g.Base != OfAll:
		return fmt.Errorf("config: threshold base %q, want %q or %q", g.Base, OfUnlabelled, OfAll)
	}
	if err := s.checkShares(x.InitialShare); err != nil {
		return err
	}
	if _, ok := objective.ByName(g.Objective); !ok {
		return fmt.Errorf("config: no objective %q", g.Objective)
	}
	if g.Objective == FixMatch && g.Consistency == objective.Nothing {
		return fmt.Errorf("config: consistency %q is nothing for fixmatch: want %q or %q", g.Consistency, objective.OnUnlabelled, objective.Both)
	}
	if err := g.checkStyle(); err != nil {
		return err
	}
	if g.Average != "" && g.Average != EMA {
		return fmt.Errorf("config: average of weights %q, want %q; empty for none", g.Average, EMA)
	}
	if g.Threshold != "" && g.Threshold != FreeMatch {
		return fmt.Errorf("config: threshold %q, want %q; empty for tau", g.Threshold, FreeMatch)
	}
	if g.Threshold != "" && !g.thresholds() {
		return fmt.Errorf("config: threshold %q, but the objective has no threshold of confidence", g.Threshold)
	}
	if o := c.Objective(); g.Average != "" && o.Test != nil {
		return fmt.Errorf("config: objective %s predicts by heads of its own, which are not averaged", o.Name)
	}
	if err := c.Data.checkNormalisation(); err != nil {
		return err
	}
	if err := c.checkFit(c.Objective()); err != nil {
		return err
	}
	if err := g.settings().Validate(); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	vector := 0
	if c.Data.vectors() {
		vector = 1
	}
	options, err := c.LearnerOptions(2, 1, vector) // the data decide about the numbers
	if err != nil {
		return err
	}
	return options.Validate()
}

// Backbone returns the network that the settings describe.
func (n Network) Backbone() (nets.Backbone, error) { return n.backbone(0) }

// backbone returns the network that the settings describe, on feature vectors of a
// length or, if that is 0, on images.
func (n Network) backbone(vector int) (nets.Backbone, error) {
	if vector > 0 {
		switch n.Name {
		case "linear":
			return nets.Identity(vector)
		case "mlp":
			return nets.MLP(vector, n.Width)
		}
		return nets.Backbone{}, fmt.Errorf("config: network %q takes images, and the examples are feature vectors: want one of %s", n.Name, strings.Join(VectorNetworks(), ", "))
	}
	if slices.Contains(VectorNetworks(), n.Name) {
		return nets.Backbone{}, fmt.Errorf("config: network %q takes feature vectors, and the examples are images: want one of %s", n.Name, strings.Join(Networks(), ", "))
	}
	if n.Width < 1 {
		return nets.Backbone{}, fmt.Errorf("config: network width %d, want at least 1", n.Width)
	}
	switch n.Name {
	case "smallcnn":
		if n.Pooling != nets.MeanPool && n.Pooling != nets.FlattenPool {
			return nets.Backbone{}, fmt.Errorf("config: pooling %q, want %q or %q", n.Pooling, nets.MeanPool, nets.FlattenPool)
		}
		return nets.SmallCNN(n.Width, n.Pooling), nil
	}
	if version, ok := map[string]int{"efficientnet-lite0": 0, "efficientnet-lite1": 1, "efficientnet-lite2": 2}[n.Name]; ok {
		return nets.EfficientNetLite(version, n.Width)
	}
	if depth, ok := map[string]int{"resnet18": 18, "resnet34": 34, "resnet50": 50}[n.Name]; ok {
		return nets.ResNet(depth, n.Width)
	}
	return nets.Backbone{}, fmt.Errorf("config: network %q, want one of %s", n.Name, strings.Join(Networks(), ", "))
}

// VectorNetworks lists the backbones of feature vectors: a linear classifier, and one
// hidden layer of Network.Width.
func VectorNetworks() []string { return []string{"linear", "mlp"} }

// vectorOf returns the length of a data set's feature vectors, 0 for images.
func vectorOf(d *datasets.Dataset) int {
	if f, ok := d.Features(); ok {
		return f.Dim
	}
	return 0
}

// vectors reports whether the data set is one of feature vectors.
func (d Data) vectors() bool {
	info, _ := datasets.Lookup(d.Dataset)
	return info.Vectors
}

// Networks lists the backbones of images.
func Networks() []string {
	return []string{"smallcnn", "resnet18", "resnet34", "resnet50", "efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"}
}

// LearnerOptions returns the learner's part of the config, for a number of
// classes and of source domains, and feature vectors of a length, or 0 for images.
func (c Config) LearnerOptions(classes, domains, vector int) (learner.Options, error) {
	b, err := c.Network.backbone(vector)
	if err != nil {
		return learner.Options{}, err
	}
	return learner.Options{
		Backbone:    b,
		DomainHead:  nets.DomainHead{Hidden: c.Network.DomainHidden, ReLU: c.Network.DomainReLU},
		Objective:   c.Objective(),
		Precision:   c.Network.Precision,
		ImageSize:   c.Data.ImageSize,
		Classes:     classes,
		Domains:     domains,
		PerDomain:   c.Schedule.PerDomain,
		Momentum:    c.Optimizer.Momentum,
		WeightDecay: c.Optimizer.WeightDecay,
		Nesterov:    c.Optimizer.Nesterov,
	}, nil
}

// Objective returns what the networks are trained for.
func (c Config) Objective() objective.Objective {
	g := c.Generalization
	passes := objective.Passes{Reduction: g.Reduction, BatchNorm: g.BatchNorm, TargetPass: g.TargetPass}
	var o objective.Objective
	switch m, _ := objective.ByName(g.Objective); {
	case m.New != nil:
		o = m.New(objective.Run{Dataset: c.Data.Dataset, Width: c.Network.Width})
	case m.Name == FixMatch:
		o = objective.FixMatch(g.Tau, g.Consistency, passes)
	case m.Name == ermObjective:
		o = objective.ERM(passes)
	default:
		return g.switched(g.settings().Objective())
	}
	if g.DomainLoss {
		o = objective.WithDomainHead(o, passes, g.DomainFeatures)
	}
	return g.switched(o)
}

// switched adds the thresholds and the average that the settings ask for.
func (g Generalization) switched(o objective.Objective) objective.Objective {
	if g.Threshold == FreeMatch {
		o = objective.WithSelfAdaptive(o)
	}
	if g.Average == EMA && o.Test == nil && o.Fit == nil {
		return objective.WithAverage(o)
	}
	return o
}

// settings returns those of CEG's losses.
func (g Generalization) settings() objective.CEG {
	return objective.CEG{
		Consistency:    g.Consistency,
		Tau:            g.Tau,
		Delta:          g.Delta,
		IntraWeight:    g.IntraWeight,
		InterWeight:    g.InterWeight,
		DomainLoss:     g.DomainLoss,
		Reduction:      g.Reduction,
		BatchNorm:      g.BatchNorm,
		TargetPass:     g.TargetPass,
		DomainFeatures: g.DomainFeatures,
	}
}

// rates returns the learning rates of an epoch.
func (c Config) rates(epoch int) learner.Rates {
	f := c.rateFactor(epoch)
	o := c.Optimizer
	return learner.Rates{Backbone: o.BackboneRate * f, ClassHead: o.ClassHeadRate * f, DomainHead: o.DomainHeadRate * f}
}

// CosineFactor is the cosine schedule's factor on the learning rate in an epoch
// of 0..epochs-1: (1 + cos(pi*epoch/epochs)) / 2.
func CosineFactor(epoch, epochs int) float64 {
	return (1 + math.Cos(math.Pi*float64(epoch)/float64(epochs))) / 2
}
