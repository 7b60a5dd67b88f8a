package config

import (
	"slices"
	"strings"
	"sync"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/internal/registry"
)

// Objective describes a training objective without linking the engine. Package objective builds
// it.
type Objective struct {
	Name string
	// Title is its name in tables and figures, Short the abbreviation; empty for Name.
	Title, Short string
	// Line is a one-line description, Citation the source.
	Line, Citation string
	// Original returns the published code's optimisation settings for a data set with few or
	// many classes; nil if none are published.
	Original func(manyClasses bool) *Recipe
	// Reduced is true if Generalization.Reduction applies to its losses; Sums is true if they
	// are always sums over domains, K times as large as means.
	Reduced, Sums bool
	// BackboneShare is the ratio of the backbone's learning rate to the heads' in a network from
	// scratch; 0 means 1. StyleMatch needs a tenth: the gradient of a cosine is orthogonal to
	// the features, so their norm only grows. At the heads' rate it grows a thousandfold in
	// twenty steps on glyphs, and training fails.
	BackboneShare float64
	// NeedsStyle is true if weights of AdaIN are required.
	NeedsStyle bool
	// Unlabelled is true if it trains on unlabelled images, and Confidence if it thresholds the
	// confidence of pseudo-labels. Pixels is true if it needs pixels, OwnHeads if it predicts
	// with its own heads, and Fits if it fits its head to features without SGD. Names is true if it
	// starts from embeddings of the classes' names.
	Unlabelled, Confidence, Pixels, OwnHeads, Fits, Names bool
	// Code identifies the code of an objective that the program registered; see package
	// objective. It is empty for built-in ones.
	Code string
}

// Recipe holds the optimisation settings of a method's published code. Momentum is 0.9 in all of
// them.
type Recipe struct {
	Epochs int
	// Batch is the number of images of a step, over all source domains; for methods with
	// unlabelled images, the number of each kind.
	Batch int
	// Backbone and Head are learning rates with ImageNet weights.
	Backbone, Head float64
	WeightDecay    float64
	Nesterov       bool
	// Drop is the epoch from which learning rates are a tenth; 0 for the cosine schedule.
	Drop int
	// Source cites the source of the numbers.
	Source string
}

// Names of the objectives with settings of their own in Generalization, and of the one with a
// share.
const (
	CEG          = "ceg"
	ERM          = "erm"
	FixMatch     = "fixmatch"
	RSCDomainBed = "rsc-domainbed"
	CLAP         = "clap"
)

// always is a recipe for every data set.
func always(r Recipe) func(bool) *Recipe {
	r.WeightDecay = 5e-4
	return func(bool) *Recipe { return &r }
}

// vanilla is Dassl's configs/trainers/dg/vanilla, which CrossGrad, for which none is
// published, shares.
var vanilla = always(Recipe{Epochs: 50, Batch: 64, Backbone: 0.001, Head: 0.001, Source: "Dassl's configs/trainers/dg/vanilla"})

// ssdg is ssdg-benchmark's configs/trainers/StyleMatch.
func ssdg(manyClasses bool) *Recipe {
	r := Recipe{Epochs: 40, Batch: 48, Backbone: 0.003, Head: 0.01, WeightDecay: 5e-4, Source: "ssdg-benchmark's configs/trainers/StyleMatch"}
	if manyClasses {
		r.Epochs = 20
	}
	return &r
}

// fact is FACT's published configuration.
func fact(manyClasses bool) *Recipe {
	r := Recipe{Epochs: 50, Batch: 16, Backbone: 0.001, Head: 0.001, WeightDecay: 5e-4, Nesterov: true, Drop: 39, Source: "MediaBrain-SJTU/FACT's config/PACS/ResNet50.py"}
	if manyClasses {
		r.Epochs, r.Drop, r.Source = 30, 23, "zhaoxin94/FACT's config/OfficeHome/ResNet50.py"
	}
	return &r
}

var rsc = always(Recipe{Epochs: 20, Batch: 64, Backbone: 0.01, Head: 0.01, Drop: 15, Source: "DeLightCMU/RSC's Domain_Generalization/train.py"})

// added holds the objectives and networks that the program registered, in order of registration.
var added struct {
	sync.Mutex
	objectives []Objective
	networks   []NetworkInfo
}

// AddObjective adds an objective that the program registered. objective.Register calls it and has
// checked the name.
func AddObjective(o Objective) {
	added.Lock()
	defer added.Unlock()
	added.objectives = append(added.objectives, o)
}

func init() {
	for _, o := range builtIn {
		registry.Reserve("objective", o.Name)
	}
}

// Objectives lists the built-in training objectives and then those that the program registered, in
// the order of tables.
func Objectives() []Objective {
	added.Lock()
	defer added.Unlock()
	return slices.Concat(builtIn, added.objectives)
}

