package study

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

const studyFile = `# a comment
name: small
about: What half the budget does
dataset: glyphs
preset: paper
targets: [photo, sketch]
budgets: [5%, 120]
seeds: [2, 1]
set:
  schedule.epochs: 4
runs:
  - methods: [uniform, ceg]
  - methods: [ceg]
    budgets: [5%]
    ablations: ["w/o S_u", w/ static T]
    variants:
      - name: sharp
        set: {generalization.tau: 0.99, network.domain_hidden: [8]}
  - methods: [ceg]
    budgets: [5%]
    targets: [photo]
    sweep: {gamma1: [0, 3], gamma2: [1, 2]}
`

func parse(t *testing.T, text string) Study {
	t.Helper()
	return fatal.Get(Parse("s.yaml", []byte(text)))(t)
}

func plan(t *testing.T, s Study) *Plan {
	t.Helper()
	return fatal.Get(s.Plan())(t)
}

func TestPlan(t *testing.T) {
	s := parse(t, studyFile)
	p := plan(t, s)
	// 2 methods x 2 targets x 2 budgets + 3 variants x 2 targets + 4 points.
	if len(p.Runs) != 2*(8+6+4) {
		t.Fatalf("%d runs", len(p.Runs))
	}
	var seeds []uint64
	labels, dirs := map[string]bool{}, map[string]int{}
	for _, r := range p.Runs {
		seeds = append(seeds, r.Seed)
		labels[r.Label()] = true
		dirs[r.Dir]++
		if c := r.Config; c.Schedule.Epochs != 4 || c.Seed != r.Seed || c.Data.Target != r.Target || c.Exploration.Budget != r.Budget {
			t.Errorf("%s has %+v", r.Key(), c)
		}
	}
	if !slices.Equal(slices.Compact(seeds), []uint64{2, 1}) {
		t.Errorf("seeds are in the order %v", seeds)
	}
	for _, want := range []string{"uniform", "ceg", "ceg w/o S_u", "ceg w/ static T", "ceg sharp", "ceg gamma1=3 gamma2=1"} {
		if !labels[want] {
			t.Errorf("no run is labelled %q; there are %v", want, labels)
		}
	}
	// gamma1=3 gamma2=1 is CEG as it is: the same settings, the same directory.
	shared := 0
	for _, n := range dirs {
		if n > 1 {
			shared++
		}
	}
	if shared != 2 {
		t.Errorf("%d directories are shared, want one per seed", shared)
	}
	find := func(label string) config.Config {
		return p.Runs[slices.IndexFunc(p.Runs, func(r Job) bool { return r.Label() == label })].Config
	}
	if c := find("ceg sharp"); c.Generalization.Tau != 0.99 || !slices.Equal(c.Network.DomainHidden, []int{8}) || c.Method != "ceg sharp" {
		t.Errorf("sharp is %+v", c)
	}
	if c := find("ceg w/o S_u"); c.Exploration.WeightU != 0 || c.Exploration.Gamma1 != 3 {
		t.Errorf("w/o S_u is %+v", c.Exploration)
	}
	if c := find("ceg w/ static T"); c.Generalization.ThresholdStart != 0.5 {
		t.Errorf("static T starts from %v", c.Generalization.ThresholdStart)
	}
	if c := find("uniform"); !slices.Equal(c.Schedule.QueryAfter, []int{1, 2}) {
		t.Errorf("the queries of 4 epochs are after %v", c.Schedule.QueryAfter)
	}
	if again := plan(t, s); !reflect.DeepEqual(again, p) {
		t.Error("the same study gives another plan")
	}
}

// numbers lists n of them.
func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return strings.Join(list, ", ")
}

