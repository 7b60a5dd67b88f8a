package ceg

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
)

// The preset ledg is authors with what its documentation lists, and nothing else.
func TestPresetLedg(t *testing.T) {
	for _, data := range []struct{ name, target string }{{"glyphs", "photo"}, {"features", "photo"}} {
		for _, method := range []string{"uniform", "ceg", "uniform-ce", "fixmatch", "uniform+dael"} {
			c, err := NewConfig(data.name, data.target, method, Ledg)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Validate(); err != nil {
				t.Errorf("%s, %s: %v", data.name, method, err)
			}
			want, err := NewConfig(data.name, data.target, method, Authors)
			if err != nil {
				t.Fatal(err)
			}
			if err := want.SetTiming(Once); err != nil {
				t.Fatal(err)
			}
			want.Preset, want.Generalization.DomainLoss = Ledg, method == "ceg"
			if data.name == "features" {
				want.Exploration.Initial, want.Data.Normalise = chosenInitial, RootFeatures
				if method != "uniform+dael" {
					want.Generalization.Average = EMA
				}
			} else {
				want.Schedule.PerDomain = fewPerDomain
			}
			if !reflect.DeepEqual(c, want) {
				t.Errorf("%s, %s: %+v, want %+v", data.name, method, c, want)
			}
			// Another timing asks as the preset authors does.
			if err := c.SetTiming(Published); err != nil {
				t.Fatal(err)
			}
			if err := c.Validate(); err != nil {
				t.Errorf("%s, %s, published: %v", data.name, method, err)
			}
		}
	}
	c, err := NewConfig("features", "photo", "logistic", Ledg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil || c.Generalization.Average != "" {
		t.Errorf("logistic: average %q, %v", c.Generalization.Average, err)
	}
	// Of images with pretrained weights the first labels are chosen, too.
	if c, err = NewConfig("pacs", "photo", "uniform", Ledg); err != nil || c.Exploration.Initial != "" {
		t.Fatalf("initial labels by %q, %v", c.Exploration.Initial, err)
	}
	if c.UseWeights(&pretrained.Source{Name: "imagenet"}); c.Exploration.Initial != chosenInitial || c.Schedule.PerDomain != usualPerDomain {
		t.Errorf("with weights the initial labels are chosen by %q, and batches have %d images a domain", c.Exploration.Initial, c.Schedule.PerDomain)
	}
}

// On glyphs the preset is authors with all labels at once, in small batches: the domain
// head that it leaves out takes no part in what the other networks learn.
func TestPresetLedgOnGlyphs(t *testing.T) {
	var accuracy []result.Accuracy
	for _, preset := range []Preset{Ledg, Authors} {
		c, err := NewConfig("glyphs", "photo", "uniform", preset)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetTiming(Once); err != nil {
			t.Fatal(err)
		}
		c.SetEpochs(2)
		c.Data.ImageSize, c.Network.Width, c.Schedule.PerDomain = 16, 4, fewPerDomain
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := Run(t.Context(), c, Options{Dir: dir, Backend: "go"}); err != nil {
			t.Fatal(err)
		}
		records, _, err := result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile)
		if err != nil {
			t.Fatal(err)
		}
		accuracy = append(accuracy, records[1].Accuracy...)
	}
	if half := len(accuracy) / 2; !slices.Equal(accuracy[:half], accuracy[half:]) {
		t.Errorf("accuracies %v, want %v", accuracy[:half], accuracy[half:])
	}
}
