package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// options are those by which a run is opened again.
func (f *Folder) options(r Run, o FigureOptions) ceg.Options {
	return ceg.Options{Dir: filepath.Join(f.Path, r.Dir), Root: o.Roots[r.Dataset], SplitsDir: o.SplitsDir,
		Backend: o.Backend, CacheDir: o.CacheDir}
}

// findRows finds the rows of queried images.
func findRows(ids []string, queries []result.Query) ([]int, error) {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
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
// the query rounds. The map is kept in the run's directory, so that it can be
// drawn again when the weights are gone.
func drawTSNE(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	r, err := f.one(o)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.Path, r.Dir, mapFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		e, err := ceg.Embed(ctx, f.options(r, o))
		if err != nil {
			return nil, err
		}
		m, err := tsne.Run(ctx, e.Features, tsne.Config{Seed: r.Seed, Perplexity: perplexity(len(e.IDs))}, nil)
		if err != nil {
			return nil, err
		}
		if err := writeMap(path, e, m.Y); err != nil {
			return nil, err
		}
	}
	ids, d, err := readMap(path)
	if err != nil {
		return nil, err
	}
	queries, err := f.queries(r)
	if err != nil {
		return nil, err
	}
	d.Selected, err = findRows(ids, slices.DeleteFunc(queries, func(q result.Query) bool { return q.Round == 0 }))
	if err != nil {
		return nil, err
	}
	g, err := plots.Embedding(t, d)
	if err != nil {
		return nil, err
	}
	g.Note += fmt.Sprintf("Source images by the features at the end of the run (%s), all query rounds marked. Exact t-SNE, perplexity %.3g.", r.key(), perplexity(len(ids)))
	return g, nil
}

// perplexity is that of a map of n images: 30, less for a few.
func perplexity(n int) float64 { return min(30, float64(n-1)/3) }

// drawScores draws how what the last query round asked for differs from what it
// could have asked for. The scores of the pool are not among a run's records, so
// they are computed again with the network at the end of the run, and then kept in
// the run's directory.
func drawScores(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	r, err := f.one(o)
	if err != nil {
		return nil, err
	}
	queries, err := f.queries(r)
	if err != nil {
		return nil, err
	}
	before, asked, err := lastRound(queries)
	if err != nil {
		return nil, err
	}
	c, err := f.Config(r)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.Path, r.Dir, scoresFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		e, err := ceg.Embed(ctx, f.options(r, o))
		if err != nil {
			return nil, err
		}
		s, err := scoreCandidates(e, c.Exploration, before)
		if err != nil {
			return nil, err
		}
		if err := writeScores(path, s); err != nil {
			return nil, err
		}
	}
	s, err := readScores(path)
	if err != nil {
		return nil, err
	}
	groups, err := s.groups(asked)
	if err != nil {
		return nil, err
	}
	g, err := plots.Scores(t, groups)
	if err != nil {
		return nil, err
	}
	g.Note += fmt.Sprintf("%s, last query round; scores by the network at the end of the run.", r.key())
	if !c.Generalization.DomainLoss {
		g.Note += " Its domain head was not trained: representativeness means nothing."
	}
	return g, nil
}

// lastRound splits queries into those of the last round and those before.
func lastRound(queries []result.Query) (before, asked []result.Query, err error) {
	last := 0
	for _, q := range queries {
		last = max(last, q.Round)
	}
	if last == 0 {
		return nil, nil, errors.New("the run has no query rounds")
	}
	for _, q := range queries {
		if q.Round < last {
			before = append(before, q)
		} else {
			asked = append(asked, q)
		}
	}
	return before, asked, nil
}

// candidateScores are the scores of the images that could be asked about:
// uncertainty, representativeness and diversity.
type candidateScores struct {
	ids    []string
	values [3][]float64
}

// groups are what plots.Scores takes.
func (s candidateScores) groups(asked []result.Query) ([]plots.ScoreGroup, error) {
	rows, err := findRows(s.ids, asked)
	if err != nil {
		return nil, err
	}
	groups := []plots.ScoreGroup{{Name: "Uncertainty"}, {Name: "Representativeness"}, {Name: "Diversity"}}
	for k := range groups {
		groups[k].Pool = s.values[k]
		for _, i := range rows {
			groups[k].Queried = append(groups[k].Queried, s.values[k][i])
		}
	}
	return groups, nil
}

// scoreCandidates scores the images that are left once some are labelled.
func scoreCandidates(e *ceg.Embedding, x ceg.Exploration, before []result.Query) (candidateScores, error) {
	candidates, err := Candidates(e, before)
	if err != nil {
		return candidateScores{}, err
	}
	strategy := active.CEG{
		Weights:      active.Weights{Uncertainty: x.WeightU, Representativeness: x.Gamma1, Diversity: x.Gamma2},
		SoftmaxTwice: x.SoftmaxTwice,
	}
	if x.PhiCentroids {
		strategy.Space = cluster.Augmented
	}
	s, err := strategy.Score(candidates)
	if err != nil {
		return candidateScores{}, err
	}
	return candidateScores{candidates.IDs, [3][]float64{s.Su, s.Sr, s.Sd}}, nil
}

// Candidates returns what a query strategy looks at when the images of the queries
// are labelled: the others as candidates, in their order, and the features of
// these with their answers.
func Candidates(e *ceg.Embedding, labelled []result.Query) (*active.Candidates, error) {
	rows, err := findRows(e.IDs, labelled)
	if err != nil {
		return nil, err
	}
	c := &active.Candidates{LabelledFeatures: take(e.Features, rows)}
	known := make([]bool, len(e.IDs))
	for _, i := range rows {
		known[i] = true
		c.LabelledClasses = append(c.LabelledClasses, e.Classes[i])
		c.LabelledDomains = append(c.LabelledDomains, e.Domains[i])
	}
	var free []int
	for i, id := range e.IDs {
		if !known[i] {
			free = append(free, i)
			c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, e.Domains[i])
		}
	}
	c.Features, c.ClassProbs, c.DomainProbs = take(e.Features, free), take(e.ClassProbs, free), take(e.DomainProbs, free)
	return c, nil
}

// take copies rows of a matrix.
func take(m active.Matrix, rows []int) active.Matrix {
	out := active.Matrix{Rows: len(rows), Cols: m.Cols, Stride: m.Cols}
	for _, i := range rows {
		out.Data = append(out.Data, m.Data[i*m.Stride:i*m.Stride+m.Cols]...)
	}
	return out
}
