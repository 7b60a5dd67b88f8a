package objective

import (
	"cmp"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/augment"
)

// Method is what is known of an objective by its name.
type Method struct {
	Name string
	// Line says in one line what it trains for, Citation whose it is.
	Line, Citation string
	// New returns it with the settings of its paper. nil means that package ceg has
	// settings for it.
	New func(r Run) Objective
	// Original returns the published code's optimisation for a data set of few or of
	// many classes; nil where nothing is published.
	Original func(manyClasses bool) *Recipe
	// Sums says that the losses are sums over domains whatever the settings, as large
	// as that many means.
	Sums bool
	// BackboneShare is what the backbone's learning rate is of the heads' in a network
	// from scratch; 0 means 1. A cosine's gradient is across the features and ever
	// lengthens them: at the heads' rate StyleMatch's grow a thousandfold in twenty steps
	// on glyphs and never learn, at a tenth of it they do.
	BackboneShare float64
	// NeedsStyle says that weights of AdaIN have to be given; see [StyleWeights].
	NeedsStyle bool
}

// Run is what settings of an objective may depend on: whether the data set is one of
// many classes to published codes that tell such sets apart, the backbone's number of
// channels in its first stage, and the share of RSCDomainBed, where 0 means DomainBed's.
type Run struct {
	ManyClasses bool
	Width       int
	RSCShare    float64
}

// Recipe is how a method's published code trains it. All of them have momentum 0.9.
type Recipe struct {
	Epochs int
	// Batch is the number of images of a step, of all source domains; for methods
	// with unlabelled images that of either kind.
	Batch int
	// Backbone and Head are learning rates for networks that begin from ImageNet.
	Backbone, Head float64
	WeightDecay    float64
	Nesterov       bool
	// Drop is the epoch from which on the rates are a tenth, 0 for the cosine.
	Drop int
	// Source says where the numbers are from.
	Source string
}

// always is a recipe for every data set.
func always(r Recipe) func(bool) *Recipe {
	r.WeightDecay = 5e-4
	return func(bool) *Recipe { return &r }
}

// plain is an objective without settings of a data set.
func plain(f func() Objective) func(Run) Objective { return func(Run) Objective { return f() } }

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

