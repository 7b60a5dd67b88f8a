package run_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// tiny is a config that runs in a second or two.
func tiny(t testing.TB, method string, preset config.Preset, pairs ...any) run.Config {
	t.Helper()
	usual := []any{"schedule.epochs", 4, "data.image_size", 16, "network.width", 4}
	return configtest.New(t, "glyphs", "photo", method, preset, append(usual, pairs...)...)
}

func trained(t *testing.T, c run.Config) (string, *result.Result) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	r := fatal.Get(run.Run(t.Context(), c, run.Options{Dir: dir, Backend: "go"}))(t)
	return dir, r
}

func TestRunKeepsTheProtocol(t *testing.T) {
	data, truth := fatal.Get2(datasets.Open("glyphs", "", datasets.Options{}))(t)
	initial := map[string]string{}
	for _, method := range []string{"ceg", "uniform", "uniform-ce", "entropy-ce"} {
		for _, preset := range []config.Preset{config.Paper, config.Authors} { // which ask late
			t.Run(method+" "+string(preset), func(t *testing.T) {
				c := tiny(t, method, preset, "schedule.epoch_of", config.OverLabelled)
				c.Generalization.Tau = 0.1 // of ten classes the most probable has no less
				dir, r := trained(t, c)
				queries := fatal.Get(result.ReadQueries(os.DirFS(dir), result.QueriesFile))(t)
				var first []string
				perDomain := map[string]int{}
				for _, q := range queries {
					i, ok := data.Index(q.ID)
					if !ok {
						t.Fatalf("asked for %q, which does not exist", q.ID)
					}
					e := data.Examples[i]
					if data.Domains[e.Domain] == "photo" || e.Split != datasets.Train {
						t.Errorf("asked for %s of the %s split", q.ID, e.Split)
					}
					if want := data.Classes[truth.Class(i)]; q.Class != want {
						t.Errorf("%s was answered %s, want %s", q.ID, q.Class, want)
					}
					if q.Round == 0 {
						first = append(first, q.ID)
						perDomain[q.Domain]++
					}
					if scored := q.Scores != nil; scored != (q.Round > 0 && method == "ceg") {
						t.Errorf("%s of round %d: scores %v", q.ID, q.Round, q.Scores)
					}
				}
				if len(perDomain) != 3 {
					t.Errorf("initial labels in %d domains, want 3", len(perDomain))
				}
				key := strings.Join(first, " ")
				if initial["all"] == "" {
					initial["all"] = key
				}
				if initial["all"] != key {
					t.Error("starts from other labels than the method before")
				}
				// 5% of 1620 is 81; half of it first; the published code asks for
				// as many again.
				want := 81
				if preset == config.Authors {
					want = 80
				}
				if len(first) != 40 || len(queries) != want || r.Labels != want || r.Budget != 81 {
					t.Errorf("%d initial labels of %d, result says %d of %d", len(first), len(queries), r.Labels, r.Budget)
				}
				records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
				if err := r.Verify(records); err != nil {
					t.Error(err)
				}
				last := records[len(records)-1]
				if last.Target().Total != 600 || last.SourceVal().Total != 180 {
					t.Errorf("evaluated on %v and %v", last.Target(), last.SourceVal())
				}
				ce := strings.HasSuffix(method, "-ce")
				if p := last.PseudoLabel; (p.Total == 0) != ce || p.Accepted != p.Total {
					t.Errorf("pseudo-labels %+v: want all kept, of a method with L_ac alone", p)
				}
				if (last.Loss.Value("ac") == 0) != ce {
					t.Errorf("L_ac is %v of %s", last.Loss.Value("ac"), method)
				}
				if (last.Reliable.Total == 0) != ce || (last.Loss.Value("eg") == 0) != ce {
					t.Errorf("L_eg is %v, the reliable set %v", last.Loss.Value("eg"), last.Reliable)
				}
				if records[0].Reliable.Total != 0 {
					t.Error("mixes in the first epoch, which has no reliable set")
				}
			})
		}
	}
}

