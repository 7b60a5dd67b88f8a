package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/zst"
)

// Every field of Config is a row of the table, every row a field, and every row says what
// it is and where its value comes from.
func TestTableIsComplete(t *testing.T) {
	var fields []string
	var walk func(t reflect.Type, prefix string)
	walk = func(t reflect.Type, prefix string) {
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Type.Kind() == reflect.Struct {
				walk(f.Type, prefix+name+".")
			} else if prefix+name != "format" {
				fields = append(fields, prefix+name)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
	var rows []string
	for _, s := range table {
		if s.Help == "" || s.Default == "" || s.value == nil {
			t.Errorf("%s is incomplete: %+v", s.Path, s)
		}
		rows = append(rows, s.Path)
	}
	slices.Sort(fields)
	slices.Sort(rows)
	if !slices.Equal(fields, rows) {
		t.Errorf("fields\n%q\nrows\n%q", fields, rows)
	}
}

// The package links no engine.
func TestLinksNoEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go command")
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skip("no go command:", err)
	}
	if i := strings.Index(string(out), "gomlx"); i >= 0 {
		t.Errorf("it links %s", strings.Fields(string(out)[i:])[0])
	}
}

// In what order settings are said does not matter.
func TestOrderDoesNotMatter(t *testing.T) {
	all := []struct {
		path  string
		value any
	}{
		{"schedule.epochs", 12}, {"schedule.timing", "early"}, {"exploration.initial_share", 0.4}, {"protocol", "original"},
		{"network.weights", "imagenet"}, {"network.name", "resnet18"}, {"data.image_size", 96}, {"method", "uniform+fixmatch"}, {"generalization.reduction", "mean"},
	}
	want := ""
	for range 20 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		set := map[string]any{}
		for _, s := range all {
			set[s.path] = s.value
		}
		c := fatal.Get(Resolve(Spec{Dataset: "pacs", Target: "sketch", Set: set}))(t)
		data := fatal.Get(json.Marshal(c))(t)
		if want == "" {
			want = string(data)
		}
		if string(data) != want {
			t.Fatalf("got %s\nwant %s", data, want)
		}
	}
}

