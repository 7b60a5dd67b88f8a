package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// Runs that share a file end as those that read it each for itself, whatever their
// target and normalisation; and a file that has changed is read again.
func TestShared(t *testing.T) {
	root := embeddingtest.Glyphs(t, 3)
	var shared examples.Shared
	defer shared.Close()
	train := func(target string, n config.Normalisation, s *examples.Shared) *result.Result {
		c := configtest.New(t, "features", target, "uniform-ce", config.Authors, "schedule.epochs", 2, "schedule.timing", config.Once)
		c.Exploration.Budget, c.Schedule.PerDomain, c.Data.Normalise = "30", 8, n
		return fatal.Get(Run(t.Context(), c, Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", Shared: s}))(t)
	}
	for _, target := range []string{"sketch", "photo", "sketch"} {
		for _, n := range []config.Normalisation{"", config.RootFeatures} {
			own, with := train(target, n, nil), train(target, n, &shared)
			if own.Accuracy.LastEpoch != with.Accuracy.LastEpoch || own.Images != with.Images {
				t.Errorf("%s, %q: %+v, shared %+v", target, n, own.Accuracy.LastEpoch, with.Accuracy.LastEpoch)
			}
		}
	}
	if shared.Len() != 2 {
		t.Errorf("%d files are open, want one for each normalisation", shared.Len())
	}
	for _, sites := range []string{"", "other"} { // examples are sorted by domain
		own, with := trainSites(t, root, sites, nil), trainSites(t, root, sites, &shared)
		if own.Accuracy.LastEpoch != with.Accuracy.LastEpoch {
			t.Errorf("sites %q: %+v, shared %+v", sites, own.Accuracy.LastEpoch, with.Accuracy.LastEpoch)
		}
	}
	before := train("sketch", "", &shared)
	other := fatal.Get(os.ReadFile(embeddingtest.Glyphs(t, 2)))(t)
	fatal.If(t, os.WriteFile(root, other, 0o666))
	if after := train("sketch", "", &shared); after.Images == before.Images {
		t.Errorf("the file has changed, and its digest is still %s", after.Images)
	}
}

// trainSites trains on the features at root. With sites, a table of labels swaps the domain of
// every second source image.
func trainSites(t *testing.T, root, sites string, shared *examples.Shared) *result.Result {
	c := configtest.New(t, "features", "sketch", "uniform-ce", config.Authors, "schedule.epochs", 2, "schedule.timing", config.Once)
	c.Exploration.Budget, c.Schedule.PerDomain = "30", 8
	o := Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", Shared: shared}
	if sites != "" {
		data, _ := fatal.Get2(datasets.Open("features", root, datasets.Options{}))(t)
		table := "path,site\n"
		for i, e := range data.Examples {
			site := data.Domains[e.Domain]
			if site != "sketch" && i%2 == 0 {
				site = sites
			}
			table += e.ID + "," + site + "\n"
		}
		o.Labels = filepath.Join(t.TempDir(), "sites.csv")
		fatal.If(t, os.WriteFile(o.Labels, []byte(table), 0o666))
		list := fatal.Get(labels.ReadFile(o.Labels))(t)
		c.Data.Labels = labels.Digest(list)
	}
	return fatal.Get(Run(t.Context(), c, o))(t)
}

// Runs that share what a strategy chose before training ask what they would have asked
// alone, and only those choose anew that choose from something else.
func TestSharedChoice(t *testing.T) {
	root := embeddingtest.Glyphs(t, 3)
	var shared examples.Shared
	defer shared.Close()
	runOf := func(method, initial string, seed uint64, n config.Normalisation, budget string, s *examples.Shared) string {
		c := configtest.New(t, "features", "sketch", method, config.Authors, "schedule.epochs", 1, "schedule.timing", config.Once)
		c.Exploration.Budget, c.Exploration.Initial, c.Seed, c.Data.Normalise, c.Schedule.PerDomain = budget, initial, seed, n, 8
		dir := filepath.Join(t.TempDir(), "run")
		fatal.Get(Run(t.Context(), c, Options{Dir: dir, Root: root, Backend: "go", Shared: s}))(t)
		queries := fatal.Get(os.ReadFile(filepath.Join(dir, result.QueriesFile)))(t)
		return string(queries)
	}
	for i, test := range []struct {
		method, initial string
		seed            uint64
		normal          config.Normalisation
		budget          string
		choices         int
	}{
		{"uniform-ce", "maxherding", 1, "", "30", 1},
		{"uniform", "maxherding", 1, "", "30", 1},
		{"uniform", "maxherding", 1, config.RootFeatures, "30", 2},
		{"uniform", "typiclust", 1, "", "30", 3},
		{"uniform", "typiclust", 2, "", "30", 4},
		{"uniform", "typiclust", 2, "", "40", 5},
		{"uniform", "maxherding", 1, "", "30", 5},
	} {
		own, with := runOf(test.method, test.initial, test.seed, test.normal, test.budget, nil), runOf(test.method, test.initial, test.seed, test.normal, test.budget, &shared)
		if own != with {
			t.Errorf("%d: asked is\n%s\nwant\n%s", i, with, own)
		}
		if got := shared.Choices(); got != test.choices {
			t.Errorf("%d: %d choices are remembered, want %d", i, got, test.choices)
		}
	}
}
