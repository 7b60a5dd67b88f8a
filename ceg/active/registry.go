package active

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// Entry describes a registered query strategy.
type Entry struct {
	Name string
	// Title is its name in tables and figures, Short the abbreviation; empty for Name.
	Title, Short string
	// Line is a one-line description, Citation the source, "-" for none.
	Line, Citation string
	// New returns the strategy; it reads the options that apply to it.
	New func(o Options) Strategy
	// Code identifies the code of a strategy that the program registered; see [Register].
	// It is empty for built-in ones.
	Code string
}

const cegPaper = "Yuan et al., Label-Efficient Domain Generalization via Collaborative Exploration and Generalization, ACM MM 2022"

// builtIn holds the built-in strategies, in display order.
var builtIn = []Entry{
	{"ceg", "CEG selection", "CEG", "images of high uncertainty, representativeness and diversity, by weighted ranks",
		cegPaper,
		func(o Options) Strategy { return cegOf(o) }, ""},
	{"ceg-batch", "CEG batch selection", "CEGb", "as ceg, and far from each other within a query",
		cegPaper + "; the batch is ours",
		func(o Options) Strategy { return BatchCEG{cegOf(o)} }, ""},
	{"ceg-balanced", "CEG balanced selection", "CEGd", "as ceg, with ranks and numbers domain by domain",
		cegPaper + "; the balance is ours",
		func(o Options) Strategy { return BalancedCEG{cegOf(o)} }, ""},
	{"uniform", "Random", "Rand", "images at random",
		"-",
		func(Options) Strategy { return Uniform{} }, ""},
	{"entropy", "Entropy", "Entr", "images of the highest entropy",
		"Shannon, A Mathematical Theory of Communication, 1948",
		func(o Options) Strategy { return Probability{MaxEntropy, o.SoftmaxTwice, o.TieSeed} }, ""},
	{"bvsb", "BvSB", "BvSB", "images whose two best classes are closest (alias margin)",
		"Joshi, Porikli and Papanikolopoulos, Multi-class Active Learning for Image Classification, CVPR 2009",
		func(o Options) Strategy { return Probability{MinMargin, o.SoftmaxTwice, o.TieSeed} }, ""},
	{"confidence", "Confidence", "Conf", "images of the lowest top probability",
		"Lewis and Gale, A Sequential Algorithm for Training Text Classifiers, SIGIR 1994",
		func(o Options) Strategy { return Probability{MinConfidence, o.SoftmaxTwice, o.TieSeed} }, ""},
	{"coreset", "CoreSet", "CorS", "images farthest from all labelled ones, by greedy k-centre",
		"Sener and Savarese, Active Learning for Convolutional Neural Networks: A Core-Set Approach, ICLR 2018",
		func(o Options) Strategy { return CoreSet{TieSeed: o.TieSeed} }, ""},
	{"badge", "BADGE", "BADGE", "images of large and different gradients, by k-means++",
		"Ash et al., Deep Batch Active Learning by Diverse, Uncertain Gradient Lower Bounds, ICLR 2020",
		func(o Options) Strategy { return BADGE{WithoutBias: o.WithoutBias, TieSeed: o.TieSeed} }, ""},
	{"kmeans", "k-means", "kM", "images nearest to the centres of k-means",
		"Zhdanov, Diverse mini-batch Active Learning, 2019",
		func(o Options) Strategy { return KMeans{TieSeed: o.TieSeed} }, ""},
	{"typiclust", "TypiClust", "Typi", "the most typical image of each cluster with fewest labels",
		"Hacohen, Dekel and Weinshall, Active Learning on a Budget: Opposite Strategies Suit High and Low Budgets, ICML 2022",
		func(o Options) Strategy { return TypiClust{TieSeed: o.TieSeed} }, ""},
	{"probcover", "ProbCover", "ProbC", "images whose balls cover most others",
		"Yehuda et al., Active Learning Through a Covering Lens, NeurIPS 2022",
		func(o Options) Strategy { return ProbCover{Radius: o.Radius, Classes: o.Classes, TieSeed: o.TieSeed} }, ""},
	{"maxherding", "MaxHerding", "MaxH", "images that are most like all others",
		"Bae, Noh and Sutherland, Generalized Coverage for More Robust Low-Budget Active Learning, ECCV 2024",
		func(o Options) Strategy { return MaxHerding{TieSeed: o.TieSeed} }, ""},
	{"uherding", "UHerding", "UH", "images that are most like all uncertain ones",
		"Bae, Oliveira and Sutherland, Uncertainty Herding: One Active Learning Method for All Label Budgets, ICLR 2025",
		func(o Options) Strategy { return UHerding{TieSeed: o.TieSeed} }, ""},
	{"uherding-s1", "UHerding (width 1)", "UH1", "as uherding, with a kernel of width 1",
		"Bae, Oliveira and Sutherland, ICLR 2025; the width is ours",
		func(o Options) Strategy { return UHerding{Radius: 1, TieSeed: o.TieSeed} }, ""},
	{"bait", "BAIT", "BAIT", "images that lower the Fisher information bound of the pool most",
		"Ash et al., Gone Fishing, NeurIPS 2021; Huseljic et al., Fast Fishing, ECML PKDD 2024",
		func(o Options) Strategy { return BAIT{TieSeed: o.TieSeed} }, ""},
	{"bait-equal", "BAIT (equal weights)", "BAITe", "as bait, with the weight of a labelled image for each new one",
		"Ash et al., NeurIPS 2021; Huseljic et al., ECML PKDD 2024; the weight is ours",
		func(o Options) Strategy { return BAIT{Equal: true, TieSeed: o.TieSeed} }, ""},
	{"dropquery", "DropQuery", "DropQ", "images whose class changes when features are dropped, by k-means",
		"Gupte et al., Revisiting Active Learning in the Era of Vision Foundation Models, TMLR 2024",
		func(o Options) Strategy { return DropQuery{TieSeed: o.TieSeed} }, ""},
	{"tcm", "TCM", "TCM", "as typiclust for three rounds, then as bvsb",
		"Doucet, Estermann, Aczel and Wattenhofer, Bridging Diversity and Uncertainty in Active Learning with Self-Supervised Pre-Training, 2024",
		func(o Options) Strategy { return TCM{TieSeed: o.TieSeed} }, ""},
}

