package study

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
	"github.com/ledg-go/ledg/plots/tsne"
)

// Keeper returns a function that computes the files of a run's folder from which figures are
// drawn, result.MapFile and result.ScoresFile, by running the checkpoint's networks on the pool.
// roots are the folders of images by data set, as in [Options]; Dir and Root of o are set for
// each run.
func Keeper(roots map[string]string, o run.Options) func(ctx context.Context, file, dir string) error {
	return func(ctx context.Context, file, dir string) error {
		fsys, err := result.FS(dir)
		if err != nil {
			return err
		}
		var c run.Config
		if err := result.ReadConfig(fsys, result.ConfigFile, &c); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		o := o
		o.Dir, o.Root = dir, roots[c.Data.Dataset]
		path := filepath.Join(dir, file)
		switch file {
		case result.MapFile:
			return keepMap(ctx, path, c, o)
		case result.ScoresFile:
			return keepScores(ctx, fsys, path, c, o)
		}
		return fmt.Errorf("%s: a figure's file is %s or %s", path, result.MapFile, result.ScoresFile)
	}
}

// maxMap is the number of images on a map: exact t-SNE takes 4 n^2 bytes, a quarter
// of a gigabyte for these, and 40 GB for 100,000.
const maxMap = 8000

// mapSample returns at most n rows of an embedding, ascending: all, or a draw in
// proportion to the images of every domain and class.
func mapSample(e *run.Embedding, n int, s uint64) []int {
	rows := make([]int, len(e.IDs))
	for i := range rows {
		rows[i] = i
	}
	if len(rows) <= n {
		return rows
	}
	r := seed.New(s, "map sample")
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(e.Domains[a], e.Domains[b]), cmp.Compare(e.Classes[a], e.Classes[b]))
	})
	for k := range n { // every (len/n)-th of the cells side by side
		rows[k] = rows[k*len(rows)/n]
	}
	rows = rows[:n]
	slices.Sort(rows)
	return rows
}

// keepMap writes the map of a run's pool and target, or of a sample of them, by its
// features.
func keepMap(ctx context.Context, path string, c run.Config, o run.Options) error {
	e, err := run.EmbedTarget(ctx, o)
	if err != nil {
		return err
	}
	rows := mapSample(e, maxMap, c.Seed)
	if len(rows) < len(e.IDs) {
		e.Features = cluster.SelectRows(e.Features, rows)
	}
	y, err := tsne.Embed(ctx, e.Features, tsne.UsualPerplexity(len(rows)), c.Seed)
	if err != nil {
		return err
	}
	points := make([]result.MapPoint, len(rows))
	for k, i := range rows {
		at := y.Data[k*y.Stride:]
		points[k] = result.MapPoint{
			ID: e.IDs[i], Domain: e.DomainNames[e.Domains[i]], Class: className(e, i), X: float64(at[0]), Y: float64(at[1]),
		}
	}
	return result.WriteMap(path, points)
}

func className(e *run.Embedding, row int) string {
	if e.Classes[row] == datasets.Unknown {
		return "unlabelled"
	}
	return e.ClassNames[e.Classes[row]]
}

// keepScores writes the scores of the candidates of a run's last query round.
func keepScores(ctx context.Context, fsys fs.FS, path string, c run.Config, o run.Options) error {
	queries, err := result.ReadQueries(fsys, result.QueriesFile)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Dir, err)
	}
	before, _, err := result.LastRound(queries)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Dir, err)
	}
	e, err := run.Embed(ctx, o)
	if err != nil {
		return err
	}
	list, err := scoreCandidates(e, c.Exploration, before)
	if err != nil {
		return err
	}
	return result.WriteScores(path, list)
}

// scoreCandidates scores the images that are left once some are labelled, by CEG's scores and by a strategy
// that the program registered.
func scoreCandidates(e *run.Embedding, x config.Exploration, before []result.Query) ([]result.Candidate, error) {
	candidates, err := Candidates(e, before)
	if err != nil {
		return nil, err
	}
	o := x.Options(0, len(e.ClassNames))
	s, err := active.CEG{Weights: o.Weights, Space: o.Space, SoftmaxTwice: o.SoftmaxTwice}.Score(candidates)
	if err != nil {
		return nil, err
	}
	list := make([]result.Candidate, len(candidates.IDs))
	for i, id := range candidates.IDs {
		list[i] = result.Candidate{ID: id, Su: s.Su[i], Sr: s.Sr[i], Sd: s.Sd[i]}
	}
	own, _ := active.Lookup(x.Strategy)
	if own.Code == "" || own.Code != x.StrategyCode {
		return list, nil
	}
	if scored, ok := own.New(o).(active.Scored); ok { // others have no score of every candidate
		picks, err := scored.Query(candidates, len(list), rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			return nil, err
		}
		for _, p := range picks {
			list[p.Index].Score = &p.Score
		}
	}
	return list, nil
}

// Candidates returns the input of a query strategy when the queried images are labelled: the
// other images as candidates, in order, and the labelled features with their labels.
func Candidates(e *run.Embedding, labelled []result.Query) (*active.Candidates, error) {
	rows, err := result.Rows(e.IDs, labelled)
	if err != nil {
		return nil, err
	}
	c := &active.Candidates{LabelledFeatures: cluster.SelectRows(e.Features, rows), LabelledClassProbs: cluster.SelectRows(e.ClassProbs, rows)}
	known := make([]bool, len(e.IDs))
	for k, i := range rows {
		known[i] = true
		class := slices.Index(e.ClassNames, labelled[k].Class)
		if class < 0 {
			return nil, fmt.Errorf("%s has the label %q, which is no class", labelled[k].ID, labelled[k].Class)
		}
		c.LabelledClasses = append(c.LabelledClasses, class)
		c.LabelledDomains = append(c.LabelledDomains, e.Domains[i])
	}
	var free []int
	for i, id := range e.IDs {
		if !known[i] {
			free = append(free, i)
			c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, e.Domains[i])
		}
	}
	c.Features, c.ClassProbs, c.DomainProbs = cluster.SelectRows(e.Features, free), cluster.SelectRows(e.ClassProbs, free), cluster.SelectRows(e.DomainProbs, free)
	return c, nil
}
