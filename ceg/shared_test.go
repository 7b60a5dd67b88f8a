package ceg

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
)

// Runs that share a file end as those that read it each for itself, whatever their
// target and normalisation; and a file that has changed is read again.
func TestShared(t *testing.T) {
	root := glyphFeatures(t, 3)
	var shared Shared
	defer shared.Close()
	train := func(target string, n Normalisation, s *Shared) *result.Result {
		c, err := NewConfig("features", target, "uniform-ce", Authors)
		if err != nil {
			t.Fatal(err)
		}
		c.SetEpochs(2)
		if err := c.SetTiming(Once); err != nil {
			t.Fatal(err)
		}
		c.Exploration.Budget, c.Schedule.PerDomain, c.Data.Normalise = "30", 8, n
		r, err := Run(t.Context(), c, Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", Shared: s})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, target := range []string{"sketch", "photo", "sketch"} {
		for _, n := range []Normalisation{"", RootFeatures} {
			own, with := train(target, n, nil), train(target, n, &shared)
			if own.Accuracy.LastEpoch != with.Accuracy.LastEpoch || own.Images != with.Images {
				t.Errorf("%s, %q: %+v, shared %+v", target, n, own.Accuracy.LastEpoch, with.Accuracy.LastEpoch)
			}
		}
	}
	if len(shared.files) != 2 {
		t.Errorf("%d files are open, want one for each normalisation", len(shared.files))
	}
	before := train("sketch", "", &shared)
	other, err := os.ReadFile(glyphFeatures(t, 2))
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
