package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
	"github.com/ledg-go/ledg/plots/tsne"
)

// Embedding is what a run's network says, at the end of the run, about the images
// that could be asked about. Rows are images.
type Embedding struct {
	// IDs are the images', Classes their true classes as indices of ClassNames,
	// Domains those of DomainNames, which are the sources.
	IDs                     []string
	Classes, Domains        []int
	ClassNames, DomainNames []string
	// Features [n, D], ClassProbs [n, C] and DomainProbs [n, K] are the network's.
	Features, ClassProbs, DomainProbs active.Matrix
}

// Embedder embeds the pool of the finished run in o.Dir.
type Embedder func(ctx context.Context, c ceg.Config, o ceg.Options) (*Embedding, error)

// embedding reads a run's queries and embeds its pool.
func (f *Folder) embedding(ctx context.Context, o FigureOptions) (Run, []result.Query, *Embedding, error) {
	o, err := o.withDefaults(f)
	if err != nil {
		return Run{}, nil, nil, err
	}
	r, err := f.one(o)
	if err != nil {
		return r, nil, nil, err
	}
	if o.Embed == nil {
		return r, nil, nil, errors.New("nothing here can embed images")
	}
	queries, err := result.ReadQueries(os.DirFS(filepath.Join(f.Path, r.Dir)), result.QueriesFile)
	if err != nil {
		return r, nil, nil, fmt.Errorf("%s: %w", r.Dir, err)
	}
	c, err := f.Config(r)
	if err != nil {
		return r, nil, nil, err
	}
	if root := o.Roots[c.Data.Dataset]; root != "" {
		c.Data.Root = root
	}
	e, err := o.Embed(ctx, c, ceg.Options{Dir: filepath.Join(f.Path, r.Dir), Backend: o.Backend, CacheDir: o.CacheDir})
	if err != nil {
		return r, nil, nil, fmt.Errorf("%s: %w", r.Dir, err)
	}
	return r, queries, e, nil
}

// rows finds the rows of queried images.
func (e *Embedding) rows(queries []result.Query) ([]int, error) {
	at := make(map[string]int, len(e.IDs))
	for i, id := range e.IDs {
		at[id] = i
	}
	var list []int
	for _, q := range queries {
		i, ok := at[q.ID]
		if !ok {
			return nil, fmt.Errorf("%s was asked for, but is not in the pool", q.ID)
		}
		list = append(list, i)
	}
	return list, nil
}

// drawTSNE draws the pool of a run by its features, with what was asked for in
// the query rounds.
func drawTSNE(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	r, queries, e, err := f.embedding(ctx, o)
	if err != nil {
		return nil, err
	}
	selected, err := e.rows(slices.DeleteFunc(queries, func(q result.Query) bool { return q.Round == 0 }))
	if err != nil {
		return nil, err
	}
	m, err := tsne.Run(ctx, e.Features, tsne.Config{Seed: r.Seed}, nil)
	if err != nil {
		return nil, err
	}
	g, err := plots.Embedding(t, plots.EmbeddingData{
		Points: m.Y, Classes: e.Classes, Domains: e.Domains, ClassNames: e.ClassNames, DomainNames: e.DomainNames, Selected: selected,
	})
	if err != nil {
		return nil, err
	}
	g.Note += fmt.Sprintf("Source images by the features at the end of the run (%s), all query rounds marked. Exact t-SNE, perplexity 30, KL %.2f.", r.key(), m.KL)
	return g, nil
}

// drawScores draws how what the last query round asked for differs from what it
// could have asked for. The scores of the pool are not recorded, so they are
// computed again with the network at the end of the run.
func drawScores(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	r, queries, e, err := f.embedding(ctx, o)
	if err != nil {
		return nil, err
	}
	c, err := f.Config(r)
	if err != nil {
		return nil, err
	}
	groups, err := e.scores(c, queries)
	if err != nil {
		return nil, err
	}
	g, err := plots.Scores(t, groups)
	if err != nil {
		return nil, err
	}
	g.Note += fmt.Sprintf("%s, last query round; scores by the network at the end of the run.", r.key())
	return g, nil
}

// scores returns the three scores of the candidates of the last query round and
// of those that it asked for.
func (e *Embedding) scores(c ceg.Config, queries []result.Query) ([]plots.ScoreGroup, error) {
	last := 0
	for _, q := range queries {
		last = max(last, q.Round)
	}
	if last == 0 {
		return nil, errors.New("the run has no query rounds")
	}
	var before, asked []result.Query
	for _, q := range queries {
		if q.Round < last {
			before = append(before, q)
		} else {
			asked = append(asked, q)
		}
	}
	labelled, err := e.rows(before)
	if err != nil {
		return nil, err
	}
	queried, err := e.rows(asked)
	if err != nil {
		return nil, err
	}
	var free []int
	known := make([]bool, len(e.IDs))
	for _, i := range labelled {
		known[i] = true
	}
	candidates := &active.Candidates{LabelledFeatures: take(e.Features, labelled)}
	place := make([]int, len(e.IDs)) // of a row among the candidates
	for i, id := range e.IDs {
		if !known[i] {
			place[i] = len(free)
			free = append(free, i)
			candidates.IDs, candidates.Domains = append(candidates.IDs, id), append(candidates.Domains, e.Domains[i])
		}
	}
	for _, i := range labelled {
		candidates.LabelledClasses = append(candidates.LabelledClasses, e.Classes[i])
		candidates.LabelledDomains = append(candidates.LabelledDomains, e.Domains[i])
	}
	candidates.Features, candidates.ClassProbs, candidates.DomainProbs = take(e.Features, free), take(e.ClassProbs, free), take(e.DomainProbs, free)
	x := c.Exploration
	strategy := active.CEG{
		Weights:      active.Weights{Uncertainty: x.WeightU, Representativeness: x.Gamma1, Diversity: x.Gamma2},
		SoftmaxTwice: x.SoftmaxTwice,
	}
	if x.PhiCentroids {
		strategy.Space = cluster.Augmented
	}
	s, err := strategy.Score(candidates)
	if err != nil {
		return nil, err
	}
	groups := []plots.ScoreGroup{{Name: "Uncertainty", Pool: s.Su}, {Name: "Representativeness", Pool: s.Sr}, {Name: "Diversity", Pool: s.Sd}}
	for k := range groups {
		for _, i := range queried {
			groups[k].Queried = append(groups[k].Queried, groups[k].Pool[place[i]])
		}
	}
	return groups, nil
}

// take copies rows of a matrix.
func take(m active.Matrix, rows []int) active.Matrix {
	out := active.Matrix{Rows: len(rows), Cols: m.Cols, Stride: m.Cols}
	for _, i := range rows {
		out.Data = append(out.Data, m.Data[i*m.Stride:i*m.Stride+m.Cols]...)
	}
	return out
}