// Loader, upload and engine meet in a run, each with goroutines of its own:
// scripts/test.sh --all runs this one with the race detector.
func TestRunWithManyWorkers(t *testing.T) {
	c := tiny(t, "ceg", config.Authors, "schedule.epochs", 2)
	c.Generalization.Tau = 0.1
	r, err := run.Run(t.Context(), c, run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go", Workers: 4, Observe: func(run.Event) {}})
	if err != nil || r.Epochs != 2 || r.Labels == 0 {
		t.Errorf("the run gives %+v, %v", r, err)
	}
}

// Training learns: with all labels a small network is far better than chance, one in
// ten, on the sources and on a target that it has never seen. Chance passes 25% of
// 600 images once in 10^24 times.
func TestTrainingBeatsChance(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Authors, "schedule.epochs", 10, "schedule.timing", config.Once)
	c.Exploration.Budget, c.Network.Width = "100%", 16
	c.Optimizer.BackboneRate, c.Optimizer.ClassHeadRate = 0.02, 0.02 // it is short
	dir, _ := trained(t, c)
	records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
	first, last := records[0], records[len(records)-1]
	if target, val := last.Target().Share(), last.SourceVal().Share(); target < 0.25 || val < 0.3 {
		t.Errorf("after %d epochs %.0f%% of the target and %.0f%% of the source validation images are right", len(records), 100*target, 100*val)
	}
	if last.Loss.Value("ce") > 0.8*first.Loss.Value("ce") {
		t.Errorf("the loss fell from %.2f to %.2f", first.Loss.Value("ce"), last.Loss.Value("ce"))
	}
}

func TestEvaluateEvery(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Paper)
	c.Schedule.EvaluateEvery = 3
	dir, r := trained(t, c)
	records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
	for e, rec := range records { // of 4: after the third, and after the last
		if rec.Evaluated() != (e >= 2) {
			t.Errorf("epoch %d has %d accuracies", e, len(rec.Accuracy))
		}
	}
	if err := r.Verify(records); err != nil {
		t.Error(err)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*run.Config)
		want   string
	}{
		{"a target that does not exist", func(c *run.Config) { c.Data.Target = "stamps" }, `has no domain "stamps"; it has cartoon, photo, print, sketch`},
		{"a budget above the pool", func(c *run.Config) { c.Exploration.Budget = "1621" }, "1621"},
		{"a budget below one label a domain", func(c *run.Config) { c.Exploration.Budget = "4" }, "every domain needs one"},
		{"a network that does not exist", func(c *run.Config) { c.Network.Name = "alexnet" }, "alexnet"},
		{"bfloat16 without XLA", func(c *run.Config) { c.Network.Precision = config.BFloat16 }, "precision bfloat16 needs XLA"},
		{"another format", func(c *run.Config) { c.Format = 7 }, "config format 7, want"},
		{"queries after the end", func(c *run.Config) { c.Schedule.QueryAfter = []int{3} }, "[3]"},
		{"NaN", func(c *run.Config) { c.Optimizer.BackboneRate = math.NaN() }, "NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := tiny(t, "ceg", config.Paper)
			tc.change(&c)
			dir := filepath.Join(t.TempDir(), "run")
			_, err := run.Run(t.Context(), c, run.Options{Dir: dir, Backend: "go"})
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, tc.want)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Error("the directory was made all the same")
			}
		})
	}
}

func TestEverythingLabelled(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Paper)
	c.Exploration.Budget, c.Exploration.InitialShare, c.Schedule.QueryAfter = "100%", 1, nil
	_, r := trained(t, c)
	if r.Labels != 1620 {
		t.Errorf("%d labels, want 1620", r.Labels)
	}
}

// TestResNetTrains keeps BatchNorm, per-domain passes and the residual network
// in a whole run.
func TestResNetTrains(t *testing.T) {
	for _, preset := range config.Presets() {
		t.Run(string(preset), func(t *testing.T) {
			c := tiny(t, "ceg", preset, "schedule.epochs", 2, "schedule.epoch_of", config.OverLabelled, "data.pool_share", 0.3)
			c.Network.Name, c.Network.Width, c.Schedule.PerDomain = "resnet18", 2, 4
			c.Network.Pooling = config.MeanPool
			_, r := trained(t, c)
			if r.Epochs != 2 {
				t.Errorf("%d epochs, want 2", r.Epochs)
			}
		})
	}
}

