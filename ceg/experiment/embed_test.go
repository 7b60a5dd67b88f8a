package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/plots"
)

// fakeEmbedding has the images that fakeQueries asks for, and others: two
// features that are the class and the round, and probabilities that fall with the
// number of the image.
func fakeEmbedding(context.Context, ceg.Config, ceg.Options) (*Embedding, error) {
	e := &Embedding{ClassNames: []string{"one", "two"}, DomainNames: []string{"source"}}
	for _, m := range []*active.Matrix{&e.Features, &e.ClassProbs, &e.DomainProbs} {
		*m = active.Matrix{Cols: 2, Stride: 2}
	}
	e.DomainProbs.Cols, e.DomainProbs.Stride = 1, 1
	add := func(id string, round float32) {
		n := len(e.IDs)
		e.IDs, e.Classes, e.Domains = append(e.IDs, id), append(e.Classes, n%2), append(e.Domains, 0)
		p := 1 - float32(n)/100
		e.Features.Data = append(e.Features.Data, 1+float32(n%2), round+float32(n)/1000)
		e.ClassProbs.Data = append(e.ClassProbs.Data, p, 1-p)
		e.DomainProbs.Data = append(e.DomainProbs.Data, 1)
	}
	for round := range 2 {
		for _, q := range fakeQueries(round) {
			add(q.ID, float32(round))
		}
	}
	for i := range 20 {
		add(fmt.Sprintf("other/%d", i), 2)
	}
	for _, m := range []*active.Matrix{&e.Features, &e.ClassProbs, &e.DomainProbs} {
		m.Rows = len(e.IDs)
	}
	return e, nil
}

func TestEmbeddingFigures(t *testing.T) {
	f := figureFolder(t)
	for _, name := range []string{"tsne", "scores"} {
		if _, err := f.Figure(context.Background(), name, plots.Print(), FigureOptions{}); err == nil || !strings.Contains(err.Error(), "nothing here can embed images") {
			t.Errorf("%s without an embedder: %v", name, err)
		}
	}
	g, err := f.Figure(context.Background(), "tsne", plots.Print(), FigureOptions{Embed: func(ctx context.Context, c ceg.Config, o ceg.Options) (*Embedding, error) {
		if c.Seed != 2 || c.Data.Target != "photo" || c.Method != "ceg" || !strings.HasPrefix(o.Dir, f.Path) {
			t.Errorf("embeds %+v in %s", c, o.Dir)
		}
		return fakeEmbedding(ctx, c, o)
	}, Seed: 2})
	if err != nil || len(g.Panels) != 2 || g.Legend[0].Name != "selected (10 of 40)" {
		t.Errorf("tsne: %+v, %v", g, err)
	}
	if g, err = f.Figure(context.Background(), "scores", plots.Print(), FigureOptions{Embed: fakeEmbedding}); err != nil || len(g.Panels) != 3 || g.Legend[0].Name != "pool (n = 30)" || g.Legend[1].Name != "queried (n = 10)" {
		t.Errorf("scores: %+v, %v", g, err)
	}
}

// The first ten images are labelled before the last round, the next ten are what
// it asks for, the other twenty what it leaves.
func TestLastRoundScores(t *testing.T) {
	e, _ := fakeEmbedding(context.Background(), ceg.Config{}, ceg.Options{})
	groups, err := e.scores(ceg.Config{}, slices.Concat(fakeQueries(0), fakeQueries(1)))
	if err != nil {
		t.Fatal(err)
	}
	u := groups[0]
	if len(u.Pool) != 30 || len(u.Queried) != 10 {
		t.Fatalf("%d in the pool, %d queried", len(u.Pool), len(u.Queried))
	}
	// Image 10 has 0.9 and 0.1: its uncertainty is 1 - 0.8.
	for i, want := range []float64{0.2, 0.22} {
		if d := u.Queried[i] - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("uncertainty %d is %v, want %v", i, u.Queried[i], want)
		}
	}
	if !slices.Equal(u.Pool[:10], u.Queried) {
		t.Errorf("queried %v, the pool begins with %v", u.Queried, u.Pool[:10])
	}
	if _, err := e.scores(ceg.Config{}, fakeQueries(0)); err == nil {
		t.Error("scores without a query round")
	}
	strange := fakeQueries(1)
	strange[3].ID = "elsewhere"
	if _, err := e.scores(ceg.Config{}, strange); err == nil || !strings.Contains(err.Error(), "elsewhere was asked for, but is not in the pool") {
		t.Errorf("an image that is not in the pool: %v", err)
	}
}