// builtIn holds the built-in objectives, in display order.
var builtIn = []Objective{
	{Name: CEG, Title: "CEG loss", Short: "CEG", Line: "cross-entropy, consistency, and MixUp within and across domains on a reliable set",
		Citation: "Yuan et al., Label-Efficient Domain Generalization via Collaborative Exploration and Generalization, ACM MM 2022",
		Reduced:  true, Unlabelled: true, Confidence: true},
	{Name: ERM, Title: "cross-entropy", Short: "CE", Line: "cross-entropy on the labelled images (DeepAll)",
		Citation: "Vapnik, Statistical Learning Theory, 1998", Original: vanilla, Reduced: true},
	{Name: FixMatch, Title: "FixMatch", Short: "FM", Line: "cross-entropy, and consistency of strong views with sure pseudo-labels of weak ones",
		Citation: "Sohn et al., FixMatch: Simplifying Semi-Supervised Learning with Consistency and Confidence, NeurIPS 2020", Original: ssdg,
		Reduced: true, Unlabelled: true, Confidence: true},
	{Name: "meanteacher", Title: "MeanTeacher", Short: "MT", Line: "cross-entropy, and agreement with a moving average of the networks",
		Citation: "Tarvainen and Valpola, Mean teachers are better role models, NeurIPS 2017", Unlabelled: true},
	{Name: "mixmatch", Title: "MixMatch", Short: "MM", Line: "mixed images and labels, with guessed labels for unlabelled images",
		Citation: "Berthelot et al., MixMatch: A Holistic Approach to Semi-Supervised Learning, NeurIPS 2019", Unlabelled: true},
	{Name: "stylematch", Title: "StyleMatch", Short: "SM", Line: "fixmatch, also on images in another domain's style by AdaIN, and a stochastic class head; needs --style-weights",
		Citation: "Zhou et al., Semi-Supervised Domain Generalization with Stochastic StyleMatch, IJCV 2023", Original: ssdg,
		Sums: true, BackboneShare: 0.1, NeedsStyle: true, Unlabelled: true, Confidence: true, Pixels: true, OwnHeads: true},
	{Name: "stylematch-amplitude", Title: "StyleMatch (amplitude)", Short: "SMa", Line: "stylematch with mixed amplitudes of spectra in place of AdaIN, which is not StyleMatch",
		Citation: "after Zhou et al., IJCV 2023, and Xu et al., CVPR 2021", Original: ssdg,
		Sums: true, BackboneShare: 0.1, Unlabelled: true, Confidence: true, Pixels: true, OwnHeads: true},
	{Name: "stylematch-rgb", Title: "StyleMatch (RGB)", Short: "SMr", Line: "stylematch with means and deviations of colours in place of AdaIN's, which is not StyleMatch",
		Citation: "after Zhou et al., IJCV 2023", Original: ssdg,
		Sums: true, BackboneShare: 0.1, Unlabelled: true, Confidence: true, Pixels: true, OwnHeads: true},
	{Name: "jigen", Title: "JiGen", Short: "JiGen", Line: "cross-entropy, and the order of shuffled tiles by a second head",
		Citation: "Carlucci et al., Domain Generalization by Solving Jigsaw Puzzles, CVPR 2019", Pixels: true,
		Original: always(Recipe{Epochs: 30, Batch: 128, Backbone: 0.001, Head: 0.001, Nesterov: true, Drop: 24, Source: "fmcarlucci/JigenDG's README"})},
	{Name: "crossgrad", Title: "CrossGrad", Short: "XGrad", Line: "cross-entropy, also on images moved towards other domains, with a domain network",
		Citation: "Shankar et al., Generalizing Across Domains via Cross-Gradient Training, ICLR 2018", Original: vanilla},
	{Name: "ddaig", Title: "DDAIG", Short: "DDAIG", Line: "cross-entropy, also on images of a generator that a domain network is led astray by",
		Citation: "Zhou et al., Deep Domain-Adversarial Image Generation for Domain Generalisation, AAAI 2020", Pixels: true,
		Original: always(Recipe{Epochs: 25, Batch: 16, Backbone: 5e-4, Head: 5e-4, Drop: 20, Source: "Dassl's configs/trainers/dg/ddaig"})},
	{Name: "dael", Title: "DAEL", Short: "DAEL", Line: "an expert for every source domain, agreement of the others with it; tests by their mean",
		Citation: "Zhou et al., Domain Adaptive Ensemble Learning, IEEE TIP 2021", OwnHeads: true,
		Original: always(Recipe{Epochs: 40, Batch: 30, Backbone: 0.002, Head: 0.002, Source: "Dassl's configs/trainers/dg/daeldg"})},
	{Name: "rsc", Title: "RSC", Short: "RSC", Line: "cross-entropy with the places or channels muted that the class head relies on most",
		Citation: "Huang et al., Self-Challenging Improves Cross-Domain Generalization, ECCV 2020", Original: rsc},
	{Name: RSCDomainBed, Title: "RSC (DomainBed)", Short: "RSCd", Line: "rsc in DomainBed's simpler form, which mutes entries of the features",
		Citation: "Gulrajani and Lopez-Paz, In Search of Lost Domain Generalization, ICLR 2021"},
	{Name: "fact", Title: "FACT", Short: "FACT", Line: "cross-entropy, also on images with mixed amplitudes, and agreement with a moving average across the mix",
		Citation: "Xu et al., A Fourier-based Framework for Domain Generalization, CVPR 2021", Original: fact, Pixels: true},
	{Name: "logistic", Title: "logistic regression", Short: "LR", Line: "logistic regression on features, L2 penalty selected by leave-one-domain-out",
		Citation: "Cox, The Regression Analysis of Binary Sequences, 1958; the selection of the penalty is ledg's own", Fits: true},
	{Name: "propagation", Title: "propagated labels + logistic regression", Short: "LP", Line: "logistic regression on labels and on pseudo-labels that spread over a graph of nearest neighbours",
		Citation: "Iscen et al., Label Propagation for Deep Semi-supervised Learning, CVPR 2019", Unlabelled: true, Fits: true},
	{Name: "gda", Title: "GDA", Short: "GDA", Line: "Gaussians of one covariance for the classes of features, in closed form",
		Citation: "Wang et al., A Hard-to-Beat Baseline for Training-free CLIP-based Adaptation, ICLR 2024", Fits: true, OwnHeads: true},
	{Name: CLAP, Title: "CLAP", Short: "CLAP", Line: "linear probe on features that starts from class names, with a penalty that keeps it near them",
		Citation: "Silva-Rodríguez et al., A Closer Look at the Few-Shot Adaptation of Large Vision-Language Models, CVPR 2024", Fits: true, Names: true},
}

