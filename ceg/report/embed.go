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
		return fmt.Errorf("%s is not there, and no image folder or features to compute it from", filepath.Join(r.Path, file))
	}
	return o.Keep(ctx, file, r.Path)
}

// embedded holds the t-SNE coordinates of a run's images, with its queries. It is stored in the
// run's folder, so that it can be drawn without the weights.
type embedded struct {
	run    result.PlannedRun
	out    *result.Run
	points []result.MapPoint
	// queried are the queries of images on the map, of all that there were before sampling.
	queried []result.Query
	all     int
	// targets is the number of points of the target, rounds the number of query rounds.
	targets, rounds int
}

// openMap reads the map of a run.
func openMap(ctx context.Context, f *Folder, o FigureOptions) (m embedded, err error) {
	if m.run, m.out, err = f.one(o); err != nil {
		return m, err
	}
	if err := keep(ctx, m.out, result.MapFile, o); err != nil {
		return m, err
	}
	if m.points, err = m.out.Map(); err != nil {
		return m, err
	}
	queries, err := m.out.Queries()
	if err != nil {
		return m, err
	}
	there := make(map[string]bool, len(m.points))
	for _, p := range m.points {
		there[p.ID] = true
		if p.Domain == m.run.Target {
			m.targets++
		}
	}
	m.all = len(queries)
	for _, q := range queries {
		m.rounds = max(m.rounds, q.Round)
	}
	m.queried = only(queries, func(q result.Query) bool { return !m.sample() || there[q.ID] })
	return m, nil
}

// sample reports whether the map has a part of the images.
func (m embedded) sample() bool { return m.out.Result.Pool > len(m.points)-m.targets }

// note says what a map shows.
func (m embedded) note() string {
	text := fmt.Sprintf("Features of the images at the end of the run (%s). Exact t-SNE, perplexity %.3g.", caption(m.run, m.out), tsne.UsualPerplexity(len(m.points)))
	if m.rounds == 0 {
		text += " All labels were queried before training."
	}
	if m.sample() {
		text += fmt.Sprintf(" A sample of %d of the %d images, stratified by domain and class, with %d of the %d queried ones.",
			len(m.points)-m.targets, m.out.Result.Pool, len(m.queried), m.all)
	}
	return text
}

// drawTSNE draws the images of a run by its features, with the images queried in the query rounds,
// or before training if there were none.
func drawTSNE(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	m, err := openMap(ctx, f, o)
	if err != nil {
		return nil, err
	}
	ids, d := embedding(m.points)
	d.Target = m.run.Target
	if d.Selected, err = result.Rows(ids, only(m.queried, func(q result.Query) bool { return q.Round > 0 || m.rounds == 0 })); err != nil {
		return nil, err
	}
	g, err := plots.Embedding(t, d)
	if err != nil {
		return nil, err
	}
	g.Note += m.note()
	return g, nil
}

// embedding is what plots.Embedding takes. Classes and domains are in the order
// of the alphabet.
func embedding(points []result.MapPoint) (ids []string, d plots.EmbeddingData) {
	names := func(of func(result.MapPoint) string) (names []string, index []int) {
		names = slices.Sorted(slices.Values(distinct(points, of)))
		for _, p := range points {
			index = append(index, slices.Index(names, of(p)))
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

// drawScores compares the scores of the images queried in the last round with the other
// candidates: that of a strategy that the program registered, and CEG's. The scores of the pool are
// not among a run's records, so they are computed again with the network at the end of the run, and
// then saved in the run's directory.
func drawScores(ctx context.Context, f *Folder, t plots.Theme, o FigureOptions) (*plots.Grid, error) {
	r, out, err := f.one(o)
	if err != nil {
		return nil, err
	}
	queries, err := out.Queries()
	if err != nil {
		return nil, err
	}
	_, queried, err := result.LastRound(queries)
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
	groups := []plots.ScoreGroup{{Name: "Uncertainty S_u"}, {Name: "Representativeness S_r"}, {Name: "Diversity S_d"}}
	own := len(candidates) > 0 && candidates[0].Score != nil
	if own {
		groups = append([]plots.ScoreGroup{{Name: "Score of " + out.Config.Exploration.Strategy}}, groups...)
	}
	var ids []string
	for _, c := range candidates {
		ids = append(ids, c.ID)
		values := []float64{c.Su, c.Sr, c.Sd}
		if own {
			values = append([]float64{*c.Score}, values...)
		}
		for k, v := range values {
			groups[k].Pool = append(groups[k].Pool, v)
		}
	}
	rows, err := result.Rows(ids, queried)
	if err != nil {
		return nil, err
	}
	for k := range groups {
		for _, i := range rows {
			groups[k].Queried = append(groups[k].Queried, groups[k].Pool[i])
		}
	}
	g, err := plots.Scores(t, groups)
	if err != nil {
		return nil, err
	}
	g.Note += fmt.Sprintf("%s, last query round; scores by the network at the end of the run.", caption(r, out))
	if !out.Config.Generalization.DomainLoss {
		g.Note += " The domain head was not trained, so representativeness has no meaning."
	}
	return g, nil
}