func TestParseRefuses(t *testing.T) {
	const head = "name: a\ndataset: glyphs\nmethods: [ceg]\n"
	for _, tt := range []struct{ name, text, want string }{
		{"syntax", "name: [", "s.yaml:1: "},
		{"two documents", head + "---\n" + head, "s.yaml: 2 YAML documents"},
		{"empty", "# nothing\n", "s.yaml: there is no study in it"},
		{"unknown field", head + "budget: [5%]\n", `s.yaml:4: unknown field "budget"`},
		{"repeated key", head + "name: b\n", "s.yaml:4: "},
		{"wrong type", head + "seeds: [one]\n", "s.yaml:4: seeds: one, want whole numbers"},
		{"fractional seed", head + "seeds: [2,\n  1.5]\n", "s.yaml:5: seeds: 1.5, want whole numbers"},
		{"negative seed", head + "seeds: [-1]\n", "s.yaml:4: seeds: -1, "},
		{"no name", "dataset: glyphs\nmethods: [ceg]\n", "s.yaml:1: name: a study is called by"},
		{"file name", "dataset: glyphs\nname: ../a\nmethods: [ceg]\n", `s.yaml:2: name: a study is called by small letters, digits and dashes, got "../a"`},
		{"no methods", "name: a\ndataset: glyphs\n", "s.yaml:1: no methods"},
		{"no dataset", "name: a\nmethods: [ceg]\n", "no dataset"},
		{"other dataset", "name: a\ndataset: cats\nmethods: [ceg]\ntargets: [x]\n", `data.dataset: "cats", want one of glyphs, pacs`},
		{"folder without targets", "name: a\ndataset: folder\nmethods: [ceg]\n", "no targets"},
		{"other method", "name: a\ndataset: glyphs\nruns:\n  - methods: [ceg]\n  - methods: [best]\n", `s.yaml:5: runs[1]: method: "best", want one of ceg, ceg-ce, `},
		{"methods outside of runs", head + "runs: [{methods: [ceg]}]\n", "s.yaml:3: methods: a study with runs has its methods there"},
		{"unknown setting", head + "set:\n  schedule.epochs: 3\n  generalization.deltas: 0.1\n", `s.yaml:6: set.generalization.deltas: no such setting; did you mean generalization.delta?`},
		{"unknown group", head + "set: {training.epochs: 3}\n", `s.yaml:4: set.training.epochs: no such setting; did you mean schedule.epochs?`},
		{"group", head + "set: {schedule: 3}\n", "s.yaml:4: set.schedule: no such setting; there are schedule.batches, "},
		{"too deep", head + "set: {schedule.epochs.first: 3}\n", "s.yaml:4: set.schedule.epochs.first: no such setting"},
		{"text for a number", head + "set:\n  generalization.delta: much\n", `s.yaml:5: set.generalization.delta: "much", want a number`},
		{"fraction for a count", head + "set: {schedule.epochs: 2.5}\n", "schedule.epochs: 2.5, want a whole number"},
		{"precision that is none", head + "set: {network.precision: float16}\n", `network.precision: precision "float16", want tf32, float32 or bfloat16`},
		{"number for a text", head + "set: {network.name: 3}\n", "network.name: 3, want a text"},
		{"number for a truth", head + "set: {exploration.softmax_twice: 1}\n", "exploration.softmax_twice: 1, want true or false"},
		{"null", head + "set: {generalization.tau: null}\n", "generalization.tau: null, want a number"},
		{"no number", head + "set: {generalization.tau: .nan}\n", "generalization.tau: NaN, want a number"},
		{"list", head + "set: {schedule.query_after: [1, x]}\n", "want a list, each item a whole number"},
		{"axis", head + "set: {exploration.budget: 5%}\n", "s.yaml:4: set.exploration.budget: exploration.budget cannot be set here: use the study's budgets"},
		{"axis by its short name", head + "set: {budget: 5%}\n", "s.yaml:4: set.budget: exploration.budget cannot be set here: use the study's budgets"},
		{"setting in a variant", head + "variants:\n  - {name: x}\n  - name: y\n    set:\n      tua: 1\n", `s.yaml:8: variants[1].set.tua: no such setting`},
		{"setting in a run", "name: a\ndataset: glyphs\nruns:\n  - methods: [ceg]\n    set: {generalization.tau: high}\n", "s.yaml:5: runs[0].set.generalization.tau: "},
		{"no sense", head + "set: {schedule.per_domain: 1}\n", "s.yaml:4: set.schedule.per_domain: 1, want at least 2"},
		{"no sense in a run", "name: a\ndataset: glyphs\nruns:\n  - methods: [ceg]\n    sweep: {T: [2]}\n", "s.yaml:4: runs[0]: generalization.threshold_end: 2, want at least 0 and at most 1"},
		{"other target", head + "targets:\n- photo\n- cats\n", `s.yaml:6: targets[1]: glyphs has no domain "cats"; it has cartoon, photo, print, sketch`},
		{"budget", head + "budgets: [5 %]\n", `s.yaml:4: budgets[0]: budget "5 %", want a number of labels`},
		{"no ablation", head + "ablations: [w/o sense]\n", `s.yaml:4: ablations: no ablation "w/o sense"; there are "w/ Uniform", `},
		{"no parameter", head + "sweep: {beta: [1]}\n", `s.yaml:4: sweep.beta: no such setting`},
		{"swept axis", head + "sweep: {seed: [1]}\n", "sweep.seed: seed cannot be set here: use the study's seeds"},
		{"swept text", head + "sweep: {network.name: [1]}\n", "network.name: 1, want a text"},
		{"empty sweep", head + "sweep: {delta: []}\n", "s.yaml:4: sweep.delta: no values"},
		{"repeated method", head + "targets: [photo, photo]\n", "s.yaml:4: targets[1]: photo is there twice"},
		{"repeated seed", head + "seeds:\n- 1\n- 2\n- 1\n", "s.yaml:7: seeds[2]: 1 is there twice"},
		{"repeated value", head + "sweep:\n  delta: [1, 2, 1.0]\n", "s.yaml:5: sweep.delta[2]: 1 is there twice"},
		{"repeated variant", head + "variants: [{name: x}, {name: x}]\n", "variants[1]: x is there twice"},
		{"nameless variant", head + "variants: [{set: {}}]\n", "variants[0]: a variant without a name"},
		{"a tag before an anchor", "name: a\nmethods: !t &s {0}", "s.yaml: it cannot be decoded: "},
		{"too many runs", head + "sweep: {delta: [" + numbers(300) + "], tau: [" + numbers(300) + "]}\n", "s.yaml:1: 1800000 runs, a study has at most 50000"},
		{"brackets", head + "set:\n  a: " + strings.Repeat("[", 1e5), "s.yaml:5: more than 64 values in each other"},
		{"brackets on many lines", strings.Repeat("{a:\n", 1e5), "s.yaml:65: more than 64 values in each other"},
		{"dashes", "name: a\nruns:\n  " + strings.Repeat("- ", 1e5) + "x", "s.yaml:3: more than 64 values in each other"},
		{"many keys", strings.Repeat("k: 1\n", 1e4), "s.yaml:5001: more than 5000 keys"},
		{"many items", "runs:\n" + strings.Repeat("- a\n", 1e4), "s.yaml:5001: more than 5000 keys or items"},
		{"many keys of a mapping", head + "set:\n" + strings.Repeat("  k: {a: 1}\n", 1e4), "s.yaml:2503: more than 5000 keys"},
		{"one label, two meanings", "name: a\ndataset: glyphs\nruns:\n  - methods: [ceg]\n  - methods: [ceg]\n    set: {generalization.tau: 0.9}\n", "s.yaml:5: runs[1]: glyphs, preset authors, target cartoon, ceg, 5% labels, seed 1 is already there with other settings"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse("s.yaml", []byte(tt.text))
			if err == nil {
				t.Fatalf("no error, but %+v", s)
			}
			if !strings.HasPrefix(err.Error(), "s.yaml:") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v\nwant %s", err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error has several lines: %v", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(studyFile)
	f.Add("name: a\ndataset: &d glyphs\nmethods: [*d]\nset: &s {schedule.epochs: 1}\nruns: [{<<: *s}]")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse("s.yaml", []byte(text)); err == nil {
			if _, err := s.Plan(); err != nil {
				t.Errorf("parsed but not planned: %v", err)
			}
		}
	})
}

