package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/seed"
)

// burstFeatures writes a file of features: three sites, two classes, ten bursts of each with four
// images that are nearly the same. The classes are noise.
func burstFeatures(t *testing.T) string {
	t.Helper()
	const dim = 8
	var x []float32
	var ids []string
	var classes, domains []int64
	r := seed.New(1, "bursts")
	for d, site := range []string{"east", "north", "south"} {
		for b := range 20 {
			var at [dim]float32
			for j := range at {
				at[j] = float32(r.NormFloat64())
			}
			for i := range 4 {
				for _, v := range at {
					x = append(x, v+1e-3*float32(r.NormFloat64()))
				}
				ids, classes, domains = append(ids, fmt.Sprintf("%s/b%02d_%d", site, b, i)), append(classes, int64(b%2)), append(domains, int64(d))
			}
		}
	}
	bytes := func(v any) []byte {
		return fatal.Get(binary.Append(nil, binary.LittleEndian, v))(t)
	}
	names := []byte(strings.Join(ids, "\n") + "\n")
	sites := []byte("east\nnorth\nsouth\n")
	path := filepath.Join(t.TempDir(), "bursts.safetensors")
	f := fatal.Get(os.Create(path))(t)
	defer f.Close()
	fatal.If(t, safetensors.Write(f, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{len(ids), dim}, Data: bytes(x)},
		{Name: "labels", DType: safetensors.Int64, Shape: []int{len(ids)}, Data: bytes(classes)},
		{Name: "domains", DType: safetensors.Int64, Shape: []int{len(ids)}, Data: bytes(domains)},
		{Name: "ids", DType: safetensors.Uint8, Shape: []int{len(names)}, Data: names},
		{Name: "domain_names", DType: safetensors.Uint8, Shape: []int{len(sites)}, Data: sites},
	}, nil))
	return path
}

const burstRule = `^(.*/b\d+)_`

// repeated are the groups with more than one queried image.
func repeated(t *testing.T, dir string) (groups []string) {
	t.Helper()
	queries := fatal.Get(result.ReadQueries(os.DirFS(dir), result.QueriesFile))(t)
	seen := map[string]bool{}
	for _, q := range queries {
		group, _, _ := strings.Cut(q.ID, "_")
		if seen[group] {
			groups = append(groups, group)
		}
		seen[group] = true
	}
	return groups
}

// A run asks about one image of a group before a second, before training and later, and so does
// one that begins with its labels; its config tells the rule. Without one most runs ask twice.
func TestRunWithGroups(t *testing.T) {
	root := burstFeatures(t)
	run := func(group, method, initial string) string {
		t.Helper()
		c := configtest.New(t, "features", "east", method, config.Authors, "schedule.epochs", 4, "schedule.per_domain", 4, "schedule.timing", config.Early,
			"exploration.budget", "24", "data.group", group, "exploration.initial", initial)
		dir := filepath.Join(t.TempDir(), "run")
		res := fatal.Get(Run(t.Context(), c, Options{Dir: dir, Root: root, Backend: "go"}))(t)
		switch g := res.Groups; {
		case group == "":
			if g != nil {
				t.Errorf("%s: without a rule %+v groups are counted", method, *g)
			}
		case g == nil || g.Labels != res.Labels || g.Pool*4 != res.Pool: // of four images each
			t.Errorf("%s: %d labels of %d images are of the groups %+v", method, res.Labels, res.Pool, g)
		}
		return dir
	}
	leaks, dir := 0, ""
	for _, m := range [][2]string{{"ceg", "uniform"}, {"uniform", "uniform"}, {"typiclust", "maxherding"}, {"bvsb", "coreset"}} {
		dir = run(burstRule, m[0], m[1])
		if groups := repeated(t, dir); groups != nil {
			t.Errorf("%s after %s asks again about %q", m[0], m[1], groups)
		}
		if plain := run("", m[0], m[1]); repeated(t, plain) != nil {
			leaks++
		}
	}
	if leaks < 3 {
		t.Errorf("of four runs without groups %d ask twice about one: the test shows nothing", leaks)
	}
	// 40 groups of the sources, some of them for validation.
	e, err := Extend(Extension{Of: dir, Budget: "32"})
	if err != nil || e.Config.Data.Group != burstRule {
		t.Fatalf("%+v, %v", e, err)
	}
	out := filepath.Join(t.TempDir(), "more")
	fatal.If(t, e.Write(out))
	fatal.Get(Run(t.Context(), e.Config, Options{Dir: out, Resume: true, Backend: "go"}))(t)
	if groups := repeated(t, out); groups != nil {
		t.Errorf("the extended run asks again about %q", groups)
	}
}

