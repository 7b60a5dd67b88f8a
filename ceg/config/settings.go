package config

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets"
)

// Setting is one setting of a run, the field of [Config] at its path, with all that is
// known of it: the flags of ledg train, the keys of study files, what is valid, what it
// is when nobody says it, and how configs of older formats are read are made from these.
type Setting struct {
	// Path is its dotted name in config.json.
	Path string
	// Flag is its flag of ledg train; empty for none, and it can be set by --set.
	Flag string
	// Help says what it is.
	Help string
	// Zero is the word that stands for the empty value.
	Zero string
	// Words lists its valid texts; nil for any text, and for what is no text.
	Words func() []string
	// Range is where a number, or each of a list, has to be, as an interval: "(0, 1]".
	Range string
	// Default says in words where its value comes from when nobody says it; value is that.
	Default string
	value   func(d *draft) any
	// Since is the first format of config.json that has it, Before the JSON value that
	// stands for it in older ones.
	Since  int
	Before string
	// unsaid are other JSON values that an identity leaves out; see [Config.Identity].
	unsaid []string
}

// words makes a list of the texts of a type.
func words[T ~string](list ...T) func() []string {
	return func() []string {
		names := make([]string, len(list))
		for i, t := range list {
			names[i] = string(t)
		}
		return names
	}
}

// is is a default that is always the same.
func is(v any) func(*draft) any { return func(*draft) any { return v } }

// byPreset is a default that the paper's reading and the published code's differ in.
func byPreset(paper, authors any) func(*draft) any {
	return func(d *draft) any {
		if d.Preset == Paper {
			return paper
		}
		return authors
	}
}

const (
	dataSets = "the data set's"
	presets  = "the preset's"
)

// Settings lists the settings in an order in which every default depends only on those
// before it.
func Settings() []Setting { return slices.Clone(table) }