// What makes no sense is one error that names the setting, or both.
func TestWrongSettings(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Target: "photo", Set: map[string]any{"generalization.dleta": 1}}, "generalization.dleta: no such setting; did you mean generalization.delta?"},
		{Spec{Target: "photo", Set: map[string]any{"colour": 1}}, "colour: no such setting; there are data.*, exploration.*"},
		{Spec{Target: "photo", Set: map[string]any{"schedule.epochs": "3"}}, `schedule.epochs: "3", want a whole number`},
		{Spec{Target: "photo", Set: map[string]any{"schedule.epochs": nil}}, "schedule.epochs: null, want a whole number"},
		{Spec{Target: "photo", Set: map[string]any{"schedule.epochs": 2.5}}, "schedule.epochs: 2.5, want a whole number"},
		{Spec{Target: "photo", Epochs: 9, Set: map[string]any{"network.width": 9007199254740992}}, "network.width: 9007199254740992, want at least 1 and at most 8192"},
		{Spec{Target: "photo", Set: map[string]any{"data.image_size": 1 << 31}}, "data.image_size: 2147483648, want at least 8 and at most 4096"},
		{Spec{Target: "photo", Set: map[string]any{"exploration.gamma1": -1}}, "exploration.gamma1: -1, want at least 0"},
		{Spec{Target: "photo", Set: map[string]any{"generalization.rsc_share": 0.0}}, "generalization.rsc_share: 0, want above 0 and below 1"},
		{Spec{Target: "photo", Set: map[string]any{"data.pool_share": 1}}, "data.pool_share: 1, want above 0 and below 1"},
		{Spec{Dataset: "features", Target: "photo", Set: map[string]any{"network.head_epochs": 2}}, `network.head_epochs 2 and data.dataset "features" contradict each other`},
		{Spec{Target: "photo", Epochs: 3, Set: map[string]any{"network.head_epochs": 4}}, "network.head_epochs 4 and schedule.epochs 3 contradict each other"},
		{Spec{Target: "photo", Set: map[string]any{"network.head_epochs": 1, "network.freeze": "head"}}, `network.head_epochs 1 and network.freeze "head" contradict each other`},
		{Spec{Dataset: "features", Target: "photo", Set: map[string]any{"data.views": 3}}, `data.views 3 and data.dataset "features" contradict each other`},
		{Spec{Target: "photo", Set: map[string]any{"data.views": 3}}, `data.views 3 and network.freeze "none" contradict each other`},
		{Spec{Target: "photo", Set: map[string]any{"data.views": 3, "network.freeze": "norm"}}, `data.views 3 and network.freeze "norm" contradict each other`},
		{Spec{Target: "photo", Set: map[string]any{"data.views": 2, "network.freeze": "1"}}, `data.views: 2, want at least 3 and at most 1000`},
		{Spec{Target: "photo", Method: "uniform+jigen", Set: map[string]any{"data.views": 3, "network.freeze": "1"}}, `data.views 3 and generalization.objective "jigen" contradict each other`},
		{Spec{Target: "photo", Set: map[string]any{"data.pool_seed": 3}}, `data.pool_seed 3 and data.pool_share "all" contradict each other`},
		{Spec{Target: "photo", Method: "fixmatch", Set: map[string]any{"network.head_start": "logistic"}}, `network.head_start "logistic" and network.name "smallcnn" contradict each other`},
		{Spec{Dataset: "features", Target: "photo", Method: "meanteacher", Set: map[string]any{"network.head_start": "logistic"}}, `network.head_start "logistic" and generalization.objective "meanteacher" contradict each other`},
		{Spec{Dataset: "features", Target: "photo", Method: "fixmatch", Set: map[string]any{"network.head_start": "logistic", "generalization.average": "ema"}}, `network.head_start "logistic" and generalization.average "ema" contradict each other`},
		{Spec{Target: "photo", Method: "ceg", Set: map[string]any{"schedule.batches": "images"}}, `schedule.batches "images" and generalization.objective "ceg" contradict each other`},
		{Spec{Target: "photo", Method: "fixmatch", Set: map[string]any{"schedule.batches": "images", "generalization.batch_norm": "per_domain"}}, `schedule.batches "images" and generalization.batch_norm "per_domain" contradict each other`},
		{Spec{Target: "photo", Budget: "0%"}, `exploration.budget: budget "0%"`},
		{Spec{}, "data.target: missing"},
		{Spec{Target: "photo", Epochs: 3, Set: map[string]any{"schedule.epochs": 4}}, "schedule.epochs 3 and schedule.epochs 4 contradict each other"},
		{Spec{Target: "photo", Method: "ceg", Strategy: "badge"}, `method "ceg" and exploration.strategy "badge" contradict each other`},
		{Spec{Target: "photo", Method: "fixmatch", Objective: "jigen"}, `method "fixmatch" and generalization.objective "jigen" contradict each other`},
		{Spec{Target: "photo", Timing: Once, Set: map[string]any{"exploration.initial_share": 0.5}}, `schedule.timing "once" and exploration.initial_share 0.5 contradict each other`},
		{Spec{Target: "photo", Weights: "imagenet", Set: map[string]any{"network.name": "resnet18", "network.width": 16}}, `network.width 16 and network.weights "imagenet" contradict each other`},
		{Spec{Target: "photo", Method: "uniform+logistic"}, `data.dataset "glyphs" and generalization.objective "logistic" contradict each other`},
		{Spec{Dataset: "features", Target: "photo", Method: "ceg+logistic"}, `exploration.strategy "ceg" and generalization.objective "logistic" contradict each other`},
		{Spec{Target: "photo", Set: map[string]any{"schedule.query_after": []int{3, 1}}}, "schedule.query_after: [3 1], want increasing epochs"},
		{Spec{Target: "photo", Set: map[string]any{"schedule.query_after": []int{19}}}, "schedule.query_after: [19], want 0 to 18"},
	} {
		_, err := Resolve(c.spec)
		var one *Error
		var two *Conflict
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.As(err, &one) && !errors.As(err, &two) {
			t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
		}
	}
}

