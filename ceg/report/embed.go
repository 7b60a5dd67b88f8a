package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
	"github.com/ledg-go/ledg/plots/tsne"
)

// keep computes a file of a run that keeps what a figure needs, where it is not there.
func keep(ctx context.Context, r *result.Run, file string, o FigureOptions) error {
	if _, err := r.File(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if o.Keep == nil {
		return fmt.Errorf("%s is not there, and nothing is given to compute it", filepath.Join(r.Path, file))
	}
	return o.Keep(ctx, file, r.Path)
}

// drawTSNE draws the pool of a run by its features, with what was asked for in
// the query rounds. The map is kept in the run's directory, so that it can be
// drawn again when the weights are gone.
func drawTSNE(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	r, out, err := f.one(o)
	if err != nil {
		return nil, err
	}
	if err := keep(ctx, out, result.MapFile, o); err != nil {
		return nil, err
	}
	points, err := out.Map()
	if err != nil {
		return nil, err
	}
	ids, d := embedding(points)
	queries, err := out.Queries()
	if err != nil {
		return nil, err
	}
	queries = slices.DeleteFunc(queries, func(q result.Query) bool { return q.Round == 0 })
	sample, asked := out.Result.Pool > len(ids), len(queries)
	if sample {
		queries = onMap(ids, queries)
	}
	if d.Selected, err = result.Rows(ids, queries); err != nil {
		return nil, err
	}
	g, err := plots.Embedding(t, d)
	if err != nil {
		return nil, err
	}
	g.Note += fmt.Sprintf("Source images by the features at the end of the run (%s), all query rounds marked. Exact t-SNE, perplexity %.3g.", r.Key(), tsne.UsualPerplexity(len(ids)))
	if sample {
		g.Note += fmt.Sprintf(" A sample of %d of the %d images, drawn in proportion to domains and classes; of the %d queried ones it has %d.",
			len(ids), out.Result.Pool, asked, len(queries))
	}
	return g, nil
}

// onMap returns the queries of images that are on a map of a sample.
func onMap(ids []string, queries []result.Query) []result.Query {
	there := make(map[string]bool, len(ids))
	for _, id := range ids {
		there[id] = true
	}
	return slices.DeleteFunc(queries, func(q result.Query) bool { return !there[q.ID] })
}

// embedding is what plots.Embedding takes. Classes and domains are in the order
// of the alphabet.
func embedding(points []result.MapPoint) (ids []string, d plots.EmbeddingData) {
	names := func(of func(result.MapPoint) string) (names []string, index []int) {
		for _, p := range points {
			names = append(names, of(p))
		}
		slices.Sort(names)
		names = slices.Compact(names)
		for _, p := range points {
			i, _ := slices.BinarySearch(names, of(p))
			index = append(index, i)
		}
		return names, index
	}
	d.DomainNames, d.Domains = names(func(p result.MapPoint) string { return p.Domain })
	d.ClassNames, d.Classes = names(func(p result.MapPoint) string { return p.Class })
	d.Points = active.Matrix{Rows: len(points), Cols: 2, Stride: 2}
	for _, p := range points {
		ids = append(ids, p.ID)
		d.Points.Data = append(d.Points.Data, float32(p.X), float32(p.Y))
	}
	return ids, d
}

// drawScores draws how what the last query round asked for differs from what it
// could have asked for. The scores of the pool are not among a run's records, so
// they are computed again with the network at the end of the run, and then kept in
// the run's directory.
func drawScores(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	r, out, err := f.one(o)
	if err != nil {
		return nil, err
	}
	queries, err := out.Queries()
	if err != nil {
		return nil, err
	}
	_, asked, err := result.LastRound(queries)
	if err != nil {
		return nil, err
	}
	if err := keep(ctx, out, result.ScoresFile, o); err != nil {
		return nil, err
	}
	candidates, err := out.Scores()
	if err != nil {
		return nil, err
	}
	groups, err := scoreGroups(candidates, asked)
	if err != nil {
		return nil, err
	}
	g, err := plots.Scores(t, groups)
	if err != nil {
		return nil, err
	}
	g.Note += fmt.Sprintf("%s, last query round; scores by the network at the end of the run.", r.Key())
	if !out.Config.Generalization.DomainLoss {
		g.Note += " Its domain head was not trained: representativeness means nothing."
	}
	return g, nil
}

// scoreGroups are what plots.Scores takes.
func scoreGroups(candidates []result.Candidate, asked []result.Query) ([]plots.ScoreGroup, error) {
	groups := []plots.ScoreGroup{{Name: "Uncertainty S_u"}, {Name: "Representativeness S_r"}, {Name: "Diversity S_d"}}
	var ids []string
	for _, c := range candidates {
		ids = append(ids, c.ID)
		for k, v := range []float64{c.Su, c.Sr, c.Sd} {
			groups[k].Pool = append(groups[k].Pool, v)
		}
	}
	rows, err := result.Rows(ids, asked)
	if err != nil {
		return nil, err
	}
	for k := range groups {
		for _, i := range rows {
			groups[k].Queried = append(groups[k].Queried, groups[k].Pool[i])
		}
	}
	return groups, nil
}
