package study

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// scripts is the folder of the study files and cluster scripts.
var scripts = filepath.Join("..", "..", "scripts")

// studyFiles loads the studies that come with the repository, by name.
//
// Several tests read the plans, which take seconds to make: they share them.
func studyFiles(t *testing.T) map[string]*Plan {
	t.Helper()
	planned.once.Do(func() { planned.plans = planStudyFiles(t) })
	if planned.plans == nil {
		t.Fatal("the studies cannot be planned, as the first test that needs them says")
	}
	return maps.Clone(planned.plans)
}

var planned struct {
	once  sync.Once
	plans map[string]*Plan
}

func planStudyFiles(t *testing.T) map[string]*Plan {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(scripts, "studies", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no study files", err)
	}
	plans := map[string]*Plan{}
	for _, path := range paths {
		s := fatal.Get(Load(path))(t)
		if want := strings.TrimSuffix(filepath.Base(path), ".yaml"); s.Name != want || s.About == "" {
			t.Errorf("%s is called %q and is about %q", path, s.Name, s.About)
		}
		plans[s.Name] = plan(t, s)
	}
	return plans
}

// The studies have all runs that the paper's tables and figures look for, on the
// paper's data sets and on glyphs.
func TestStudyFiles(t *testing.T) {
	plans := studyFiles(t)
	s := fatal.Get(Load(filepath.Join(scripts, "studies", "announced", "paper-sensitivity.yaml")))(t)
	sensitivity := plan(t, s)
	for _, r := range sensitivity.Runs {
		if r.Dataset != "glyphs" {
			t.Errorf("%s has %s", s.Name, r.Key())
		}
	}
	for name, p := range plans {
		if strings.HasPrefix(name, "features-") || name == "new-site-pacs" { // of a file that ledg embed has made
			if r := p.Runs[0]; r.Dataset != "features" || r.Config.Network.Name != "linear" || r.Config.Data.ImageSize != 0 {
				t.Errorf("%s has %s with %+v", name, r.Key(), r.Config)
			}
			continue
		}
		if glyphs, ok := strings.CutSuffix(name, "-glyphs"); ok || name == "budget-photo" {
			alone := []string{"budget-photo", "asking-late", "batches", "candidates", "new-site", "objectives", "strategies"}
			if !slices.Contains(alone, glyphs) && plans[glyphs] == nil {
				t.Errorf("%s has no edition for the paper's data", name)
			}
			for _, r := range p.Runs {
				if r.Dataset != "glyphs" || r.Config.Network.Weights != nil {
					t.Errorf("%s has %s", name, r.Key())
					break
				}
			}
			continue
		}
		if name != "sensitivity" && plans[onGlyphs(name)] == nil {
			t.Errorf("%s has no edition for glyphs", name)
		}
		for _, r := range p.Runs {
			if c := r.Config; c.Network.Name != "resnet18" || c.Network.Weights == nil || c.Data.ImageSize != 224 || c.Optimizer.BackboneRate != 0.003/3 && c.Optimizer.BackboneRate != 0.003 {
				t.Errorf("%s has %s with %+v", name, r.Key(), c)
				break
			}
		}
	}
	plans[s.Name] = sensitivity
	for _, table := range report.PaperTables() {
		for _, dataset := range append([]string{"glyphs"}, table.Datasets...) {
			name := table.Name
			if dataset == "glyphs" {
				name += "-glyphs"
			}
			for _, row := range table.Rows {
				for _, target := range domains(dataset) {
					has := slices.ContainsFunc(plans[name].Runs, func(r Job) bool {
						return r.Dataset == dataset && r.Target == target && r.Method == row.Method && r.Variant == row.Variant && r.Budget == "5%"
					})
					if !has && row.Method != "" && row.Needs == "" {
						t.Errorf("%s has no run of %s on %s for %s", name, row.Name, dataset, target)
					}
				}
			}
		}
	}
	for name, labels := range map[string][]string{
		"sensitivity": {"ceg delta=1", "ceg T=1", "ceg gamma1=1 gamma2=1", "uniform-ce"},
		"epochs":      {"uniform-ce", "ceg-ce", "ceg"},
		"budget":      {"uniform-ce", "ceg"},
		"tsne":        {"ceg"},
		"strategies":  {"uniform-ce", "badge-ce", "ceg"},
	} {
		for _, edition := range []string{name, onGlyphs(name)} {
			if plans[edition] == nil && name == "strategies" {
				continue
			}
			for _, label := range labels {
				if !slices.ContainsFunc(plans[edition].Runs, func(r Job) bool { return r.Label() == label }) {
					t.Errorf("%s has no %s", edition, label)
				}
			}
		}
	}
}