// The settings of a study, of its blocks and of a variant lie on top of each other, the query
// epochs follow the number of epochs, and settings beside the timing count.
func TestSettingsOfAStudy(t *testing.T) {
	text := `name: s
dataset: glyphs
preset: paper
targets: [photo]
seeds: [1]
set: {schedule.epochs: 3, data.image_size: 16, exploration.initial_share: 0.4}
runs:
  - methods: [ceg]
    set: {schedule.timing: early, data.image_size: 24}
    variants:
      - {name: a, set: {schedule.epochs: 8}}
      - {name: b, set: {exploration.initial_share: 0.3}}
`
	s := fatal.Get(Parse("s.yaml", []byte(text)))(t)
	for i, want := range []string{"ceg a 8 [0 1] 0.4 24", "ceg b 3 [0] 0.3 24"} {
		c := plan(t, s).Runs[i].Config
		if got := fmt.Sprint(c.Method, " ", c.Schedule.Epochs, " ", c.Schedule.QueryAfter, " ", c.Exploration.InitialShare, " ", c.Data.ImageSize); got != want {
			t.Errorf("run %d is %s, want %s", i, got, want)
		}
	}
}

// Every ablation and parameter changes CEG, in its own way, into something valid, and two
// are methods by themselves, so that their runs can be shared.
func TestAblations(t *testing.T) {
	s := Study{Name: "s", Block: Block{Dataset: "glyphs", Preset: config.Paper, Methods: []string{"ceg"}, Targets: []string{"photo"}, Seeds: []uint64{1}, Ablations: []string{"all"}}}
	seen := map[string]string{fmt.Sprint(configtest.New(t, "glyphs", "photo", "ceg", config.Paper)): "ceg"}
	runs := plan(t, s).Runs
	if len(runs) != 10 {
		t.Errorf("%d ablations", len(runs))
	}
	for _, r := range runs {
		c := r.Config
		if method := map[string]string{"w/ Uniform": "uniform", "w/o L_ac w/o L_eg": "ceg-ce"}[r.Variant]; method != "" {
			if want := configtest.New(t, "glyphs", "photo", method, config.Paper); !reflect.DeepEqual(c, want) {
				t.Errorf("%s is %+v\nwant %+v", r.Variant, c, want)
			}
		} else if c.Method != "ceg "+r.Variant {
			t.Errorf("%s is called %s", r.Variant, c.Method)
		}
		c.Method = "ceg"
		if key := fmt.Sprint(c); seen[key] != "" {
			t.Errorf("%s is the same as %q", r.Variant, seen[key])
		} else {
			seen[key] = r.Variant
		}
	}
}

