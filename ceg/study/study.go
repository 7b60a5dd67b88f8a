package study

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets"
)

// Study is the content of a study file: runs, and defaults for them.
type Study struct {
	// Name names the study and its plan's file: lower-case letters, digits and dashes.
	Name string `yaml:"name"`
	// About describes the study's purpose in a sentence; it may be empty.
	About string `yaml:"about,omitempty"`
	// The fields of this Block are defaults for the blocks in Runs; its Methods, Ablations,
	// Variants and Sweep are allowed only without Runs.
	Block `yaml:",inline"`
	// Runs are the blocks of runs; empty means only the embedded Block.
	Runs []Block `yaml:"runs,omitempty"`
}

// Block is all combinations of its lists: methods x (one variant, ablation or point of the
// sweep) x targets x budgets x seeds.
type Block struct {
	// Dataset is one of datasets.Names; a block has only one, since targets differ.
	Dataset string `yaml:"dataset,omitempty"`
	// Preset selects the default settings; empty means authors with the data set's default
	// timing.
	Preset config.Preset `yaml:"preset,omitempty"`
	// Weights are the backbone's initial weights: "none", "imagenet" or a file, as in
	// pretrained.Open; empty means none. A file is identified by its name, not its location.
	Weights string `yaml:"weights,omitempty"`
	// StyleWeights is the folder of AdaIN's weights for stylematch, as in model.OpenStyle.
	StyleWeights string `yaml:"style_weights,omitempty"`
	// Methods are any of [config.Methods], or STRATEGY+OBJECTIVE.
	Methods []string `yaml:"methods,omitempty"`
	// Targets are the held-out domains. Empty means all domains of a data set with fixed
	// domains.
	Targets []string `yaml:"targets,omitempty"`
	// Budgets are numbers of labels or percentages such as "5%"; empty means 5%.
	Budgets []string `yaml:"budgets,omitempty"`
	// Seeds are the seeds of the repetitions; empty means 1, 2, 3, 4, 5.
	Seeds []uint64 `yaml:"seeds,omitempty"`
	// Set holds settings for all runs by path, as in [config.Spec]; a block extends the study's.
	Set map[string]any `yaml:"set,omitempty"`

	// Ablations are names of [Ablations], or "all"; Variants are custom ones. A block with any
	// of them, or with a Sweep, does not run the unmodified method.
	Ablations []string  `yaml:"ablations,omitempty"`
	Variants  []Variant `yaml:"variants,omitempty"`
	// Sweep holds values of [config.Parameters] or of numeric settings; several form a grid.
	Sweep map[string][]float64 `yaml:"sweep,omitempty"`
}

// domains are the domains of a data set that always has the same, else nil.
func domains(dataset string) []string {
	info, _ := datasets.Lookup(dataset)
	return info.Domains
}

// blocks returns the study's blocks with the defaults filled in, and with the
// path to each in the study.
func (s Study) blocks() (list []Block, paths [][]any, err error) {
	if len(s.Runs) == 0 {
		list, paths = []Block{s.Block}, [][]any{nil}
	} else {
		for _, f := range []struct {
			name string
			n    int
		}{{"methods", len(s.Methods)}, {"ablations", len(s.Ablations)}, {"variants", len(s.Variants)}, {"sweep", len(s.Sweep)}} {
			if f.n > 0 {
				return nil, nil, fieldErrorf([]any{f.name}, "a study with runs has its %s there", f.name)
			}
		}
		for i, b := range s.Runs {
			list, paths = append(list, b.withDefaults(s.Block)), append(paths, []any{"runs", i})
		}
	}
	total := 0.0
	for i, b := range list {
		b.Targets = orDefault(b.Targets, domains(b.Dataset))
		b.Budgets = orDefault(b.Budgets, []string{"5%"})
		b.Seeds = orDefault(b.Seeds, []uint64{1, 2, 3, 4, 5})
		list[i] = b
		if err := b.check(paths[i]); err != nil {
			return nil, nil, err
		}
		if total += b.size(); total > maxRuns {
			return nil, nil, fieldErrorf(paths[i], "%.0f runs, a study has at most %d", total, maxRuns)
		}
	}
	return list, paths, nil
}

// maxRuns is how many runs a study has at most.
const maxRuns = 50_000

// size is the number of a block's runs.
func (b Block) size() float64 {
	variants := float64(len(b.Ablations) + len(b.Variants))
	if len(b.Sweep) > 0 {
		points := 1.0
		for _, values := range b.Sweep {
			points *= float64(len(values))
		}
		variants += points
	}
	return max(variants, 1) * float64(len(b.Methods)) * float64(len(b.Targets)) * float64(len(b.Budgets)) * float64(len(b.Seeds))
}