// onGlyphs is the study of a table or figure on glyphs.
func onGlyphs(name string) string {
	switch name {
	case "sensitivity":
		return "paper-sensitivity"
	case "budget":
		return "budget-photo"
	}
	return name + "-glyphs"
}

// Every study that is announced can be planned, and its plan names it with its runs.
func TestPreregistered(t *testing.T) {
	dir := filepath.Join(scripts, "studies", "announced")
	pages, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("no plans", err)
	}
	studies := 0
	for _, page := range pages {
		text := fatal.Get(os.ReadFile(page))(t)
		for _, part := range []string{"Hypotheses", "Arms", "Seeds", "Primary comparison", "Correction", "Stopping rule", "What would count against us"} {
			if !strings.Contains(string(text), "**"+part+".**") {
				t.Errorf("%s does not say %q", page, part)
			}
		}
		topic := strings.TrimSuffix(page, ".md")
		files := fatal.Get(filepath.Glob(topic + "*.yaml"))(t)
		files = slices.DeleteFunc(files, func(file string) bool { // another page's: preset-epochs is not preset's
			return slices.ContainsFunc(pages, func(other string) bool {
				other = strings.TrimSuffix(other, ".md")
				return len(other) > len(topic) && strings.HasPrefix(file, other)
			})
		})
		studies += len(files)
		for _, file := range files {
			s := fatal.Get(Load(file))(t)
			dirs := map[string]bool{}
			for _, r := range plan(t, s).Runs {
				dirs[r.Dir] = true
			}
			if number := fmt.Sprintf("%d runs", len(dirs)); s.Name+".yaml" != filepath.Base(file) || !strings.Contains(string(text), "`"+s.Name+".yaml`") || !strings.Contains(string(text), number) {
				t.Errorf("%s is called %q and has %s, which its plan does not say", file, s.Name, number)
			}
		}
	}
	if all, err := filepath.Glob(filepath.Join(dir, "*.yaml")); err != nil || len(all) != studies || studies == 0 {
		t.Errorf("%d of %d studies have a plan, %v", studies, len(all), err)
	}
}

// The glyphs studies can share a folder: no label means two things, and what they
// have in common is run once.
func TestGlyphsStudiesShare(t *testing.T) {
	dirs := map[string]string{}
	total, distinct := 0, map[string]bool{}
	for name, p := range studyFiles(t) {
		if !strings.HasSuffix(name, "-glyphs") {
			continue
		}
		for _, r := range p.Runs {
			total++
			distinct[r.Dir] = true
			if dir, ok := dirs[r.Key()]; ok && dir != r.Dir {
				t.Errorf("%s is %s and %s", r.Key(), dir, r.Dir)
			}
			dirs[r.Key()] = r.Dir
		}
	}
	if len(distinct) > total*4/5 {
		t.Errorf("%d of %d runs are distinct", len(distinct), total)
	}
}

// fakeLedg is a program that prints its arguments.
func fakeLedg(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledg")
	fatal.If(t, os.WriteFile(path, []byte("#!/bin/sh\necho \"$GOMAXPROCS $*\"\n"), 0o777))
	return path
}

func TestSlurmScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	array := []string{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=8", "SLURM_ARRAY_TASK_MIN=0", "SLURM_CPUS_PER_TASK=4"}
	for script, want := range map[string]string{
		"slurm_study.sh": "4 study run a b --dir runs\n",
		"slurm_parts.sh": "4 a b --dir runs --shard 2/8\n",
	} {
		run := func(env []string, args ...string) (string, error) {
			cmd := exec.Command(bash, append([]string{filepath.Join(scripts, script)}, args...)...)
			cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "LEDG=" + fakeLedg(t)}, env...)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		if out, err := run(array, "a b", "--dir", "runs"); err != nil || out != want {
			t.Errorf("%s: %q, %v", script, out, err)
		}
		for name, tt := range map[string]struct {
			env, args []string
			want      string
		}{
			"nothing":  {array, nil, "usage: sbatch"},
			"no array": {nil, []string{"s.yaml"}, "submit this as an array"},
			"from 1":   {append(slices.Clone(array), "SLURM_ARRAY_TASK_MIN=1"), []string{"s.yaml"}, "count the tasks from 0"},
		} {
			if out, err := run(tt.env, tt.args...); err == nil || !strings.Contains(out, tt.want) {
				t.Errorf("%s, %s: %q, %v", script, name, out, err)
			}
		}
	}
}

// Each manifest is one Job whose numbers of pods agree with its command, which is one that
// ledg has. That of studies was checked against the API's own types, with unknown fields
// refused, when it was written; the other has no field that it has not.
func TestKubernetesManifests(t *testing.T) {
	for name, want := range map[string]string{
		"k8s-study.yaml": " study run /studies/table3.yaml --dir /runs/table3 --cache /cache\n",
		"k8s-parts.yaml": " embed --dataset folder --root /data/photos --out /out/photos.safetensors --shard 5/8\n",
	} {
		t.Run(name, func(t *testing.T) { manifest(t, name, want) })
	}
	study, parts := keysOf(t, "k8s-study.yaml"), keysOf(t, "k8s-parts.yaml")
	for key := range parts {
		if !study[key] {
			t.Errorf("k8s-parts.yaml has the field %s", key)
		}
	}
}

// keysOf are the fields of a manifest, with the fields that they are in.
func keysOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	data := fatal.Get(os.ReadFile(filepath.Join(scripts, name)))(t)
	var all any
	fatal.If(t, yaml.Unmarshal(data, &all))
	keys := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				keys[at+"."+k] = true
				walk(at+"."+k, inner)
			}
		case []any:
			for _, inner := range v {
				walk(at, inner)
			}
		}
	}
	walk("", all)
	return keys
}

func manifest(t *testing.T, name, want string) {
	data := fatal.Get(os.ReadFile(filepath.Join(scripts, name)))(t)
	var job struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct {
			CompletionMode           string `yaml:"completionMode"`
			Completions, Parallelism int
			Template                 struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Command      []string
						VolumeMounts []struct{ Name string } `yaml:"volumeMounts"`
					}
					Volumes []struct{ Name string }
				}
			}
		}
	}
	fatal.If(t, yaml.Unmarshal(data, &job))
	s := job.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || s.CompletionMode != "Indexed" || s.Completions != s.Parallelism || s.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("job is %+v", job)
	}
	pod := s.Template.Spec
	for _, m := range pod.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v struct{ Name string }) bool { return v.Name == m.Name }) {
			t.Errorf("there is no volume %s", m.Name)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	ledg := fakeLedg(t)
	cmd := exec.Command(sh, pod.Containers[0].Command[1:]...)
	cmd.Env = []string{"PATH=" + filepath.Dir(ledg) + ":" + os.Getenv("PATH"), "JOB_COMPLETION_INDEX=5"}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != want || s.Completions != 8 {
		t.Errorf("%d pods run %q, %v", s.Completions, out, err)
	}
}

// The study of objectives has every one that needs no extra files, with labels upfront.
func TestStudyOfObjectives(t *testing.T) {
	runs := studyFiles(t)["objectives-glyphs"].Runs
	for _, m := range config.Objectives() {
		n := 0
		for _, r := range runs {
			if r.Config.Generalization.Objective == m.Name {
				n++
				if r.Config.Exploration.InitialShare != 1 || r.Config.Exploration.Strategy != "uniform" {
					t.Errorf("%s: %+v", r.Key(), r.Config.Exploration)
				}
			}
		}
		if m.Fits { // for features
			continue
		}
		if want := 12; n < want && !m.NeedsStyle {
			t.Errorf("%d runs of %s, want at least %d", n, m.Name, want)
		}
	}
}
