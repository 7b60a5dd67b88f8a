package objective

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/augment"
)

// Method is what is known of an objective by its name.
type Method struct {
	Name string
	// Line says in one line what it trains for, Citation whose it is.
	Line, Citation string
	// New returns it with the settings of its paper. nil means that package ceg has
	// settings for it.
	New func() Objective
}

// Methods lists the objectives in the order of tables.
func Methods() []Method {
	return []Method{
		{"ceg", "cross-entropy, consistency, and MixUp within and across domains on a reliable set",
			"Yuan et al., Label-Efficient Domain Generalization via Collaborative Exploration and Generalization, ACM MM 2022", nil},
		{"erm", "cross-entropy on the labelled images (DeepAll)",
			"Vapnik, Statistical Learning Theory, 1998", nil},
		{"fixmatch", "cross-entropy, and consistency of strong views with sure pseudo-labels of weak ones",
			"Sohn et al., FixMatch: Simplifying Semi-Supervised Learning with Consistency and Confidence, NeurIPS 2020", nil},
		{"meanteacher", "cross-entropy, and agreement with a moving average of the networks",
			"Tarvainen and Valpola, Mean teachers are better role models, NeurIPS 2017", MeanTeacher},
		{"crossgrad", "cross-entropy, also on images moved towards other domains, with a domain network",
			"Shankar et al., Generalizing Across Domains via Cross-Gradient Training, ICLR 2018", CrossGrad},
		{"mixmatch", "mixed images and labels, guessed ones of unlabelled images among them",
			"Berthelot et al., MixMatch: A Holistic Approach to Semi-Supervised Learning, NeurIPS 2019", MixMatch},
		{"jigen", "cross-entropy, and the order of shuffled tiles by a second head",
			"Carlucci et al., Domain Generalization by Solving Jigsaw Puzzles, CVPR 2019", func() Objective { return JiGen(TileOrders()) }},
		{"rsc", "cross-entropy with the places or channels muted that the class head relies on most",
			"Huang et al., Self-Challenging Improves Cross-Domain Generalization, ECCV 2020", RSC},
		{"rsc-domainbed", "rsc in DomainBed's simpler form, which mutes entries of the features",
			"Gulrajani and Lopez-Paz, In Search of Lost Domain Generalization, ICLR 2021", RSCDomainBed},
		{"dael", "an expert for every source domain, agreement of the others with it; tests by their mean",
			"Zhou et al., Domain Adaptive Ensemble Learning, IEEE TIP 2021", DAEL},
		{"fact", "cross-entropy, also on images with mixed amplitudes, and agreement with a moving average across the mix",
			"Xu et al., A Fourier-based Framework for Domain Generalization, CVPR 2021", FACT},
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
// unlabelled images, on features of a pass of its own that changes nothing else.
func WithDomainHead(o Objective) Objective {
	const images, domains = "domain head images", "domain head domains"
	step := o.Step
	o.Inputs = append(slices.Clone(o.Inputs), Images(images, Unlabelled, augment.WeakView), Domains(domains, Unlabelled))
	o.Step = func(s Step) {
		step(s)
		f := s.Forward(Backbone, View{Images: s.In(images), NoGrad: true, Frozen: true})[0]
		s.Minimise("dd", MeanOverDomains.over(CrossEntropy(s.Head(DomainHead, f), s.In(domains)), s.Dims().Domains), DomainHead)
	}
	return o
}