// The column of a file of labels is a rule, too: the run keeps it, and a rule that joins images
// of the target with others is refused before anything is written.
func TestRunWithColumnOfGroups(t *testing.T) {
	root := burstFeatures(t)
	d, _ := fatal.Get2(datasets.Open("features", root, datasets.Options{}))(t)
	rule := regexp.MustCompile(burstRule)
	column := func(of func(id string) string) string {
		text := "id,group\n"
		for _, e := range d.Examples {
			text += e.ID + "," + of(e.ID) + "\n"
		}
		path := filepath.Join(t.TempDir(), "groups.csv")
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	config := func(file, target string) Config {
		list := fatal.Get(labels.ReadFile(file))(t)
		return configtest.New(t, "features", target, "uniform", config.Ledg, "schedule.epochs", 2, "schedule.per_domain", 4, "exploration.budget", "24",
			"data.labels", labels.Digest(list), "exploration.initial", "uniform")
	}
	file := column(func(id string) string { return rule.FindStringSubmatch(id)[1] })
	dir := filepath.Join(t.TempDir(), "run")
	c := config(file, "none")
	fatal.Get(Run(t.Context(), c, Options{Dir: dir, Root: root, Labels: file, Backend: "go"}))(t)
	if groups := repeated(t, dir); groups != nil {
		t.Errorf("it asks again about %q", groups)
	}
	fatal.If(t, os.Remove(file))
	_, again, _, err := OpenData(Options{Dir: dir}) // by the run's own copy
	if err != nil || len(again.GroupNames) != 60 || again.Ungrouped != 0 {
		t.Errorf("%v", err)
	}
	k, err := artifact.Read(dir)
	if err != nil || k == nil || k.Estimate == nil || k.Estimate.Groups != 24 || k.Estimate.Labels != 24 {
		t.Errorf("estimate %+v, %v", k, err)
	}
	// A file without the column is other labels.
	bare := column(func(string) string { return "all" })
	if list, err := labels.ReadFile(bare); err != nil || labels.Digest(list) == c.Data.Labels {
		t.Errorf("other groups have the same digest, %v", err)
	}
	out := filepath.Join(t.TempDir(), "refused")
	_, err = Run(t.Context(), config(bare, "east"), Options{Dir: out, Root: root, Labels: bare, Backend: "go"})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "group all has images of the target") {
		t.Errorf("one group of all: %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused run has left its folder: %v", err)
	}
}

// A group in the target and in a source is refused.
func TestGroupsApart(t *testing.T) {
	root := burstFeatures(t)
	c := configtest.New(t, "features", "east", "uniform", config.Ledg, "data.group", `/(b\d+)_`)
	d, _, err := datasets.Open("features", root, datasets.Options{Group: c.Data.Group})
	if err != nil {
		t.Fatal(err)
	}
	var setting *config.Error
	if _, err = campaign.New(c, d); !errors.As(err, &setting) || setting.Path != "data.group" ||
		!strings.Contains(err.Error(), "group b00 has images of the target, as east/b00_3, and of a source, as south/b00_3") {
		t.Errorf("error %v", err)
	}
	c.Data.Target = config.NoTarget
	if _, err := campaign.New(c, d); err != nil {
		t.Errorf("without a target: %v", err)
	}
	// A share of the pool has whole groups.
	c.Data.Group, c.Data.PoolShare = burstRule, 0.5
	d, _ = fatal.Get2(datasets.Open("features", root, datasets.Options{Group: burstRule}))(t)
	in, count := campaign.Places(c, d), map[int]int{}
	for _, i := range in {
		count[d.Groups[i]]++
	}
	for k, n := range count {
		if n != 4 {
			t.Errorf("%d images of group %s are in the share", n, d.GroupNames[k])
		}
	}
	all := campaign.Places(config.Config{Data: config.Data{Target: config.NoTarget}}, d)
	if n := len(in); n < len(all)/2 || n > len(all)/2+12 || !slices.IsSorted(in) {
		t.Errorf("%d of %d images", n, len(all))
	}
}