// Methods lists the objectives in the order of tables.
func Methods() []Method {
	rsc := always(Recipe{Epochs: 20, Batch: 64, Backbone: 0.01, Head: 0.01, Drop: 15, Source: "DeLightCMU/RSC's Domain_Generalization/train.py"})
	fact := func(manyClasses bool) *Recipe {
		r := Recipe{Epochs: 50, Batch: 16, Backbone: 0.001, Head: 0.001, WeightDecay: 5e-4, Nesterov: true, Drop: 39, Source: "MediaBrain-SJTU/FACT's config/PACS/ResNet50.py"}
		if manyClasses {
			r.Epochs, r.Drop, r.Source = 30, 23, "zhaoxin94/FACT's config/OfficeHome/ResNet50.py"
		}
		return &r
	}
	return []Method{
		{Name: "ceg", Line: "cross-entropy, consistency, and MixUp within and across domains on a reliable set",
			Citation: "Yuan et al., Label-Efficient Domain Generalization via Collaborative Exploration and Generalization, ACM MM 2022"},
		{Name: "erm", Line: "cross-entropy on the labelled images (DeepAll)",
			Citation: "Vapnik, Statistical Learning Theory, 1998", Original: vanilla},
		{Name: "fixmatch", Line: "cross-entropy, and consistency of strong views with sure pseudo-labels of weak ones",
			Citation: "Sohn et al., FixMatch: Simplifying Semi-Supervised Learning with Consistency and Confidence, NeurIPS 2020", Original: ssdg},
		{Name: "meanteacher", Line: "cross-entropy, and agreement with a moving average of the networks",
			Citation: "Tarvainen and Valpola, Mean teachers are better role models, NeurIPS 2017", New: plain(MeanTeacher)},
		{Name: "mixmatch", Line: "mixed images and labels, guessed ones of unlabelled images among them",
			Citation: "Berthelot et al., MixMatch: A Holistic Approach to Semi-Supervised Learning, NeurIPS 2019", New: plain(MixMatch)},
		{Name: "stylematch", Line: "fixmatch, also on images in another domain's style by AdaIN, and a stochastic class head; needs --style-weights",
			Citation: "Zhou et al., Semi-Supervised Domain Generalization with Stochastic StyleMatch, IJCV 2023",
			New:      plain(StyleMatch), Original: ssdg, Sums: true, BackboneShare: 0.1, NeedsStyle: true},
		{Name: "stylematch-amplitude", Line: "stylematch with mixed amplitudes of spectra in place of AdaIN, which is not StyleMatch",
			Citation: "after Zhou et al., IJCV 2023, and Xu et al., CVPR 2021", New: plain(StyleMatchAmplitude), Original: ssdg, Sums: true, BackboneShare: 0.1},
		{Name: "stylematch-rgb", Line: "stylematch with means and deviations of colours in place of AdaIN's, which is not StyleMatch",
			Citation: "after Zhou et al., IJCV 2023", New: plain(StyleMatchRGB), Original: ssdg, Sums: true, BackboneShare: 0.1},
		{Name: "jigen", Line: "cross-entropy, and the order of shuffled tiles by a second head",
			Citation: "Carlucci et al., Domain Generalization by Solving Jigsaw Puzzles, CVPR 2019",
			New:      plain(func() Objective { return JiGen(TileOrders()) }),
			Original: always(Recipe{Epochs: 30, Batch: 128, Backbone: 0.001, Head: 0.001, Nesterov: true, Drop: 24, Source: "fmcarlucci/JigenDG's README"})},
		{Name: "crossgrad", Line: "cross-entropy, also on images moved towards other domains, with a domain network",
			Citation: "Shankar et al., Generalizing Across Domains via Cross-Gradient Training, ICLR 2018", New: plain(CrossGrad), Original: vanilla},
		{Name: "ddaig", Line: "cross-entropy, also on images of a generator that a domain network is led astray by",
			Citation: "Zhou et al., Deep Domain-Adversarial Image Generation for Domain Generalisation, AAAI 2020",
			// As many channels as Dassl's generator has beside a resnet of full width.
			New:      func(r Run) Objective { return DDAIG(min(64, r.Width)) },
			Original: always(Recipe{Epochs: 25, Batch: 16, Backbone: 5e-4, Head: 5e-4, Drop: 20, Source: "Dassl's configs/trainers/dg/ddaig"})},
		{Name: "dael", Line: "an expert for every source domain, agreement of the others with it; tests by their mean",
			Citation: "Zhou et al., Domain Adaptive Ensemble Learning, IEEE TIP 2021", New: plain(DAEL),
			Original: always(Recipe{Epochs: 40, Batch: 30, Backbone: 0.002, Head: 0.002, Source: "Dassl's configs/trainers/dg/daeldg"})},
		{Name: "rsc", Line: "cross-entropy with the places or channels muted that the class head relies on most",
			Citation: "Huang et al., Self-Challenging Improves Cross-Domain Generalization, ECCV 2020", New: plain(RSC), Original: rsc},
		{Name: "rsc-domainbed", Line: "rsc in DomainBed's simpler form, which mutes entries of the features",
			Citation: "Gulrajani and Lopez-Paz, In Search of Lost Domain Generalization, ICLR 2021", New: func(r Run) Objective { return RSCDomainBed(cmp.Or(r.RSCShare, 1./3)) }},
		{Name: "fact", Line: "cross-entropy, also on images with mixed amplitudes, and agreement with a moving average across the mix",
			Citation: "Xu et al., A Fourier-based Framework for Domain Generalization, CVPR 2021",
			New: func(r Run) Objective {
				if r.ManyClasses {
					return FACT(200, 0.2)
				}
				return FACT(2, 1)
			}, Original: fact},
		{Name: "logistic", Line: "logistic regression on features, fitted at once; its strength by leaving out a domain",
			Citation: "Cox, The Regression Analysis of Binary Sequences, 1958; the choice of the strength is ours", New: plain(LogisticRegression)},
		{Name: "gda", Line: "Gaussians of one covariance for the classes of features, in closed form",
			Citation: "Wang et al., A Hard-to-Beat Baseline for Training-free CLIP-based Adaptation, ICLR 2024", New: plain(GDA)},
	}
}

// ByName returns the method of a name.
func ByName(name string) (Method, bool) {
	list := Methods()
	i := slices.IndexFunc(list, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return Method{}, false
	}
	return list[i], true
}

// WithDomainHead adds to an objective the training of the domain head, which query
// strategies that look at domains need: cross-entropy with the source domains of
// unlabelled images, on features of a pass of its own before the step (Reuse) or
// after it.
func WithDomainHead(o Objective, p Passes, when DomainFeatures) Objective {
	const images, domains = "domain head images", "domain head domains"
	step := o.Step
	o.Inputs = append(slices.Clone(o.Inputs), Images(images, Unlabelled, augment.WeakView), Domains(domains, Unlabelled))
	o.Step = func(s Step) {
		k := s.Dims().Domains
		features := func() *Node {
			return s.Forward(Backbone, View{Images: s.In(images), NoGrad: true, Frozen: p.TargetPass == FrozenStats, Parts: p.BatchNorm.parts(k)})[0]
		}
		var f *Node
		if when == Reuse {
			f = features()
		}
		step(s)
		if f == nil {
			f = features()
		}
		s.Minimise("dd", p.Reduction.over(CrossEntropy(s.Head(DomainHead, f), s.In(domains)), k), DomainHead)
	}
	return o
}