var table = []Setting{
	{Path: "data.dataset", Flag: "dataset", Help: "data set", Words: datasets.Names,
		Default: "glyphs", value: is(datasets.Drawn)},
	{Path: "data.target", Flag: "target", Help: "domain that is held out, or none to train on all",
		Default: "none; it has to be said", value: is("")},
	{Path: "preset", Flag: "preset", Help: "authors (what the published code does, as published numbers were made), paper (the equations as written), or ledg (authors with FixMatch, all labels before training, and twice the epochs for networks of images that begin at random; on features and with pretrained weights MaxHerding chooses the labels, and on features it trains on square roots of these, in batches of 8 a domain at twice the rates, in 20 epochs)", Words: words(Presets()...),
		Default: "authors", value: is(Authors)},
	{Path: "exploration.strategy", Flag: "strategy", Help: "query strategy; see ledg methods", Words: active.Names,
		Default: "the method's: ceg, and uniform under the preset ledg", value: func(d *draft) any {
			if d.Preset == Ledg {
				return active.Uniform{}.Name()
			}
			return CEG
		}},
	{Path: "generalization.objective", Flag: "objective", Help: "what the networks are trained for; see ledg methods", Words: objectiveNames,
		Default: "the method's: ceg, and fixmatch under the preset ledg", value: func(d *draft) any {
			if d.Preset == Ledg {
				return FixMatch
			}
			return CEG
		}, Since: 2, Before: `""`, unsaid: []string{`"ceg"`, `"erm"`, `"fixmatch"`}},
	{Path: "method", Flag: "method", Help: "short form of --strategy and --objective; see ledg methods",
		Default: "STRATEGY, STRATEGY-ce or STRATEGY+OBJECTIVE; fixmatch under the preset ledg", value: func(d *draft) any {
			if d.Preset == Ledg && !d.isSaid("exploration.strategy") && !d.isSaid("generalization.objective") {
				return d.Generalization.Objective
			}
			return Method(d.Exploration.Strategy, d.Generalization.Objective)
		}},
	{Path: "protocol", Flag: "protocol", Help: "optimisation of an objective that is not CEG's: paper (CEG's, for all) or original (that of its published code: epochs, batch, momentum, decay, schedule, and with --weights the rates)", Words: words(PaperProtocol, OriginalProtocol),
		Default: "paper", value: is(PaperProtocol), Since: 3, Before: `"paper"`},
	{Path: "seed", Flag: "seed", Help: "seed of every random choice",
		Default: "1", value: is(1)},

	{Path: "data.split_seed", Flag: "split-seed", Help: "seed of the train/val split where none is official",
		Default: "0", value: is(0)},
	{Path: "data.pool_share", Help: "share of each source domain's training images that there are; the others are not looked at", Zero: "all", Range: "(0, 1)",
		Default: "all", value: is(0)},
	{Path: "data.pool_seed", Help: "seed that draws this share; 0 for the run's", Range: "[0, inf)",
		Default: "0", value: is(0)},
	{Path: "data.classes", Flag: "classes", Help: "classes of your own images, which folders and labels name otherwise",
		Default: "none", value: is([]string(nil))},
	{Path: "data.labels", Help: "digest of the labels that a file gives (--labels)",
		Default: "none", value: is("")},
	{Path: "data.group", Flag: "group", Help: "images that belong together (a patient, a burst, a folder of frames) and that no split divides: a regular expression over their paths, whose first capture group, or else its match, names the group",
		Default: "none; or a column group of --labels", value: is("")},
	{Path: "network.weights", Flag: "weights", Help: "weights that the network starts from: none, imagenet, or a .safetensors or PyTorch file; they come with the paper's learning rates, 0.003 and 0.01 for the heads", Zero: NoWeights,
		Default: "none", value: is((*Weights)(nil)), Since: 2, Before: `null`},
	{Path: "generalization.style_weights", Flag: "style-weights", Help: "folder with the weights of pytorch-AdaIN, vgg_normalised.pth and decoder.pth, which the objective stylematch needs", Zero: NoWeights,
		Default: "none", value: is((*Weights)(nil)), Since: 3, Before: `null`},
	{Path: "data.image_size", Flag: "image-size", Help: "side of the images in pixels", Range: "[8, 4096]",
		Default: dataSets, value: func(d *draft) any { return d.info().ImageSize }},
	{Path: "data.normalise", Flag: "normalise", Help: "what is made of feature vectors first: none, root (sign(x) sqrt|x|), unit (divided by their length) or root-unit (both)", Zero: "none", Words: words(RootFeatures, UnitFeatures, RootUnitFeatures),
		Default: "none; root on features under the preset ledg", value: func(d *draft) any {
			if d.chosenOnFeatures() {
				return RootFeatures
			}
			return ""
		}},

	{Path: "network.name", Flag: "net", Help: "network, or a file .onnx whose weights are trained on, or hf:OWNER/NAME (or hf:OWNER/NAME@REVISION) for that of the Hugging Face hub", Words: func() []string { return append(append(NetworkNames(false), NetworkNames(true)...), Imported) },
		Default: "smallcnn; linear on features", value: func(d *draft) any {
			if d.info().Vectors {
				return Linear
			}
			return "smallcnn"
		}},
	{Path: "network.width", Flag: "width", Help: "channels of smallcnn, of the first stage of a resnet, of the first convolution of an efficientnet-lite, of mlp's layer", Range: "[1, 8192]",
		Default: "the data set's; the published one of efficientnet-lite, and with --weights imagenet", value: (*draft).width},
	{Path: "network.pooling", Help: "what makes a feature vector of smallcnn's maps", Words: words(MeanPool, FlattenPool),
		Default: "flatten; mean on features", value: func(d *draft) any {
			if d.info().Vectors {
				return MeanPool
			}
			return FlattenPool
		}},
	{Path: "network.precision", Flag: "precision", Help: "numbers that the network computes in: tf32 (float32, rounded to TF32 where an NVIDIA GPU is faster so), float32, or bfloat16 (XLA only; weights stay float32)",
		Words:   func() []string { return []string{TF32.String(), Float32.String(), BFloat16.String()} },
		Default: "tf32", value: is(TF32.String()), Since: 2, Before: `"tf32"`},
	{Path: "network.devices", Flag: "devices", Help: "devices of the backend that share each batch of images, to the losses and gradients of one but for rounding (XLA only)", Zero: "1", Range: "[1, 1024]",
		Default: "1", value: is(1)},
	{Path: "network.freeze", Flag: "freeze", Help: "part of the network that does not learn: head (all but the heads), norm (scales and shifts of normalisation), or a number of its first stages (conv1, layer1 .. layer4 of a ResNet; what comes before the blocks, and each block, of a transformer); with any, BatchNorm takes its running statistics", Zero: "none",
		Default: "none", value: is("")},
	{Path: "data.views", Flag: "views", Help: "views of each image (a plain one, a weak one, then strong ones) that the frozen part of the network computes once, before training draws from them; the rest of it then learns faster, from fewer views, and what mixes images mixes their maps", Zero: "anew", Range: "[3, 1000]",
		Default: "made anew each time", value: is(0)},
	{Path: "network.head_epochs", Flag: "head-epochs", Help: "first epochs in which the heads alone learn, as with --freeze head (BatchNorm takes its running statistics, which stay), before all of the network does (linear probing, then fine-tuning)", Range: "[0, 1000000]",
		Default: "0", value: is(0)},
	{Path: "network.lora_rank", Flag: "lora-rank", Help: "rank of low-rank adapters (LoRA) on every linear layer of the network in an ONNX file, which learn at the backbone's rate in its place; 0 for none", Range: "[0, 8192]",
		Default: "0", value: is(0)},
	{Path: "network.lora_alpha", Flag: "lora-alpha", Help: "alpha of the adapters, whose products are multiplied by alpha divided by the rank", Zero: "rank", Range: "(0, inf)",
		Default: "the rank, which multiplies by 1", value: is(0)},
	{Path: "network.output", Help: "value of the network in an ONNX file that features are made of", Zero: "only",
		Default: "its only output", value: is("")},
	{Path: "network.tokens", Help: "what is taken of an output of tokens: class (the first), mean (of all) or patches (the mean of the others)", Zero: "none", Words: words(datasets.Pools...),
		Default: "none", value: is("")},
	{Path: "network.pixels", Help: "how images are normalised for the network in an ONNX file: imagenet, clip, half (values -1 to 1) or unit (0 to 1)", Zero: "imagenet", Words: words(CLIPPixels, HalfPixels, UnitPixels),
		Default: "imagenet", value: is("")},
	{Path: "network.domain_hidden", Help: "widths of the domain head's hidden layers", Range: "[1, 8192]",
		Default: "128 and 64", value: is([]int{128, 64})},
	{Path: "network.domain_relu", Help: "activations between them", Default: presets, value: byPreset(true, false)},

	{Path: "generalization.reduction", Help: "how losses are reduced over domains", Words: words(MeanOverDomains, SumOverDomains),
		Default: presets, value: byPreset(MeanOverDomains, SumOverDomains)},
	{Path: "schedule.epochs", Flag: "epochs", Help: "number of epochs", Range: "[1, 1000000]",
		Default: "the data set's, under the preset ledg 20 on features and twice the data set's on images without weights, or the protocol's", value: (*draft).epochs},
	{Path: "schedule.per_domain", Help: "images of a domain in a batch", Range: "[2, 65536]",
		Default: "16, or the protocol's; 8 on features under the preset ledg", value: (*draft).perDomain},
	{Path: "schedule.epoch_of", Help: "images that an epoch is one pass over", Words: words(OverUnlabelled, OverLabelled),
		Default: "the unlabelled; under the protocol original of objectives that train with labels alone the labelled", Since: 3, Before: `"unlabelled"`, value: func(d *draft) any {
			if d.recipe() != nil && !d.objective().Unlabelled {
				return OverLabelled
			}
			return OverUnlabelled
		}},
	{Path: "schedule.evaluate_every", Help: "epochs from one evaluation to the next", Range: "[0, 1000000]",
		Default: "0: every epoch", value: is(0), Since: 2, Before: `0`},
	{Path: "schedule.timing", Flag: "timing", Help: "when labels are asked for: published (half at random before training, the rest in its second half), early (a quarter, the rest in the first quarter of training) or once (all before training)", Words: words(Published, Early, Once),
		Default: "once for objectives that are methods, such as fixmatch, under the preset ledg, and on glyphs and folders without a preset or an initial share; otherwise published", value: (*draft).timing, Since: 2, Before: `"published"`},
	{Path: "schedule.query_after", Help: "epochs after which labels are asked for, counted from 0", Range: "[0, 1000000]",
		Default: "the timing's", value: (*draft).queryAfter},
	{Path: "schedule.query_shares", Help: "share of the budget that is asked for after each of them", Range: "(0, 1)",
		Default: "none: by exploration.rounds", value: is([]float64(nil)), Since: 2, Before: `null`},

	{Path: "optimizer.backbone_rate", Help: "learning rate of the backbone", Range: "[0, inf)",
		Default: "0.003 with weights, or the protocol's; from scratch as the heads, or less", value: (*draft).backboneRate},
	{Path: "optimizer.class_head_rate", Help: "learning rate of the class head", Range: "[0, inf)",
		Default: "0.01 with weights, or the protocol's; from scratch the data set's, a third of it for sums over domains, twice that on features under the preset ledg, of ceg, erm and fixmatch", value: (*draft).classHeadRate},
	{Path: "optimizer.domain_head_rate", Help: "learning rate of the domain head", Range: "[0, inf)",
		Default: "0.01 with weights; from scratch as the class head", value: (*draft).domainHeadRate},
	{Path: "optimizer.momentum", Help: "momentum", Range: "[0, 1)", Default: "0.9", value: is(0.9)},
	{Path: "optimizer.weight_decay", Help: "weight decay", Range: "[0, inf)",
		Default: "0.0005, or the protocol's", value: func(d *draft) any {
			if r := d.recipe(); r != nil {
				return r.WeightDecay
			}
			return 5e-4
		}},
	{Path: "optimizer.nesterov", Help: "Nesterov's momentum", Default: "false, or the protocol's", Since: 3, Before: `false`, value: func(d *draft) any {
		r := d.recipe()
		return r != nil && r.Nesterov
	}},
	{Path: "optimizer.drop_at", Help: "share of the epochs after which rates are a tenth, 0 for the cosine", Range: "[0, 1)",
		Default: "0, or the protocol's", Since: 3, Before: `0`, value: func(d *draft) any {
			if r := d.recipe(); r != nil {
				return float64(r.Drop) / float64(r.Epochs)
			}
			return 0
		}},

	{Path: "exploration.budget", Flag: "budget", Help: "labels to spend: a number, or a share of the source training images that there are",
		Default: "5%", value: is("5%")},
	{Path: "exploration.initial_share", Flag: "initial-share", Help: "share of the budget that is labelled before training; 1 asks for nothing later", Range: "(0, 1]",
		Default: "the timing's", value: (*draft).initialShare},
	{Path: "exploration.initial", Flag: "initial", Help: "strategy that chooses the labels before training, by the features of the network that it starts from (--weights)", Zero: "uniform",
		Words: func() []string {
			return slices.DeleteFunc(active.ColdNames(), func(s string) bool { return s == (active.Uniform{}).Name() })
		},
		Default: "uniform; maxherding on features and with weights under the preset ledg", Since: 4, Before: `""`, value: func(d *draft) any {
			if d.chosenOnFeatures() || d.Preset == Ledg && d.Network.Weights != nil {
				return "maxherding"
			}
			return ""
		}},
	{Path: "exploration.domains", Flag: "domains", Help: "how each query is divided among the source domains", Zero: string(active.Pooled), Words: words(active.ByStratum, active.ByShare, active.Balanced),
		Default: "pooled", value: is(""), Since: 4, Before: `""`},
	{Path: "exploration.rounds", Help: "how labels are divided among the query epochs", Words: words(EvenRounds, PublishedRounds),
		Default: presets, value: byPreset(EvenRounds, PublishedRounds)},
	{Path: "exploration.weight_u", Help: "weight of the rank of uncertainty", Range: "[0, inf)", Default: "1", value: is(1)},
	{Path: "exploration.gamma1", Help: "weight of the rank of representativeness", Range: "[0, inf)",
		Default: "the preset's for the data set", value: func(d *draft) any { return d.gammas()[0] }},
	{Path: "exploration.gamma2", Help: "weight of the rank of diversity", Range: "[0, inf)",
		Default: "the preset's for the data set", value: func(d *draft) any { return d.gammas()[1] }},
	{Path: "exploration.oracle", Flag: "oracle", Help: "who answers: simulated (the classes of the data set) or ask (people, with ledg label)", Zero: "simulated", Words: words(People),
		Default: "simulated", value: is("")},
	{Path: "exploration.begun", Help: "digest of the labels that the run begins with, another's (ledg extend)",
		Default: "none", value: is("")},
	{Path: "exploration.softmax_twice", Help: "softmax of probabilities once more before scoring", Default: presets, value: byPreset(false, true)},
	{Path: "exploration.phi_centroids", Help: "centroids and distances of [f,1]/|[f,1]|", Default: presets, value: byPreset(false, true)},

	{Path: "generalization.consistency", Help: "images of L_ac", Words: words(Nothing, OnUnlabelled, Both),
		Default: "the preset's; nothing for objectives but ceg and fixmatch", value: func(d *draft) any {
			switch {
			case d.Generalization.Objective != CEG && d.Generalization.Objective != FixMatch:
				return Nothing
			case d.Preset == Paper:
				return OnUnlabelled
			}
			return Both
		}},
	{Path: "generalization.tau", Help: "threshold of confidence of L_ac", Range: "[0, 1]", Default: "0.95", value: is(0.95)},
	{Path: "generalization.delta", Help: "weight of L_eg", Range: "[0, inf)",
		Default: "the data set's; 0 for objectives but ceg", value: func(d *draft) any {
			if d.Generalization.Objective != CEG {
				return 0
			}
			return d.info().Recipe.Delta
		}},
	{Path: "generalization.intra_weight", Help: "weight of MixUp within domains in L_eg", Range: "[0, inf)", Default: "0.5", value: is(0.5)},
	{Path: "generalization.inter_weight", Help: "weight of MixUp across domains in L_eg", Range: "[0, inf)", Default: "0.5", value: is(0.5)},
	{Path: "generalization.reliable", Help: "how the reliable set is chosen", Words: words(NearestImages, QuotaRandom),
		Default: presets, value: byPreset(NearestImages, QuotaRandom)},
	{Path: "generalization.threshold_start", Help: "T before training, a share", Range: "[0, 1]",
		Default: "half of the data set's T", value: func(d *draft) any { return d.info().Recipe.Threshold / 2 }},
	{Path: "generalization.threshold_end", Help: "T after training, a share", Range: "[0, 1]",
		Default: "the data set's T", value: func(d *draft) any { return d.info().Recipe.Threshold }},
	{Path: "generalization.threshold_base", Help: "what T is a share of", Words: words(OfUnlabelled, OfAll),
		Default: presets, value: byPreset(OfUnlabelled, OfAll)},
	{Path: "generalization.domain_loss", Help: "the domain head is trained",
		Default: "true for ceg, but under the preset ledg, and for others, where the strategy asks it", value: func(d *draft) any {
			return d.Generalization.Objective == CEG && d.Preset != Ledg || asksDomains(d.Exploration.Strategy)
		}},
	{Path: "generalization.batch_norm", Help: "images that share batch statistics", Words: words(Joint, PerDomain),
		Default: presets, value: byPreset(Joint, PerDomain)},
	{Path: "generalization.target_pass", Help: "what passes for pseudo-labels do to running statistics", Words: words(FrozenStats, UpdateStats),
		Default: presets, value: byPreset(FrozenStats, UpdateStats)},
	{Path: "generalization.domain_features", Help: "features that train the domain head", Words: words(Reuse, PostUpdate),
		Default: presets, value: byPreset(Reuse, PostUpdate)},
	{Path: "generalization.average", Flag: "average", Help: "weights that predict: none (the last), ema, their moving average over the steps (decay 0.999), or three, the mean of both and of those with the best source validation", Zero: "none", Words: words(EMA, Three),
		Default: "none", value: is(""), Since: 4, Before: `""`},
	{Path: "generalization.threshold", Flag: "threshold", Help: "what a pseudo-label's confidence is held against: fixed (tau), or freematch, thresholds that adapt", Zero: "fixed", Words: words(FreeMatch),
		Default: "fixed", value: is(""), Since: 4, Before: `""`},
	{Path: "generalization.rsc_share", Flag: "rsc-share", Help: "share of the features' entries and of the images that the objective rsc-domainbed mutes", Zero: "default", Range: "(0, 1)",
		Default: "DomainBed's 1/3", value: is(0)},
}
