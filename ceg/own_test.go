package ceg_test

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/activetest"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/objectivetest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func init() {
	o := Balanced(0.95)
	o.Name = "own-fixmatch"
	err := errors.Join(objective.Register(o), active.RegisterFunc("own-margin", func(v active.View) []float64 {
		scores := v.Margin()
		for i, density := range v.Density() {
			scores[i] = (1 - scores[i]) * (1 + density)
		}
		return scores
	}))
	if err != nil {
		log.Fatal(err)
	}
}

// The strategy and the objective of this file and of the examples keep to the contracts.
func TestOwnConform(t *testing.T) {
	s := fatal.Get(active.ByName("own-margin", active.Options{TieSeed: 1}))(t)
	activetest.Run(t, s)
	objectivetest.Check(t, Balanced(0.3))
}

// ownSpec is a small run of both.
func ownSpec(method string) config.Spec {
	return config.Spec{Dataset: "glyphs", Target: "photo", Method: method, Epochs: 3, Timing: config.Published,
		Set: map[string]any{"network.width": 4, "data.image_size": 16, "schedule.per_domain": 64, "optimizer.backbone_rate": 0.001}}
}

// A run's config has the code of what the program registered, and with other code it is another
// run, which is not resumed.
func TestCodeIsPartOfARun(t *testing.T) {
	c := config.Must(ownSpec("own-margin+own-fixmatch"))
	if c.Exploration.StrategyCode == "" || c.Generalization.ObjectiveCode == "" || c.Exploration.InitialCode != "" {
		t.Fatalf("codes %q, %q and %q", c.Exploration.StrategyCode, c.Generalization.ObjectiveCode, c.Exploration.InitialCode)
	}
	dir := filepath.Join(t.TempDir(), "run")
	enough := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	_, err := ceg.Run(ctx, c, ceg.Options{Dir: dir, Backend: "go", Observe: func(e ceg.Event) {
		if e.Done {
			stop(enough)
		}
	}})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	folder := fatal.Get(study.DirName(c))(t)
	was := c
	was.Generalization.ObjectiveCode = "0123456789abcdef"
	if other, err := study.DirName(was); err != nil || other == folder {
		t.Errorf("with other code the run is called %s, too, error %v", other, err)
	}
	oneLine := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
	}
	_, err = ceg.Run(t.Context(), was, ceg.Options{Dir: dir, Resume: true, Backend: "go"})
	oneLine(err, `generalization.objective: the code of "own-fixmatch" has changed: the config has 0123456789abcdef, this program registers `+c.Generalization.ObjectiveCode)

	// The run on disk was begun with other code.
	file := filepath.Join(dir, "config.json")
	data := fatal.Get(os.ReadFile(file))(t)
	changed := strings.Replace(string(data), c.Exploration.StrategyCode, "0123456789abcdef", 1)
	fatal.If(t, os.WriteFile(file, []byte(changed), 0o600))
	_, err = ceg.Run(t.Context(), c, ceg.Options{Dir: dir, Resume: true, Backend: "go"})
	oneLine(err, `exploration.strategy_code = "0123456789abcdef", this run has "`+c.Exploration.StrategyCode)
	fatal.If(t, os.WriteFile(file, data, 0o600))
	r, err := ceg.Run(t.Context(), c, ceg.Options{Dir: dir, Resume: true, Backend: "go"})
	if err != nil || r.Epochs != 3 {
		t.Errorf("resumed to %+v, %v", r, err)
	}

	// A program that has registered nothing reads the config, and says why it cannot run it.
	unknown := strings.ReplaceAll(string(data), "own-margin", "of-elsewhere")
	u := fatal.Get(config.Parse([]byte(unknown)))(t)
	oneLine(u.Validate(), `exploration.strategy: "of-elsewhere" is not built in: the program that made the config registered it (active.Register), and this one has not`)
	unknown = strings.ReplaceAll(string(data), "own-fixmatch", "of-elsewhere")
	u = fatal.Get(config.Parse([]byte(unknown)))(t)
	oneLine(u.Validate(), `generalization.objective: "of-elsewhere" is not built in`)
}

// Registered names stand wherever names do.
func TestOwnNames(t *testing.T) {
	for _, name := range []string{"own-margin", "own-margin-ce", "own-fixmatch"} {
		if !slices.Contains(config.Methods(), name) {
			t.Errorf("the methods have no %s", name)
		}
	}
	for want, s := range map[string]config.Spec{
		"own-margin + CEG loss (published schedule)":                   {Strategy: "own-margin", Timing: config.Published},
		"Random + own-fixmatch, upfront":                               {Method: "own-fixmatch"},
		"MaxHerding + own-fixmatch, upfront (preset ledg settings)":    {Objective: "own-fixmatch", Preset: config.Ledg, Set: map[string]any{"exploration.initial": "maxherding"}},
		"BADGE + own-fixmatch (early schedule)":                        {Method: "badge+own-fixmatch", Timing: config.Early},
		"own-margin + FixMatch (early schedule, preset ledg settings)": {Strategy: "own-margin", Preset: config.Ledg, Timing: config.Early},
	} {
		s.Target = "photo"
		c, err := config.Resolve(s)
		if err != nil || c.Arm().Name() != want {
			t.Errorf("%+v: %q, %v, want %q", s, c.Arm().Name(), err, want)
		}
	}
	// It looks at predictions, which there are none of before training.
	fatal.Says(t, fatal.Err(config.Resolve(config.Spec{Target: "photo", Set: map[string]any{"exploration.initial": "own-margin"}})), "exploration.initial")
	s := fatal.Get(study.Parse("study.yaml", []byte("name: own\ndataset: glyphs\ntargets: [photo]\nseeds: [1]\nmethods: [ceg, own-margin, uniform+own-fixmatch]\n")))(t)
	p, err := s.Plan()
	if err != nil || len(p.Runs) != 3 || p.Runs[1].Config.Exploration.StrategyCode == "" {
		t.Errorf("plan %+v, %v", p, err)
	}
}

// Configs of built-in methods are what they were: they say nothing of code.
func TestBuiltInConfigsHaveNoCode(t *testing.T) {
	for _, m := range []string{"ceg", "badge-ce", "fixmatch"} {
		data, err := json.Marshal(config.Must(config.Spec{Target: "photo", Method: m}))
		if err != nil || strings.Contains(string(data), "_code") {
			t.Errorf("%s: %s, %v", m, data, err)
		}
	}
	fatal.Says(t, objective.Register(objective.Objective{Name: "fixmatch", Step: func(objective.Step) {}}), "built-in objective")
	fatal.Says(t, objective.Register(objective.Objective{Name: "mine"}), "no step")
}