func TestHash(t *testing.T) {
	c := configtest.New(t, "pacs", "photo", "ceg", config.Paper)
	name := func(change func(c *config.Config)) string {
		c := c
		change(&c)
		return fatal.Get(DirName(c))(t)
	}
	base := name(func(*config.Config) {})
	if !strings.HasPrefix(base, "pacs-photo-ceg-paper-5pct-s1-") || len(base) != len("pacs-photo-ceg-paper-5pct-s1-")+10 {
		t.Errorf("directory is %s", base)
	}
	seen := map[string]bool{base: true}
	for i, change := range []func(c *config.Config){
		func(c *config.Config) { c.Generalization.Tau = 0.9 },
		func(c *config.Config) { c.Schedule.QueryAfter = []int{3} },
		func(c *config.Config) { c.Method = "ceg w/o S_u" },
		func(c *config.Config) { c.Seed = 2 },
		func(c *config.Config) { c.Data.Dataset = "folder" },
	} {
		n := name(change)
		if seen[n] || slug(n) != n {
			t.Errorf("change %d gives %s", i, n)
		}
		seen[n] = true
	}
}

// Published runs are found again by the hash of their settings: it may only
// change with them.
func TestSettingsHashStays(t *testing.T) {
	var c config.Config
	dir := filepath.Join("..", "..", "notebooks", "results", "glyphs", "glyphs-sketch-ceg-authors-5pct-s1-e12e2afbff")
	fsys := fatal.Get(result.FS(dir))(t)
	fatal.If(t, result.ReadConfig(fsys, result.ConfigFile, &c))
	if sum, err := settingsHash(c); err != nil || sum != "e12e2afbff" {
		t.Errorf("hash %s, %v", sum, err)
	}
}

// A plan file written by one version reads as the plan, labels and all.
func TestPlanFile(t *testing.T) {
	dir := t.TempDir()
	p := plan(t, parse(t, studyFile))
	fatal.If(t, p.File().Write(dir))
	f := fatal.Get(report.Open(dir))(t)
	for i, r := range f.Runs {
		if want := p.Runs[i].PlannedRun; !reflect.DeepEqual(r, want) {
			t.Errorf("run %d is %+v, want %+v", i, r, want)
		}
	}
	if len(f.Runs) != len(p.Runs) {
		t.Errorf("%d runs, want %d", len(f.Runs), len(p.Runs))
	}
	fatal.Says(t, fatal.Err(report.Open(t.TempDir())), "is not a study's folder")
}

// StyleMatch is planned with a folder of its weights and not without; settings of a
// protocol come before others.
func TestStyleWeightsAndProtocol(t *testing.T) {
	text := "name: s\ndataset: glyphs\nmethods: [stylematch]\ntargets: [photo]\nseeds: [1]\nset: {schedule.epochs: 3, protocol: original}\n"
	fatal.Says(t, fatal.Err(Parse("s.yaml", []byte(text))), "vgg_normalised.pth")
	s := fatal.Get(Parse("s.yaml", []byte(text+"style_weights: some/where\n")))(t)
	c := plan(t, s).Runs[0].Config
	if c.Protocol != config.OriginalProtocol || c.Schedule.Epochs != 3 || c.Generalization.StyleWeights == nil {
		t.Errorf("planned %+v", c)
	}
	for set, want := range map[string]string{
		"generalization.style_weights: x": "use the study's style_weights",
		"protocol: mine":                  `protocol: "mine", want one of paper, original`,
	} {
		_, err := Parse("s.yaml", []byte("name: s\ndataset: glyphs\nmethods: [jigen]\ntargets: [photo]\nset: {"+set+"}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
}
