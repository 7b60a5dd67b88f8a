package run_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// stopAfter runs a config in a new directory until an epoch is done.
func stopAfter(t *testing.T, c run.Config, o run.Options, epoch int) (dir string) {
	t.Helper()
	o.Dir = filepath.Join(t.TempDir(), "run")
	enough := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	o.Observe = func(e run.Event) {
		if e.Done && e.Epoch == epoch {
			stop(enough)
		}
	}
	if _, err := run.Run(ctx, c, o); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	return o.Dir
}

// A run that stops right after a query has the weights by which it chose: the
// scores that queries.csv recorded follow from its embedding.
func TestEmbeddingIsWhatExplorationSaw(t *testing.T) {
	c := tiny(t, "ceg", config.Authors)
	epoch := c.Schedule.QueryAfter[0]
	dir := stopAfter(t, c, run.Options{Backend: "go"}, epoch)
	e := fatal.Get(run.Embed(t.Context(), run.Options{Dir: dir, Backend: "go"}))(t)
	n := len(e.IDs)
	if n != 1620 || strings.Join(e.DomainNames, " ") != "cartoon print sketch" || len(e.ClassNames) != 10 ||
		e.Features.Rows != n || e.ClassProbs.Rows != n || e.ClassProbs.Cols != 10 || e.DomainProbs.Rows != n || e.DomainProbs.Cols != 3 {
		t.Fatalf("%d images of %v, features %dx%d, probabilities of classes %dx%d and domains %dx%d", n, e.DomainNames,
			e.Features.Rows, e.Features.Cols, e.ClassProbs.Rows, e.ClassProbs.Cols, e.DomainProbs.Rows, e.DomainProbs.Cols)
	}
	data, truth := fatal.Get2(datasets.Open("glyphs", "", datasets.Options{}))(t)
	for k, id := range e.IDs {
		i, _ := data.Index(id)
		if x := data.Examples[i]; x.Split != datasets.Train || data.Domains[x.Domain] != e.DomainNames[e.Domains[k]] || truth.Class(i) != e.Classes[k] {
			t.Fatalf("row %d: %s is %s of %s, class %d; the embedding has %s, class %d", k, id, x.Split, data.Domains[x.Domain], truth.Class(i), e.DomainNames[e.Domains[k]], e.Classes[k])
		}
	}

	with := fatal.Get(run.EmbedTarget(t.Context(), run.Options{Dir: dir, Backend: "go"}))(t)
	if len(with.IDs) != n+600 || with.Features.Rows != n+600 || with.DomainProbs.Cols != 3 || strings.Join(with.DomainNames, " ") != "cartoon print sketch photo" ||
		!slices.Equal(with.IDs[:n], e.IDs) || !slices.Equal(with.Features.Data[:len(e.Features.Data)], e.Features.Data) {
		t.Fatalf("with the target %d images of %v", len(with.IDs), with.DomainNames)
	}
	for k := n; k < len(with.IDs); k++ {
		if i, _ := data.Index(with.IDs[k]); data.Domains[data.Examples[i].Domain] != "photo" || with.Domains[k] != 3 || with.Classes[k] != truth.Class(i) {
			t.Fatalf("row %d is %s of domain %d", k, with.IDs[k], with.Domains[k])
		}
	}

	queries := fatal.Get(result.ReadQueries(os.DirFS(dir), result.QueriesFile))(t)
	first := map[string]bool{}
	for _, q := range queries {
		if q.Round == 0 {
			first[q.ID] = true
		}
	}
	pick := func(m active.Matrix, of func(id string) bool) active.Matrix {
		out := active.Matrix{Cols: m.Cols, Stride: m.Cols}
		for i, id := range e.IDs {
			if of(id) {
				out.Rows++
				out.Data = append(out.Data, m.Data[i*m.Stride:i*m.Stride+m.Cols]...)
			}
		}
		return out
	}
	labelled := func(id string) bool { return first[id] }
	free := func(id string) bool { return !first[id] }
	candidates := &active.Candidates{
		Features: pick(e.Features, free), ClassProbs: pick(e.ClassProbs, free), DomainProbs: pick(e.DomainProbs, free),
		LabelledFeatures: pick(e.Features, labelled),
	}
	for i, id := range e.IDs {
		if first[id] {
			candidates.LabelledClasses, candidates.LabelledDomains = append(candidates.LabelledClasses, e.Classes[i]), append(candidates.LabelledDomains, e.Domains[i])
		} else {
			candidates.IDs, candidates.Domains = append(candidates.IDs, id), append(candidates.Domains, e.Domains[i])
		}
	}
	x := c.Exploration
	strategy := active.CEG{
		Weights: active.Weights{Uncertainty: x.WeightU, Representativeness: x.Gamma1, Diversity: x.Gamma2},
		Space:   cluster.Augmented, SoftmaxTwice: true,
	}
	s := fatal.Get(strategy.Score(candidates))(t)
	scored := 0
	for _, q := range queries {
		if q.Round != 1 {
			continue
		}
		scored++
		i := slices.Index(candidates.IDs, q.ID)
		got, want := []float64{s.Su[i], s.Sr[i], s.Sd[i]}, []float64{q.Scores.Su, q.Scores.Sr, q.Scores.Sd}
		for k := range got {
			// The batches hold other images, which may change the last bits.
			if !(math.Abs(got[k]-want[k]) <= 1e-6) {
				t.Errorf("%s: scores %v, the run recorded %v", q.ID, got, want)
				break
			}
		}
	}
	if scored == 0 {
		t.Error("the run has asked for nothing")
	}
}

func TestEmbedWithoutWeights(t *testing.T) {
	collected := filepath.Join("..", "..", "notebooks", "results", "glyphs", "glyphs-cartoon-ceg-authors-5pct-s1-e740d6833b")
	fatal.Says(t, fatal.Err2(run.LoadModel(run.Options{Dir: collected})), "weights were not saved")
	dir := stopAfter(t, tiny(t, "ceg", config.Authors), run.Options{Backend: "go"}, 0)
	file := filepath.Join(dir, checkpoint.File)
	fatal.If(t, os.Remove(file))
	want := file + " is not there: the run's weights were not saved; make the run again with `ledg train --config " + filepath.Join(dir, "config.json") + " --out NEW`"
	if _, err := run.Embed(t.Context(), run.Options{Dir: dir, Backend: "go"}); err == nil || err.Error() != want {
		t.Errorf("embed: %v, want %s", err, want)
	}
	if _, _, err := run.LoadModel(run.Options{Dir: dir}); err == nil || err.Error() != want {
		t.Errorf("model: %v, want %s", err, want)
	}
	if _, err := run.Embed(t.Context(), run.Options{Dir: t.TempDir(), Backend: "go"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("embed of no run: %v", err)
	}
}