func orDefault[T any](list, other []T) []T {
	if len(list) == 0 {
		return other
	}
	return list
}

// withDefaults fills what b leaves empty from d, settings apart.
func (b Block) withDefaults(d Block) Block {
	b.Dataset, b.Preset = cmp.Or(b.Dataset, d.Dataset), cmp.Or(b.Preset, d.Preset)
	b.Weights, b.StyleWeights = cmp.Or(b.Weights, d.Weights), cmp.Or(b.StyleWeights, d.StyleWeights)
	b.Targets, b.Budgets, b.Seeds = orDefault(b.Targets, d.Targets), orDefault(b.Budgets, d.Budgets), orDefault(b.Seeds, d.Seeds)
	return b
}

// check refuses empty and repeated items of the lists.
func (b Block) check(path []any) error {
	at := func(key ...any) []any { return append(slices.Clone(path), key...) }
	switch {
	case b.Dataset == "":
		return fieldErrorf(path, "no dataset")
	case len(b.Methods) == 0:
		return fieldErrorf(path, "no methods")
	case len(b.Targets) == 0:
		return fieldErrorf(path, "no targets, and %s has no domains that are always the same", b.Dataset)
	}
	variants := make([]string, len(b.Variants))
	for i, v := range b.Variants {
		if variants[i] = v.Name; v.Name == "" {
			return fieldErrorf(at("variants", i), "a variant without a name")
		}
	}
	for _, f := range []struct {
		key  string
		list []string
	}{{"methods", b.Methods}, {"targets", b.Targets}, {"budgets", b.Budgets}, {"ablations", b.Ablations}, {"variants", variants}} {
		if i := repeated(f.list); i >= 0 {
			return fieldErrorf(at(f.key, i), "%s is there twice", f.list[i])
		}
	}
	if known := domains(b.Dataset); known != nil {
		for i, target := range b.Targets {
			if !slices.Contains(known, target) {
				return fieldErrorf(at("targets", i), "%s has no domain %q; it has %s", b.Dataset, target, strings.Join(known, ", "))
			}
		}
	}
	for i, budget := range b.Budgets {
		if _, err := active.ParseBudget(budget); err != nil {
			return &fieldError{at("budgets", i), err}
		}
	}
	if i := repeated(b.Seeds); i >= 0 {
		return fieldErrorf(at("seeds", i), "%d is there twice", b.Seeds[i])
	}
	for _, name := range slices.Sorted(maps.Keys(b.Sweep)) {
		switch values := b.Sweep[name]; {
		case len(values) == 0:
			return fieldErrorf(at("sweep", name), "no values")
		case repeated(values) >= 0:
			return fieldErrorf(at("sweep", name, repeated(values)), "%v is there twice", values[repeated(values)])
		}
	}
	return nil
}

// repeated returns the index of the first item that is there before, or -1.
func repeated[T comparable](list []T) int {
	seen := make(map[T]bool, len(list))
	for i, x := range list {
		if seen[x] {
			return i
		}
		seen[x] = true
	}
	return -1
}

// variant is a change of the settings in a block: a variant, an ablation, a
// point of the sweep, or none.
type variant struct {
	Variant
	path  []any // of its settings
	sweep map[string]float64
}

func (b Block) variants(path []any) ([]variant, error) {
	at := func(key ...any) []any { return append(slices.Clone(path), key...) }
	named, err := ablations(b.Ablations)
	if err != nil {
		return nil, &fieldError{at("ablations"), err}
	}
	var list []variant
	for i, v := range append(named, b.Variants...) {
		list = append(list, variant{Variant: v, path: at("variants", i-len(named), "set")})
	}
	if len(b.Sweep) > 0 {
		list = append(list, b.grid(at("sweep"))...)
	}
	if len(list) == 0 {
		list = []variant{{}}
	}
	return list, nil
}

// grid lists the points of the sweep, the last name's values changing fastest.
func (b Block) grid(path []any) []variant {
	points := []map[string]float64{{}}
	for _, name := range slices.Sorted(maps.Keys(b.Sweep)) {
		var next []map[string]float64
		for _, p := range points {
			for _, v := range b.Sweep[name] {
				q := maps.Clone(p)
				q[name] = v
				next = append(next, q)
			}
		}
		points = next
	}
	list := make([]variant, len(points))
	for i, p := range points {
		set := map[string]any{}
		for name, v := range p {
			set[name] = v
		}
		list[i] = variant{Variant: Variant{Set: set}, path: path, sweep: p}
	}
	return list
}