// LookupObjective returns the objective called name; ok is false if there is none.
func LookupObjective(name string) (o Objective, ok bool) {
	list := Objectives()
	i := slices.IndexFunc(list, func(o Objective) bool { return o.Name == name })
	if i < 0 {
		return Objective{}, false
	}
	return list[i], true
}

func objectiveNames() []string {
	var names []string
	for _, o := range Objectives() {
		names = append(names, o.Name)
	}
	return names
}

// Methods lists the short method names: a query strategy for CEG's training; with the suffix
// -ce, for cross-entropy on the labelled images only; and objectives, which label the whole
// budget at random before training. STRATEGY+OBJECTIVE names any other pair.
func Methods() []string {
	var names []string
	for _, s := range active.Names() {
		names = append(names, s, s+"-ce")
	}
	for _, name := range objectiveNames() {
		if AtOnce(name) {
			names = append(names, name)
		}
	}
	return names
}

// AtOnce reports whether a method is an objective by itself, which labels upfront unless another
// timing is specified.
func AtOnce(name string) bool {
	_, ok := LookupObjective(name)
	return ok && name != CEG && name != ERM
}

// Method returns the short name of a query strategy with an objective.
func Method(strategy, objective string) string {
	switch objective {
	case CEG:
		return strategy
	case ERM:
		return strategy + "-ce"
	}
	return strategy + "+" + objective
}

// Called returns the method's name for a single run. If all labels were selected before
// training, it names the initial strategy in place of the query strategy.
func (c Config) Called() string {
	x := c.Exploration
	rest, ok := strings.CutPrefix(c.Method, x.Strategy)
	if !ok && AtOnce(c.Method) {
		rest, ok = "+"+c.Method, true
	}
	if ok && x.Initial != "" && len(c.Schedule.QueryAfter) == 0 {
		return x.Initial + rest
	}
	return c.Method
}

// SplitMethod returns the query strategy and the objective of a method's name; ok is false for
// an unknown name.
func SplitMethod(method string) (strategy, objective string, ok bool) {
	strategy, objective, both := strings.Cut(method, "+")
	if !both {
		objective = CEG
		if s, cut := strings.CutSuffix(method, "-ce"); cut {
			strategy, objective = s, ERM
		} else if AtOnce(method) {
			strategy, objective = active.Uniform{}.Name(), method
		}
	}
	_, known := LookupObjective(objective)
	strategy = active.Canonical(strategy)
	return strategy, objective, known && slices.Contains(active.Names(), strategy)
}

// usesDomains reports whether a strategy looks at domain probabilities.
func usesDomains(strategy string) bool {
	s, err := active.ByName(strategy, active.Options{Weights: active.Gammas(1, 1)})
	return err == nil && s.Needs().Has(active.DomainProbs)
}