// Registry returns the built-in strategies and then those that the program registered, in
// display order.
func Registry() []Entry {
	registered.Lock()
	defer registered.Unlock()
	return slices.Concat(builtIn, registered.entries)
}

// aliases are other names of strategies that people use.
var aliases = map[string]string{"margin": "bvsb"}

// Canonical returns the name of the registry for a strategy's name or alias: bvsb for margin.
func Canonical(name string) string { return cmp.Or(aliases[name], name) }

// Lookup returns the strategy with a name or an alias; ok is false if there is none.
func Lookup(name string) (e Entry, ok bool) {
	list := Registry()
	i := slices.IndexFunc(list, func(e Entry) bool { return e.Name == Canonical(name) })
	if i < 0 {
		return Entry{}, false
	}
	return list[i], true
}

// Options are the settings of all strategies; each reads those that apply to it.
type Options struct {
	// Weights are the rank weights of ceg, ceg-batch and ceg-balanced.
	Weights Weights
	// Space is the feature space of their diversity score.
	Space cluster.Space
	// SoftmaxTwice applies to these and to entropy, bvsb and confidence: a second softmax, as
	// the published code has by mistake.
	SoftmaxTwice bool
	// WithoutBias applies to badge: the variant of the original paper.
	WithoutBias bool
	// Classes is the number of classes; probcover needs it unless it has a Radius.
	Classes int
	// Radius is the radius of probcover's balls; 0 selects it.
	Radius float64
	// TieSeed applies to all strategies that rank or compare; see [Ties].
	TieSeed uint64
}

func cegOf(o Options) CEG {
	return CEG{Weights: o.Weights, Space: o.Space, SoftmaxTwice: o.SoftmaxTwice, TieSeed: o.TieSeed}
}

// Strategies returns the strategies of [Registry] with the options.
func Strategies(o Options) []Strategy {
	var all []Strategy
	for _, e := range Registry() {
		all = append(all, e.New(o))
	}
	return all
}

// Names lists the names of [Registry].
func Names() []string {
	var names []string
	for _, e := range Registry() {
		names = append(names, e.Name)
	}
	return names
}

// ByName returns the strategy of that name with the options.
func ByName(name string, o Options) (Strategy, error) {
	e, ok := Lookup(name)
	if !ok {
		return nil, fmt.Errorf("query strategy %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	return e.New(o), nil
}

// Cold reports whether a strategy can select the first labels: it needs neither labels nor
// predictions.
func Cold(s Strategy) bool {
	const cold = Features | LabelledFeatures | Domains | LabelledDomains
	return s.Needs()&^cold == 0
}

// ColdNames lists the names of the [Cold] strategies of this package.
func ColdNames() []string {
	var names []string
	for _, e := range Registry() {
		if Cold(e.New(Options{})) {
			names = append(names, e.Name)
		}
	}
	return names
}
