package ceg

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/examples"
	"github.com/ledg-go/ledg/ceg/result"
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
		r, err := Run(t.Context(), c, Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", Shared: s})
		if err != nil {
			t.Fatal(err)
		}
		return r
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
	before := train("sketch", "", &shared)
	other, err := os.ReadFile(embeddingtest.Glyphs(t, 2))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root, other, 0o666); err != nil {
		t.Fatal(err)
	}
	if after := train("sketch", "", &shared); after.Images == before.Images {
		t.Errorf("the file has changed, and its digest is still %s", after.Images)
	}
}