// A file .onnx as the network is the network's name and its weights, however it is said.
func TestNetworkOfAFile(t *testing.T) {
	spec := Spec{Target: "photo", Set: map[string]any{"network.name": "nets/a.ONNX", "network.output": "x", "network.pixels": "clip"}}
	c := Must(spec)
	if n := c.Network; n.Name != Imported || n.Weights == nil || n.Weights.Name != "a.ONNX" || n.Pixels != CLIPPixels || c.Optimizer.BackboneRate != 0.003 {
		t.Errorf("network %+v, rate %v", n, c.Optimizer.BackboneRate)
	}
	if w := Must(Spec{Target: "photo", Set: map[string]any{"network.name": "hf:who/vit@v1"}}).Network.Weights; w == nil || w.Name != "hf:who/vit@v1" || w.File() != "model.onnx" {
		t.Errorf("of the hub: weights %+v", w)
	}
	if spec.Set["network.name"] != "nets/a.ONNX" {
		t.Errorf("the spec is changed to %v", spec.Set)
	}
	same := Must(Spec{Target: "photo", Weights: "nets/a.ONNX", Set: map[string]any{"network.name": Imported, "network.output": "x", "network.pixels": "clip"}})
	if !reflect.DeepEqual(c, same) {
		t.Errorf("named twice it is %+v, want %+v", same.Network, c.Network)
	}
	for want, set := range map[string]map[string]any{
		"the file has the weights":                 {"network.name": "a.onnx", "network.weights": "imagenet"},
		"name the file .onnx instead":              {"network.name": "onnx"},
		"give it as the network":                   {"network.name": "resnet18", "network.weights": "a.onnx"},
		"it is for networks from files .onnx":      {"network.output": "x"},
		"network.tokens: \"all\", want one of":     {"network.name": "a.onnx", "network.tokens": "all"},
		"it computes in float32":                   {"network.name": "a.onnx", "network.precision": "bfloat16"},
		"network.lora_rank 4 and network.name":     {"network.lora_rank": 4},
		"all else of the network stays as it is":   {"network.name": "a.onnx", "network.lora_rank": 4, "network.freeze": "norm"},
		"there are no adapters to scale":           {"network.name": "a.onnx", "network.lora_alpha": 4},
		"network.lora_alpha: 0, want above 0":      {"network.name": "a.onnx", "network.lora_rank": 4, "network.lora_alpha": 0},
		"its features come from a network already": {"data.dataset": "features", "network.name": "a.onnx"},
	} {
		fatal.Says(t, fatal.Err(Resolve(Spec{Target: "photo", Set: set})), want)
	}
}

// A parameter under the paper's name is the settings that it stands for.
func TestParameters(t *testing.T) {
	for _, p := range Parameters() {
		c := Must(Spec{Target: "photo", Set: map[string]any{p.Name: 0.625}})
		if p.Of(c) != 0.625 {
			t.Errorf("%s is %v", p.Name, p.Of(c))
		}
	}
	if c := Must(Spec{Target: "photo", Set: map[string]any{"T": 0.8}}); c.Generalization.ThresholdStart != 0.4 {
		t.Errorf("T begins with %v", c.Generalization.ThresholdStart)
	}
}

// golden are configs of a version that made them by setters in a fixed order.
func TestGoldenConfigs(t *testing.T) {
	data := zst.Read(t, "testdata/configs.jsonl.zst")
	n := 0
	for line := range bytes.Lines(data) {
		var g struct {
			Set    map[string]any  `json:"set"`
			Config json.RawMessage `json:"config"`
		}
		fatal.If(t, json.Unmarshal(line, &g))
		c, err := Resolve(Spec{Set: g.Set})
		if err != nil {
			t.Errorf("%v: %v", g.Set, err)
			continue
		}
		got := fatal.Get(json.Marshal(c))(t)
		if string(got) != string(g.Config) {
			t.Errorf("%v:\n%s, want\n%s", g.Set, got, g.Config)
		}
		n++
	}
	if n < 40 {
		t.Errorf("%d configs", n)
	}
}
