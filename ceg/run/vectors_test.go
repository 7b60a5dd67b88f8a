package run

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
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
			if m.Names {
				fatal.Says(t, fatal.Err(Run(t.Context(), c, Options{Dir: filepath.Join(t.TempDir(), "run"), Root: one, Backend: "go"})), "the features have none")
				return
			}
			for _, root := range []string{one, three} {
				r := fatal.Get(Run(t.Context(), c, Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go"}))(t)
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
	whole := fatal.Get(Run(t.Context(), c, Options{Dir: dir, Root: root, Backend: "go"}))(t)
	stopped := filepath.Join(t.TempDir(), "stopped")
	ctx, stop := context.WithCancel(t.Context())
	if _, err := Run(ctx, c, Options{Dir: stopped, Root: root, Backend: "go", Observe: func(e Event) {
		if e.Done && e.Epoch == 1 {
			stop()
		}
	}}); err == nil {
		t.Fatal("the run was not stopped")
	}
	again := fatal.Get(Run(t.Context(), c, Options{Dir: stopped, Resume: true, Backend: "go"}))(t)
	if again.Accuracy.LastEpoch != whole.Accuracy.LastEpoch || again.Accuracy.BestTarget != whole.Accuracy.BestTarget || again.Images != whole.Images || whole.Images == "" {
		t.Errorf("resumed: %+v, want %+v", again.Accuracy, whole.Accuracy)
	}
	a, errA := os.ReadFile(filepath.Join(dir, result.QueriesFile))
	b, errB := os.ReadFile(filepath.Join(stopped, result.QueriesFile))
	if errA != nil || errB != nil || len(a) == 0 || string(a) != string(b) {
		t.Errorf("the resumed run asked otherwise: %v, %v", errA, errB)
	}
	e := fatal.Get(Embed(t.Context(), Options{Dir: dir, Backend: "go"}))(t)
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

// A run with a share of the pool sees nothing of the other training images of its sources:
// where their features are others it comes out the same, and where those of its own are, not.
func TestPoolShare(t *testing.T) {
	root := embeddingtest.Glyphs(t, 1)
	c := configtest.New(t, "features", "sketch", "ceg", config.Authors, "schedule.epochs", 4, "schedule.per_domain", 8,
		"exploration.initial", "maxherding", "data.pool_share", 0.5, "data.pool_seed", 7)
	data, _ := fatal.Get2(datasets.Open("features", root, datasets.Options{}))(t)
	whole := c
	whole.Data.PoolShare, whole.Data.PoolSeed = 0, 0
	in, all := campaign.Places(c, data), campaign.Places(whole, data)
	out := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(in, i) })
	if len(all) != 270 || len(in) != 135 {
		t.Fatalf("%d of %d training images, want 135 of 270", len(in), len(all))
	}
	ran := func(root string) string {
		dir := filepath.Join(t.TempDir(), "run")
		r := fatal.Get(Run(t.Context(), c, Options{Dir: dir, Root: root, Backend: "go"}))(t)
		if r.Labels != 6 { // 5% of the 135, rounded down
			t.Errorf("%d labels, want 6", r.Labels)
		}
		records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
		queries := fatal.Get(os.ReadFile(filepath.Join(dir, result.QueriesFile)))(t)
		text := string(queries)
		for _, r := range records {
			text += fmt.Sprint(r.Loss, r.Accuracy)
		}
		return text
	}
	first := ran(root)
	if ran(withOtherFeatures(t, root, out)) != first {
		t.Error("images that are not in the pool have changed the run")
	}
	if ran(withOtherFeatures(t, root, in[:1])) == first {
		t.Error("an image of the pool has not changed the run")
	}
}

// withOtherFeatures copies a file of features in which some examples have ones.
func withOtherFeatures(t *testing.T, path string, list []int) string {
	t.Helper()
	data := fatal.Get(os.ReadFile(path))(t)
	h := fatal.Get(safetensors.ParseHeader(bytes.NewReader(data), int64(len(data))))(t)
	var entries []safetensors.Entry
	for _, tensor := range h.Tensors {
		b := fatal.Get(io.ReadAll(tensor.Data()))(t)
		if tensor.Name == "features" {
			for _, i := range list {
				for j := range tensor.Shape[1] {
					binary.LittleEndian.PutUint32(b[4*(i*tensor.Shape[1]+j):], math.Float32bits(1))
				}
			}
		}
		entries = append(entries, safetensors.Entry{Name: tensor.Name, DType: tensor.DType, Shape: tensor.Shape, Data: b})
	}
	other := filepath.Join(t.TempDir(), "other.safetensors")
	f := fatal.Get(os.Create(other))(t)
	defer f.Close()
	fatal.If(t, safetensors.Write(f, entries, h.Metadata))
	return other
}

// Networks that do not fit a data set are refused before anything is read.
func TestVectorNetworks(t *testing.T) {
	c := configtest.New(t, "features", "photo", "uniform", config.Authors)
	c.Network.Name = "resnet18"
	fatal.Says(t, c.Validate(), `network.name "resnet18" and data.dataset "features" contradict each other`)
	c = configtest.New(t, "glyphs", "photo", "uniform", config.Authors)
	c.Network.Name = "mlp"
	fatal.Says(t, c.Validate(), `network.name "mlp" and data.dataset "glyphs" contradict each other`)
}