func TestCosineFactorMatchesPyTorch(t *testing.T) {
	var golden struct {
		Cases []struct {
			BaseLR float64 `json:"base_lr"`
			Epochs int
			LR     []float64
		}
	}
	raw := fatal.Get(os.ReadFile(filepath.Join("testdata", "schedule.json")))(t)
	fatal.If(t, json.Unmarshal(raw, &golden))
	if len(golden.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range golden.Cases {
		for e, want := range c.LR {
			if got := c.BaseLR * config.CosineFactor(e, c.Epochs); math.Abs(got-want) > 1e-9 {
				t.Errorf("base %v, epoch %d of %d: %v, want %v", c.BaseLR, e, c.Epochs, got, want)
			}
		}
	}
}

func TestPresetsKeepTheirTimetable(t *testing.T) {
	for _, tc := range []struct {
		dataset string
		preset  config.Preset
		want    string
	}{
		{"pacs", config.Authors, "[30 35 40 45 50 55]"},
		{"officehome", config.Authors, "[15 20 25]"},
		{"officehome", config.Paper, "[14 15 16 17 18 19 20 21 22 23 24 25 26 27 28]"},
	} {
		c := configtest.New(t, tc.dataset, "x", "ceg", tc.preset)
		if got := fmt.Sprint(c.Schedule.QueryAfter); got != tc.want {
			t.Errorf("%s %s asks after epochs %s, want %s", tc.dataset, tc.preset, got, tc.want)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, epochs := range []int{1, 2, 3, 7, 100} {
		c := configtest.New(t, "glyphs", "photo", "ceg", config.Authors, "schedule.epochs", epochs)
		if err := c.Validate(); err != nil {
			t.Errorf("%d epochs: %v", epochs, err)
		}
	}
}

func TestExportIsExactAndStartsAnotherRun(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Paper, "schedule.epochs", 1, "data.pool_share", 0.3)
	c.Network.Name, c.Network.Width, c.Schedule.PerDomain = "resnet18", 2, 4
	dir, _ := trained(t, c)
	to := filepath.Join(t.TempDir(), "w.safetensors")
	m, _ := fatal.Get2(run.LoadModel(run.Options{Dir: dir}))(t)
	digest := fatal.Get(m.Save(to))(t)
	exported := fatal.Get(weights.Open(to))(t)
	if exported.Digest != digest {
		t.Errorf("digest %s, the file's is %s", digest, exported.Digest)
	}
	saved := fatal.Get(weights.Open(filepath.Join(dir, checkpoint.File)))(t)
	for _, e := range exported.Tensors {
		k, ok := saved.Tensors.Lookup("weights/" + e.Name)
		if !ok || !bytes.Equal(e.Data, k.Data) {
			t.Errorf("%s is not what the checkpoint holds", e.Name)
		}
	}
	if _, ok := exported.Tensors.Lookup("layer4.1.bn2.running_var"); !ok {
		t.Errorf("the file has no layer4.1.bn2.running_var, but %q", exported.Tensors.Names())
	}

	source := fatal.Get(pretrained.Open(t.Context(), to, "resnet18", pretrained.Options{Offline: true}))(t)
	next := c
	next.Network.Weights, next.Optimizer.BackboneRate, next.Optimizer.ClassHeadRate = &source.Weights, 0.003, 0.01
	var messages []string
	o := run.Options{Weights: source, Dir: filepath.Join(t.TempDir(), "next"), Backend: "go", Observe: func(e run.Event) {
		if e.Message != "" {
			messages = append(messages, e.Message)
		}
	}}
	fatal.Get(run.Run(t.Context(), next, o))(t)
	if all := strings.Join(messages, "\n"); !strings.Contains(all, "weights w.safetensors") {
		t.Errorf("the run does not say what it starts from: %q", all)
	}
	raw, err := os.ReadFile(filepath.Join(o.Dir, result.ConfigFile))
	if err != nil || !bytes.Contains(raw, []byte(digest)) {
		t.Errorf("config.json does not record the digest: %v", err)
	}

	wrong := next
	wrong.Network.Width = 4
	untouched := filepath.Join(t.TempDir(), "wrong")
	_, err = run.Run(t.Context(), wrong, run.Options{Dir: untouched, Backend: "go", Weights: source})
	if err == nil || !strings.Contains(err.Error(), "conv1.weight: got [2 3 7 7], want [4 3 7 7]") {
		t.Errorf("weights of another width: got %v", err)
	}
	if _, err := os.Stat(untouched); !os.IsNotExist(err) {
		t.Errorf("weights that do not fit left a folder behind: %v", err)
	}
}
