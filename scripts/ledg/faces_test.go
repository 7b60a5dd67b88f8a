package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The same words mean the same config, to the byte, on the command line, in a study file
// and in a notebook.
func TestSameWordsSameConfig(t *testing.T) {
	dir := t.TempDir()
	sets := []string{
		"", "schedule.epochs: 7", "schedule.timing: early", "schedule.timing: published, schedule.epochs: 12", "exploration.initial_share: 0.3",
		"exploration.initial: typiclust, schedule.timing: once", "exploration.domains: balanced, schedule.timing: published",
		"gamma1: 2, gamma2: 0.5", "T: 0.8", "generalization.delta: 0, network.width: 9, data.image_size: 48", "protocol: original",
		"schedule.query_after: [1, 3], schedule.epochs: 9", "network.name: resnet18, network.width: 16",
	}
	n := 0
	for _, head := range []config.Spec{
		{Dataset: "glyphs", Target: "photo", Method: "ceg"}, {Dataset: "glyphs", Target: "sketch", Method: "uniform-ce", Preset: config.Paper},
		{Dataset: "glyphs", Target: "photo", Method: "fixmatch", Preset: config.Ledg}, {Dataset: "folder", Target: "night", Method: "uniform+rsc"},
	} {
		for _, set := range sets {
			s := head
			if head.Dataset == "folder" && !strings.Contains(set, "network.name") { // train takes features otherwise
				set = strings.TrimPrefix(set+", network.name: smallcnn", ", ")
			}
			if s.Set = map[string]any{}; set != "" {
				fatal.If(t, json.Unmarshal([]byte("{"+quoteKeys(set)+"}"), &s.Set))
			}
			s.Budget, s.Seed = "30", 4
			want, err := config.Resolve(s)
			if strings.Contains(set, "original") && head.Method == "ceg" || strings.Contains(set, "0.3") && head.Method == "fixmatch" {
				if err == nil {
					t.Errorf("%s with %s: no error", head.Method, set)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			var notebook bytes.Buffer
			fatal.If(t, result.WriteConfig(&notebook, want))

			args := []string{"train", "--print-config", "--dataset", s.Dataset, "--target", s.Target, "--method", s.Method, "--budget", "30", "--seed", "4"}
			if s.Preset != "" {
				args = append(args, "--preset", string(s.Preset))
			}
			if s.Dataset == "folder" {
				args = append(args, "--root", dir)
			}
			for path, v := range s.Set {
				text := fatal.Get(json.Marshal(v))(t)
				args = append(args, "--set", path+"="+strings.Trim(string(text), `"`))
			}
			command, stderr, status := call(t, dir, args...)
			if status != 0 || command != notebook.String() {
				t.Errorf("%q: status %d, %s\n%s\nwant\n%s", args, status, stderr, command, &notebook)
			}

			yaml := fmt.Sprintf("name: s\ndataset: %s\ntargets: [%s]\nmethods: [%s]\nbudgets: [\"30\"]\nseeds: [4]\nset: {%s}\n", s.Dataset, s.Target, s.Method, set)
			if s.Preset != "" {
				yaml += "preset: " + string(s.Preset) + "\n"
			}
			file := fatal.Get(study.Parse("s.yaml", []byte(yaml)))(t)
			plan := fatal.Get(file.Plan())(t)
			var planned bytes.Buffer
			fatal.If(t, result.WriteConfig(&planned, plan.Runs[0].Config))
			if planned.String() != notebook.String() {
				t.Errorf("study\n%s\n%s\nwant\n%s", yaml, &planned, &notebook)
			}
			n++
		}
	}
	if n < 40 {
		t.Errorf("%d combinations", n)
	}
}

// quoteKeys makes JSON of a YAML map's inside.
func quoteKeys(set string) string {
	var parts []string
	for _, part := range strings.Split(strings.ReplaceAll(set, "[1, 3]", "[1;3]"), ", ") {
		key, value, _ := strings.Cut(part, ": ")
		if value = strings.ReplaceAll(value, ";", ","); strings.IndexAny(value, "[0123456789") != 0 {
			value = `"` + value + `"`
		}
		parts = append(parts, `"`+key+`":`+value)
	}
	return strings.Join(parts, ",")
}

// Every setting is shown with its value and where it comes from; names are settings,
// groups, flags and the paper's parameters.
func TestSettingsCommand(t *testing.T) {
	dir := t.TempDir()
	all, _, status := call(t, dir, "settings")
	if status != 0 {
		t.Fatal(all)
	}
	for _, s := range config.Settings() {
		if !strings.Contains(all, "\n"+s.Path+" ") {
			t.Errorf("%s is not listed", s.Path)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"settings epochs --dataset pacs", "value       60 (data set pacs, method ceg, preset authors)"},
		{"settings gamma1", "exploration.gamma1\n"},
		{"settings T", "generalization.threshold_end\n"},
		{"settings schedule --preset ledg", "schedule.timing          --timing  once"},
		{"settings exploration.initial --preset ledg --dataset features", "value       maxherding"},
	} {
		prints(t, c.want, dir, strings.Fields(c.args)...)
	}
	_, stderr, status := call(t, dir, "settings", "schedule.epoch")
	if status != 2 || !strings.Contains(stderr, "schedule.epoch: no such setting; did you mean schedule.epochs?") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
