package report

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
	"github.com/ledg-go/ledg/plots/interactive"
)

// InteractiveNames lists the figures of [Folder.Interactive].
func InteractiveNames() []string { return []string{"tsne", "scores"} }

// Interactive returns the named interactive figure, one of [InteractiveNames], and the static
// figure of that name.
func (f *Folder) Interactive(ctx context.Context, name string, t plots.Theme, o FigureOptions) (*interactive.Figure, *plots.Grid, error) {
	if !slices.Contains(InteractiveNames(), name) {
		return nil, nil, fmt.Errorf("no interactive figure %q, want one of %s", name, strings.Join(InteractiveNames(), ", "))
	}
	if len(o.Rounds) > 0 {
		return nil, nil, errors.New("the interactive map shows the end of the run: draw rounds as a static figure")
	}
	still, err := f.Figure(ctx, name, t, o)
	if err != nil {
		return nil, nil, err
	}
	look := lookAtMap
	if name == "scores" {
		look = lookAtScores
	}
	fig, err := look(ctx, f, o)
	if err != nil {
		return nil, nil, fmt.Errorf("figure %s of %s: %w", name, f.Path, err)
	}
	fig.Note = strings.TrimSpace(still.Note + " " + fig.Note)
	return fig, still, nil
}

// lookAtMap is the map of a run.
func lookAtMap(ctx context.Context, f *Folder, o FigureOptions) (*interactive.Figure, error) {
	m, err := openMap(ctx, f, o, -1)
	if err != nil {
		return nil, err
	}
	fig := &interactive.Figure{Title: "Features of the images (t-SNE), " + caption(m.run, m.out), Target: m.run.Target,
		Panels: []interactive.Panel{{Title: "Map of the features", X: 3, Y: 4}}}
	scores := map[string]result.Candidate{}
	switch list, err := m.out.Scores(); {
	case err == nil:
		fig.Note = "Scores: at the query for queried images, at the last round by the final network for the others."
		for _, c := range list {
			scores[c.ID] = c
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	rounds := map[string]int{}
	for _, q := range m.queried {
		rounds[q.ID] = q.Round + 1
		delete(scores, q.ID)
		if s := q.Scores; s != nil {
			scores[q.ID] = result.Candidate{Su: s.Su, Sr: s.Sr, Sd: s.Sd}
		}
	}
	x, y := interactive.Column{Name: "x", Silent: true}, interactive.Column{Name: "y", Silent: true}
	var list []result.Candidate
	for _, p := range m.points {
		fig.IDs, fig.Domains, fig.Classes = append(fig.IDs, p.ID), append(fig.Domains, p.Domain), append(fig.Classes, p.Class)
		fig.Rounds = append(fig.Rounds, rounds[p.ID]-1)
		x.Values, y.Values = append(x.Values, p.X), append(y.Values, p.Y)
		c, ok := scores[p.ID]
		if !ok {
			c = result.Candidate{Su: math.NaN(), Sr: math.NaN(), Sd: math.NaN()}
		}
		list = append(list, c)
	}
	fig.Columns = append(scoreColumns(list), x, y)
	data, _, err := open(m.out, o)
	addPictures(fig, data, err)
	return fig, nil
}

// lookAtScores plots the scores of the candidates of a run's last query round, each against the
// others.
func lookAtScores(_ context.Context, f *Folder, o FigureOptions) (*interactive.Figure, error) {
	r, out, queried, err := f.lastRound(o)
	if err != nil {
		return nil, err
	}
	list, err := out.Scores()
	if err != nil {
		return nil, err
	}
	fig := &interactive.Figure{Title: "Scores of the candidates, " + caption(r, out), Columns: scoreColumns(list), Color: interactive.ByRound}
	for _, p := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		fig.Panels = append(fig.Panels, interactive.Panel{X: p[0], Y: p[1], Axes: true,
			Title: fig.Columns[p[1]].Name + " over " + fig.Columns[p[0]].Name})
	}
	rounds, known := map[string]int{}, map[string]result.MapPoint{}
	if points, err := out.Map(result.MapFile); err == nil {
		for _, p := range points {
			known[p.ID] = p
		}
	}
	for _, q := range queried {
		rounds[q.ID] = q.Round + 1
		known[q.ID] = result.MapPoint{Domain: q.Domain, Class: q.Class}
	}
	data, truth, openErr := open(out, o)
	for _, c := range list {
		p := known[c.ID]
		if openErr == nil {
			if i, ok := data.Index(c.ID); ok {
				p.Domain = data.Domains[data.Examples[i].Domain]
				if truth.Knows(i) && p.Class == "" {
					p.Class = data.Classes[truth.Class(i)]
				}
			}
		}
		fig.IDs, fig.Domains, fig.Classes = append(fig.IDs, c.ID), append(fig.Domains, p.Domain), append(fig.Classes, p.Class)
		fig.Rounds = append(fig.Rounds, rounds[c.ID]-1)
	}
	addPictures(fig, data, openErr)
	return fig, nil
}

// scoreColumns are the three scores of images.
func scoreColumns(list []result.Candidate) []interactive.Column {
	columns := []interactive.Column{{Name: "uncertainty"}, {Name: "representativeness"}, {Name: "diversity"}}
	for _, c := range list {
		for k, v := range []float64{c.Su, c.Sr, c.Sd} {
			columns[k].Values = append(columns[k].Values, v)
		}
	}
	return columns
}

// addPictures gives a figure the images of a data set that was opened, or says why there
// are none.
func addPictures(fig *interactive.Figure, data *datasets.Dataset, err error) {
	if err == nil {
		if f, ok := data.Features(); ok {
			_, err = f.ImageRoot()
		}
	}
	if errors.Is(err, datasets.ErrNoImages) {
		err = datasets.ErrNoImages // without the file's path, which notebooks would keep
	}
	if err != nil {
		fig.NoPictures = err.Error()
		return
	}
	fig.Picture = func(ctx context.Context, i int) (image.Image, error) {
		k, ok := data.Index(fig.IDs[i])
		if !ok {
			return nil, fmt.Errorf("%s is not in the data set", fig.IDs[i])
		}
		m, err := data.ImageContext(ctx, k)
		if err != nil {
			return nil, err
		}
		return m.ToImage(), nil
	}
}
