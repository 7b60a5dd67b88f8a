package config

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Setting describes one setting of a run, the field of [Config] at its path: its flag of ledg
// train, its key in study files, valid values and default.
type Setting struct {
	// Path is its dotted name in config.json.
	Path string
	// Flag is its flag of ledg train, or "" if only --set sets it.
	Flag string
	// Help describes it in at most twelve words; More has the details, or "".
	Help, More string
	// Zero is the word that stands for the empty value.
	Zero string
	// Words lists its valid texts; nil if any text is valid, or the setting is not a text.
	Words func() []string
	// Range is where a number, or each of a list, has to be, as an interval: "(0, 1]".
	Range string
	// Default describes where its value comes from when it is not specified; value computes it.
	Default string
	value   func(d *draft) any
	// omitted are the JSON values that an identity leaves out; see [Config.Identity].
	omitted []string
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

// is returns a constant default.
func is(v any) func(*draft) any { return func(*draft) any { return v } }

// byPreset returns a default that differs between the presets paper and authors.
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
	{Path: "data.target", Flag: "target", Help: "held-out domain, or none to train on all",
		Default: "required", value: is("")},
	{Path: "preset", Flag: "preset", Help: "pooled (recommended), ledg, authors or paper", More: "authors follows the published code, paper the equations as written. ledg is authors with FixMatch and labels upfront. On images without weights it trains for twice the epochs. With weights or on features, MaxHerding selects the labels. On features it also uses square roots, batches of 8 per domain, twice the learning rates and 20 epochs. pooled is ledg with batches of images from all domains together, started from logistic regression, on features. ledg train takes pooled without a method, and authors with one; studies and notebooks take authors.", Words: words(Presets()...),
		Default: "pooled", value: is(Authors)},
	{Path: "exploration.strategy", Flag: "strategy", Help: "query strategy; see ledg methods", Words: active.Names,
		Default: "the method's: ceg; with preset ledg uniform", value: func(d *draft) any {
			if d.Preset.Selected() {
				return active.Uniform{}.Name()
			}
			return CEG
		}},
	{Path: "generalization.objective", Flag: "objective", Help: "training objective; see ledg methods", Words: objectiveNames,
		Default: "the method's: ceg; with preset ledg fixmatch", value: func(d *draft) any {
			if d.Preset.Selected() {
				return FixMatch
			}
			return CEG
		}, omitted: []string{`"ceg"`, `"erm"`, `"fixmatch"`}},
	{Path: "method", Flag: "method", Help: "strategy and objective; see ledg methods", More: "STRATEGY trains with objective ceg, STRATEGY-ce with erm, STRATEGY+OBJECTIVE with any other. An objective alone queries all labels at random upfront. With preset ledg it is fixmatch.",
		Default: "by strategy and objective", value: func(d *draft) any {
			if d.Preset.Selected() && !d.isSpecified("exploration.strategy") && !d.isSpecified("generalization.objective") {
				return d.Generalization.Objective
			}
			return Method(d.Exploration.Strategy, d.Generalization.Objective)
		}},
	{Path: "protocol", Flag: "protocol", Help: "optimisation of other objectives: paper (as CEG) or original (published code)", More: "original takes epochs, batch size, momentum, weight decay and schedule from the published code of the objective, and with weights the learning rates. paper uses those of CEG for all objectives.", Words: words(PaperProtocol, OriginalProtocol),
		Default: "paper", value: is(PaperProtocol), omitted: []string{`"paper"`}},
	{Path: "seed", Flag: "seed", Help: "seed of every random choice",
		Default: "1", value: is(1)},

	{Path: "data.split_seed", Flag: "split-seed", Help: "seed of the train/validation split where none is official",
		Default: "0", value: is(0)},
	{Path: "data.pool_share", Help: "share of each source domain's training images to use", More: "The other images are not used at all.", Zero: "all", Range: "(0, 1)",
		Default: "all", value: is(0)},
	{Path: "data.pool_seed", Help: "seed that draws this share; 0 uses the run's seed", Range: "[0, inf)",
		Default: "0", value: is(0)},
	{Path: "data.classes", Flag: "classes", Help: "class names of your own images", More: "Without it, folders and labels name the classes.",
		Default: "none", value: is([]string(nil))},
	{Path: "data.labels", Help: "digest of the file of labels (--labels)",
		Default: "none", value: is("")},
	{Path: "data.group", Flag: "group", Help: "groups that no split divides: a regular expression over paths", More: "Groups are images that belong together, such as those of a patient, a burst or a film. The first capture group names the group, else the whole match.",
		Default: "none, or the column group of --labels", value: is("")},
	{Path: "data.decode", Flag: "decode", Help: "pixels of your images: photo (upright, in full) or stored", More: "photo shows what a viewer shows: it applies the EXIF orientation and puts white behind what is transparent. For features, JPEGs much larger than the network needs are decoded at 1/2, 1/4 or 1/8 of their size unless --decode full asks for all pixels. stored ignores both, as the pipelines of the published code do. page2 to page9 are photo of that page of a TIFF.", Zero: rgb.Stored.Word(), Words: words(rgb.Decodings[1:]...),
		Default: "photo for dataset folder, else stored", value: func(d *draft) any {
			if i := d.info(); i.Yours && !i.Vectors {
				return rgb.Photo
			}
			return rgb.Stored
		}},
	{Path: "data.layout", Flag: "layout", Help: "folders of your images, such as '{site}/{class}/{name}'", More: "{site}, {class} and {split} stand for a folder's name, * for any folder, ** for any number of folders. Without {site}, all images are of one domain.",
		Default: "recognised", value: is("")},
	{Path: "data.site", Flag: "site", Help: "sites of your images: a regular expression over paths", More: "The first capture group names the site, else the whole match.",
		Default: "by folders", value: is("")},
	{Path: "data.exclude", Help: "patterns of files and folders to leave out (--exclude)", More: "Images that cannot be decoded are added when a run begins.",
		Default: "none", value: is([]string(nil))},
	{Path: "network.weights", Flag: "weights", Help: "initial weights: none, imagenet, or a .safetensors or PyTorch file", More: "With weights, the learning rates are those of the paper: 0.003, and 0.01 for the heads.", Zero: NoWeights,
		Default: "none", value: is((*Weights)(nil)), omitted: []string{`null`}},
	{Path: "generalization.style_weights", Flag: "style-weights", Help: "folder of the AdaIN weights of objective stylematch", More: "The folder has vgg_normalised.pth and decoder.pth of pytorch-AdaIN.", Zero: NoWeights,
		Default: "none", value: is((*Weights)(nil)), omitted: []string{`null`}},
	{Path: "data.image_size", Flag: "image-size", Help: "side of the images in pixels", Range: "[8, 4096]",
		Default: dataSets, value: func(d *draft) any { return d.info().ImageSize }},
	{Path: "data.normalise", Flag: "normalise", Help: "normalisation of feature vectors: none, root, unit or root-unit", More: "root is sign(x) sqrt|x|, unit divides by the length, root-unit does both.", Zero: "none", Words: words(RootFeatures, UnitFeatures, RootUnitFeatures),
		Default: "none; on features with preset ledg root; with objective clap unit", value: func(d *draft) any {
			switch {
			case d.objective().Names:
				return UnitFeatures
			case d.chosenOnFeatures():
				return RootFeatures
			}
			return ""
		}},

	{Path: "network.name", Flag: "net", Help: "network, FILE.onnx, or hf:OWNER/NAME of Hugging Face", More: "FILE.onnx and hf:OWNER/NAME[@REVISION] are fine-tuned from their own weights.", Words: func() []string { return append(append(NetworkNames(false), NetworkNames(true)...), Imported) },
		Default: "smallcnn; on features linear", value: func(d *draft) any {
			if d.info().Vectors {
				return Linear
			}
			return "smallcnn"
		}},
	{Path: "network.code", Help: "code of a network that the program registered",
		Default: "the network's, none for built-in ones", value: func(d *draft) any { n, _ := LookupNetwork(d.Network.Name); return n.Code }},
	{Path: "network.width", Flag: "width", Help: "channels of the network's first layer", More: "These are the channels of smallcnn, of the first stage of a ResNet, of the first convolution of an EfficientNet-Lite, and the width of mlp.", Range: "[1, 8192]",
		Default: "the data set's; as published for EfficientNet-Lite and imagenet weights", value: (*draft).width},
	{Path: "network.pooling", Help: "how smallcnn's maps become a feature vector", Words: words(MeanPool, FlattenPool),
		Default: "flatten; on features mean", value: func(d *draft) any {
			if d.info().Vectors {
				return MeanPool
			}
			return FlattenPool
		}},
	{Path: "network.precision", Flag: "precision", Help: "number format of the network: tf32, float32 or bfloat16", More: "tf32 is float32, rounded to TF32 where an NVIDIA GPU is faster that way. bfloat16 needs XLA; weights stay in float32.",
		Words:   func() []string { return []string{TF32.String(), Float32.String(), BFloat16.String()} },
		Default: "tf32", value: is(TF32.String()), omitted: []string{`"tf32"`}},
	{Path: "network.freeze", Flag: "freeze", Help: "frozen part of the network: none, head, norm, or a stage count", More: "head freezes all but the heads, norm the scales and shifts of normalisation layers. A number freezes the first stages: conv1, layer1 to layer4 of a ResNet; the part before the blocks, then each block, of a transformer. With any of them, BatchNorm uses its running statistics.", Zero: "none",
		Default: "none", value: is("")},
	{Path: "data.views", Flag: "views", Help: "augmented views per image, computed once by the frozen layers", More: "The views are a plain one, a weak one, then strong ones. Training draws from them, so the other layers train faster but from fewer views. Objectives that mix images mix their feature maps.", Zero: "anew", Range: "[3, 1000]",
		Default: "computed anew each time", value: is(0)},
	{Path: "network.head_epochs", Flag: "head-epochs", Help: "first epochs in which only the heads train", More: "This is linear probing before fine-tuning. It works like --freeze head, and BatchNorm keeps its running statistics.", Range: "[0, 1000000]",
		Default: "0", value: is(0)},
	{Path: "network.lora_rank", Flag: "lora-rank", Help: "rank of LoRA adapters in an ONNX network; 0 for none", More: "Every linear layer gets an adapter, which trains at the backbone's learning rate in place of the layer.", Range: "[0, 8192]",
		Default: "0", value: is(0)},
	{Path: "network.lora_alpha", Flag: "lora-alpha", Help: "LoRA's alpha; adapters are scaled by alpha / rank", Zero: "rank", Range: "(0, inf)",
		Default: "the rank, which scales by 1", value: is(0)},
	{Path: "network.output", Help: "output of an ONNX network to use as features", Zero: "only",
		Default: "its only output", value: is("")},
	{Path: "network.tokens", Help: "features from tokens of an ONNX network: class, mean or patches", More: "class is the first token, mean the mean of all, patches the mean of all but the first.", Zero: "none", Words: words(datasets.Pools...),
		Default: "none", value: is("")},
	{Path: "network.pixels", Help: "pixel normalisation of an ONNX network: imagenet, clip, half, unit or raw", More: "half scales pixels to -1 to 1, unit to 0 to 1; raw leaves 0 to 255, for a network with its preprocessing inside.", Zero: "imagenet", Words: words(CLIPPixels, HalfPixels, UnitPixels, RawPixels),
		Default: "imagenet", value: is("")},
	{Path: "network.head_start", Help: "initial class head: random, or logistic (fitted to the labels)", More: "logistic fits logistic regression to the labels before training, on the features of a linear network. It is for objectives ceg, erm and fixmatch.",
		Zero: "random", Words: words(Logistic), Default: "random; with preset pooled logistic on features", value: func(d *draft) any {
			if d.pooled() && !d.isSpecified("generalization.average") {
				return Logistic
			}
			return ""
		}},
	{Path: "network.domain_hidden", Help: "widths of the domain head's hidden layers", Range: "[1, 8192]",
		Default: "128 and 64", value: is([]int{128, 64})},
	{Path: "network.domain_relu", Help: "activations between the domain head's layers", Default: presets, value: byPreset(true, false)},

	{Path: "schedule.batches", Help: "batches: equal domains, or images from all domains together", More: "images lets domains count by their size. It is for objectives erm and fixmatch.",
		Zero: "domains", Words: words(EqualImages), Default: "domains; with preset pooled images on features", value: func(d *draft) any {
			if d.pooled() {
				return EqualImages
			}
			return ""
		}},
	{Path: "generalization.reduction", Help: "how losses are reduced over domains", Words: words(MeanOverDomains, SumOverDomains),
		Default: "the preset's; mean with schedule.batches images", value: func(d *draft) any {
			if d.Schedule.Batches == EqualImages {
				return MeanOverDomains
			}
			return byPreset(MeanOverDomains, SumOverDomains)(d)
		}},
	{Path: "schedule.epochs", Flag: "epochs", Help: "number of epochs", Range: "[1, 1000000]",
		Default: "the data set's or the protocol's; with preset ledg 20 on features, twice as many on images without weights", value: (*draft).epochs},
	{Path: "schedule.per_domain", Help: "images per domain in a batch", Range: "[2, 65536]",
		Default: "16, or the protocol's; on features with preset ledg 8", value: (*draft).perDomain},
	{Path: "schedule.epoch_of", Help: "images that one epoch passes over", Words: words(OverUnlabelled, OverLabelled),
		Default: "the unlabelled; the labelled for objectives without unlabelled images under protocol original", omitted: []string{`"unlabelled"`}, value: func(d *draft) any {
			if d.recipe() != nil && !d.objective().Unlabelled {
				return OverLabelled
			}
			return OverUnlabelled
		}},
	{Path: "schedule.evaluate_every", Help: "epochs between evaluations", Range: "[0, 1000000]",
		Default: "0, which evaluates every epoch", value: is(0), omitted: []string{`0`}},
	{Path: "schedule.timing", Flag: "timing", Help: "when labels are queried: published, early or once (upfront)", More: "published queries half of the budget at random before training, and the rest in the second half of training. early queries a quarter, then the rest in the first quarter of training. once queries all labels upfront.", Words: words(Published, Early, Once),
		Default: "once with preset ledg, for objectives that are methods (fixmatch), and on glyphs and folders without a preset or initial share; else published", value: (*draft).timing, omitted: []string{`"published"`}},
	{Path: "schedule.query_after", Help: "epochs after which labels are queried, from 0", Range: "[0, 1000000]",
		Default: "the timing's", value: (*draft).queryAfter},
	{Path: "schedule.query_shares", Help: "share of the budget queried after each of these epochs", Range: "(0, 1)",
		Default: "none, so exploration.rounds decides", value: is([]float64(nil)), omitted: []string{`null`}},

	{Path: "optimizer.backbone_rate", Help: "learning rate of the backbone", Range: "[0, inf)",
		Default: "0.003 with weights, or the protocol's; without weights the heads' rate, or less", value: (*draft).backboneRate},
	{Path: "optimizer.class_head_rate", Help: "learning rate of the class head", Range: "[0, inf)",
		Default: "0.01 with weights, or the protocol's; without weights the data set's, a third of it for sums over domains; twice that on features with preset ledg (ceg, erm, fixmatch)", value: (*draft).classHeadRate},
	{Path: "optimizer.domain_head_rate", Help: "learning rate of the domain head", Range: "[0, inf)",
		Default: "0.01 with weights; without weights the class head's", value: (*draft).domainHeadRate},
	{Path: "optimizer.momentum", Help: "momentum", Range: "[0, 1)", Default: "0.9", value: is(0.9)},
	{Path: "optimizer.weight_decay", Help: "weight decay", Range: "[0, inf)",
		Default: "0.0005, or the protocol's", value: func(d *draft) any {
			if r := d.recipe(); r != nil {
				return r.WeightDecay
			}
			return 5e-4
		}},
	{Path: "optimizer.nesterov", Help: "Nesterov's momentum", Default: "false, or the protocol's", omitted: []string{`false`}, value: func(d *draft) any {
		r := d.recipe()
		return r != nil && r.Nesterov
	}},
	{Path: "optimizer.drop_at", Help: "share of the epochs after which learning rates drop tenfold; 0: cosine", Range: "[0, 1)",
		Default: "0, or the protocol's", omitted: []string{`0`}, value: func(d *draft) any {
			if r := d.recipe(); r != nil {
				return float64(r.Drop) / float64(r.Epochs)
			}
			return 0
		}},

	{Path: "exploration.budget", Flag: "budget", Help: "labels to query, such as 60 or 5%", More: "A share is of the source domains' training images.",
		Default: "5%", value: is("5%")},
	{Path: "exploration.initial_share", Flag: "initial-share", Help: "share of the budget queried before training", More: "1 queries all labels upfront.", Range: "(0, 1]",
		Default: "the timing's", value: (*draft).initialShare},
	{Path: "exploration.initial", Flag: "initial", Help: "strategy of the labels before training; see ledg methods", More: "It uses the features of the initial network (--weights). names is kmeans on features with class probabilities by names (ledg embed --names).", Zero: "uniform",
		Words: func() []string {
			return append(slices.DeleteFunc(active.ColdNames(), func(s string) bool { return s == (active.Uniform{}).Name() }), InitialNames)
		},
		Default: "uniform; with preset ledg maxherding on features and with weights", omitted: []string{`""`}, value: func(d *draft) any {
			if d.chosenOnFeatures() || d.Preset.Selected() && d.Network.Weights != nil {
				return "maxherding"
			}
			return ""
		}},
	{Path: "exploration.domains", Flag: "domains", Help: "how each query is divided among source domains", Zero: string(active.Pooled), Words: words(active.ByStratum, active.ByShare, active.Balanced),
		Default: "pooled", value: is(""), omitted: []string{`""`}},
	{Path: "exploration.rounds", Help: "how labels are divided among the query rounds", Words: words(EvenRounds, PublishedRounds),
		Default: presets, value: byPreset(EvenRounds, PublishedRounds)},
	{Path: "exploration.weight_u", Help: "weight of the uncertainty rank", Range: "[0, inf)", Default: "1", value: is(1)},
	{Path: "exploration.gamma1", Help: "weight of the representativeness rank", Range: "[0, inf)",
		Default: "the preset's for the data set", value: func(d *draft) any { return d.gammas()[0] }},
	{Path: "exploration.gamma2", Help: "weight of the diversity rank", Range: "[0, inf)",
		Default: "the preset's for the data set", value: func(d *draft) any { return d.gammas()[1] }},
	{Path: "exploration.oracle", Flag: "oracle", Help: "annotator: simulated (by known classes) or ask (people)", More: "ask waits for labels from ledg label or ledg label import. The run ends with status 3 when it needs labels, and --resume continues it.", Zero: "simulated", Words: words(People),
		Default: "simulated", value: is("")},
	{Path: "exploration.begun", Help: "digest of the labels of another run (ledg extend)",
		Default: "none", value: is("")},
	{Path: "exploration.softmax_twice", Help: "apply softmax once more to probabilities before scoring", Default: presets, value: byPreset(false, true)},
	{Path: "exploration.strategy_code", Help: "code of a query strategy that the program registered",
		Default: "the strategy's, none for built-in ones", value: func(d *draft) any { return active.CodeOf(d.Exploration.Strategy) }},
	{Path: "exploration.initial_code", Help: "code of a registered strategy of the labels before training",
		Default: "the strategy's, none for built-in ones", value: func(d *draft) any { return active.CodeOf(d.Exploration.Initial) }},
	{Path: "exploration.phi_centroids", Help: "centroids and distances of [f,1]/|[f,1]|", Default: presets, value: byPreset(false, true)},

	{Path: "generalization.consistency", Help: "images of the loss L_ac", Words: words(Nothing, OnUnlabelled, Both),
		Default: "the preset's; nothing for objectives other than ceg and fixmatch", value: func(d *draft) any {
			switch {
			case d.Generalization.Objective != CEG && d.Generalization.Objective != FixMatch:
				return Nothing
			case d.Preset == Paper:
				return OnUnlabelled
			}
			return Both
		}},
	{Path: "generalization.tau", Help: "confidence threshold of L_ac", Range: "[0, 1]", Default: "0.95", value: is(0.95)},
	{Path: "generalization.delta", Help: "weight of L_eg", Range: "[0, inf)",
		Default: "the data set's; 0 for objectives other than ceg", value: func(d *draft) any {
			if d.Generalization.Objective != CEG {
				return 0
			}
			return d.info().Recipe.Delta
		}},
	{Path: "generalization.intra_weight", Help: "weight of MixUp within domains in L_eg", Range: "[0, inf)", Default: "0.5", value: is(0.5)},
	{Path: "generalization.inter_weight", Help: "weight of MixUp across domains in L_eg", Range: "[0, inf)", Default: "0.5", value: is(0.5)},
	{Path: "generalization.reliable", Help: "how the reliable set is chosen", Words: words(NearestImages, QuotaRandom),
		Default: presets, value: byPreset(NearestImages, QuotaRandom)},
	{Path: "generalization.threshold_start", Help: "threshold T before training, a share", Range: "[0, 1]",
		Default: "half of the data set's T", value: func(d *draft) any { return d.info().Recipe.Threshold / 2 }},
	{Path: "generalization.threshold_end", Help: "threshold T after training, a share", Range: "[0, 1]",
		Default: "the data set's T", value: func(d *draft) any { return d.info().Recipe.Threshold }},
	{Path: "generalization.threshold_base", Help: "what T is a share of", Words: words(OfUnlabelled, OfAll),
		Default: presets, value: byPreset(OfUnlabelled, OfAll)},
	{Path: "generalization.domain_loss", Help: "train the domain head",
		Default: "true for ceg without preset ledg, and for strategies that need it", value: func(d *draft) any {
			return d.Generalization.Objective == CEG && !d.Preset.Selected() || usesDomains(d.Exploration.Strategy)
		}},
	{Path: "generalization.batch_norm", Help: "images that share batch statistics", Words: words(Joint, PerDomain),
		Default: "the preset's; joint with schedule.batches images", value: func(d *draft) any {
			if d.Schedule.Batches == EqualImages {
				return Joint
			}
			return byPreset(Joint, PerDomain)(d)
		}},
	{Path: "generalization.target_pass", Help: "effect of pseudo-label passes on running statistics", Words: words(FrozenStats, UpdateStats),
		Default: presets, value: byPreset(FrozenStats, UpdateStats)},
	{Path: "generalization.domain_features", Help: "features that train the domain head", Words: words(Reuse, PostUpdate),
		Default: presets, value: byPreset(Reuse, PostUpdate)},
	{Path: "generalization.average", Flag: "average", Help: "weights that predict: none (the last), ema or three", More: "ema is the moving average over steps (decay 0.999). three is the mean of the last weights, ema, and those with the best source validation accuracy.", Zero: "none", Words: words(EMA, Three),
		Default: "none", value: is(""), omitted: []string{`""`}},
	{Path: "generalization.threshold", Flag: "threshold", Help: "confidence threshold of pseudo-labels: fixed (tau) or freematch", More: "freematch adapts the threshold.", Zero: "fixed", Words: words(FreeMatch),
		Default: "fixed", value: is(""), omitted: []string{`""`}},
	{Path: "generalization.rsc_share", Flag: "rsc-share", Help: "share that the objective rsc-domainbed mutes", More: "It mutes this share of the features' entries, in this share of the images.", Zero: "default", Range: "(0, 1)",
		Default: "DomainBed's 1/3", value: is(0)},
	{Path: "generalization.logit_adjustment", Flag: "logit-adjustment", Help: "favours rare classes in erm and fitted heads; 1: balanced softmax", More: "It is the factor of the logarithm of a class's share of the labels (Menon et al. 2021; Ren et al. 2020).", Range: "[0, inf)",
		Default: "0", value: is(0)},
	{Path: "generalization.objective_code", Help: "code of a training objective that the program registered",
		Default: "the objective's, none for built-in ones", value: func(d *draft) any { return d.objective().Code }},
}
