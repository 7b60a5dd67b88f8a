package ceg

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/result"
)

// Every objective that works on vectors trains on them, with stored views and without,
// and those that work on pixels say so.
func TestVectorObjectives(t *testing.T) {
	one, three := embeddingtest.Glyphs(t, 1), embeddingtest.Glyphs(t, 3)
	for i, m := range config.Objectives() {
		t.Run(m.Name, func(t *testing.T) {
			set := map[string]any{"schedule.per_domain": 8}
			if i%2 == 1 && !m.Fits {
				set["network.name"], set["network.width"] = "mlp", 6
			}
			c, err := config.Resolve(config.Spec{Dataset: "features", Target: "photo", Method: config.Method("uniform", m.Name), Preset: config.Authors,
				Epochs: 2, Budget: "60", Timing: config.Once, Set: set})
			if m.Name == "stylematch" {
				t.Skip("it asks for weights first")
			}
			if slices.Contains([]string{"jigen", "fact", "ddaig", "stylematch-amplitude", "stylematch-rgb"}, m.Name) {
				if err == nil || !strings.Contains(err.Error(), m.Name) || !strings.Contains(err.Error(), "feature vectors") {
					t.Errorf("got %v, want an error that names it and feature vectors", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, root := range []string{one, three} {
				r, err := Run(t.Context(), c, Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go"})
				if err != nil {
					t.Fatal(err)
				}
				if r.Labels != 60 || r.Accuracy.LastEpoch.Labels != 60 {
					t.Errorf("result %+v", r)
				}
			}
		})
	}
}

// Queries, a checkpoint and a resumption, and what a run says of its examples.
func TestVectorRun(t *testing.T) {
	root := embeddingtest.Glyphs(t, 1)
	c := configtest.New(t, "features", "sketch", "ceg", config.Authors, "schedule.epochs", 4)
	c.Exploration.Budget, c.Schedule.PerDomain = "30", 8
	dir := filepath.Join(t.TempDir(), "whole")
	whole, err := Run(t.Context(), c, Options{Dir: dir, Root: root, Backend: "go"})
	if err != nil {
		t.Fatal(err)
	}
	stopped := filepath.Join(t.TempDir(), "stopped")
	ctx, stop := context.WithCancel(t.Context())
	if _, err := Run(ctx, c, Options{Dir: stopped, Root: root, Backend: "go", Observe: func(e Event) {
		if e.Done && e.Epoch == 1 {
			stop()
		}
	}}); err == nil {
		t.Fatal("the run was not stopped")
	}
	again, err := Run(t.Context(), c, Options{Dir: stopped, Resume: true, Backend: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if again.Accuracy.LastEpoch != whole.Accuracy.LastEpoch || again.Accuracy.BestTarget != whole.Accuracy.BestTarget || again.Images != whole.Images || whole.Images == "" {
		t.Errorf("resumed: %+v, want %+v", again.Accuracy, whole.Accuracy)
	}
	a, errA := os.ReadFile(filepath.Join(dir, result.QueriesFile))
	b, errB := os.ReadFile(filepath.Join(stopped, result.QueriesFile))
	if errA != nil || errB != nil || len(a) == 0 || string(a) != string(b) {
		t.Errorf("the resumed run asked otherwise: %v, %v", errA, errB)
	}
	e, err := Embed(t.Context(), Options{Dir: dir, Backend: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if e.Features.Cols != 12 || e.Features.Rows != 270 {
		t.Errorf("%d x %d features", e.Features.Rows, e.Features.Cols)
	}
	// The features of a linear classifier are the standardised ones: over the pool they
	// have mean 0 each and mean square 1 together.
	square := 0.0
	for j := range 12 {
		mean := 0.0
		for i := range e.Features.Rows {
			v := float64(e.Features.Data[i*12+j])
			mean += v
			square += v * v
		}
		if math.Abs(mean/270) > 1e-4 {
			t.Errorf("feature %d has the mean %v over the pool", j, mean/270)
		}
	}
	if square /= 270 * 12; math.Abs(square-1) > 1e-3 {
		t.Errorf("the mean square is %v, want 1", square)
	}
}

// Networks and data sets that do not fit are told apart before anything is read.
func TestVectorNetworks(t *testing.T) {
	c := configtest.New(t, "features", "photo", "uniform", config.Authors)
	c.Network.Name = "resnet18"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `network.name "resnet18" and data.dataset "features" contradict each other`) {
		t.Errorf("got %v", err)
	}
	c = configtest.New(t, "glyphs", "photo", "uniform", config.Authors)
	c.Network.Name = "mlp"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `network.name "mlp" and data.dataset "glyphs" contradict each other`) {
		t.Errorf("got %v", err)
	}
}
