package report

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
	"github.com/ledg-go/ledg/plots/interactive"
)

// Map returns the interactive figure tsne, and the static one.
func (f *Folder) Map(ctx context.Context, t plots.Theme, o FigureOptions) (*interactive.Figure, *plots.Grid, error) {
	still, err := f.Figure(ctx, "tsne", t, o)
	if err != nil {
		return nil, nil, err
	}
	m, err := openMap(ctx, f, o)
	if err != nil {
		return nil, nil, err
	}
	fig := &interactive.Figure{Title: "Features of the images (t-SNE), " + caption(m.run, m.out), Target: m.run.Target, Note: still.Note,
		Panels: []interactive.Panel{{Title: "Map of the features", X: 3, Y: 4}}}
	scores := map[string]result.Candidate{}
	switch list, err := m.out.Scores(); {
	case err == nil:
		fig.Note += " Scores: at the query for queried images, at the last round by the final network for the others."
		for _, c := range list {
			scores[c.ID] = c
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, err
	}
	rounds := map[string]int{}
	for _, q := range m.queried {
		rounds[q.ID] = q.Round + 1
		delete(scores, q.ID)
		if s := q.Scores; s != nil {
			scores[q.ID] = result.Candidate{Su: s.Su, Sr: s.Sr, Sd: s.Sd}
		}
	}
	fig.Columns = []interactive.Column{{Name: "uncertainty"}, {Name: "representativeness"}, {Name: "diversity"}, {Name: "x", Silent: true}, {Name: "y", Silent: true}}
	for _, p := range m.points {
		fig.IDs, fig.Domains, fig.Classes = append(fig.IDs, p.ID), append(fig.Domains, p.Domain), append(fig.Classes, p.Class)
		fig.Rounds = append(fig.Rounds, rounds[p.ID]-1)
		c, ok := scores[p.ID]
		if !ok {
			c = result.Candidate{Su: math.NaN(), Sr: math.NaN(), Sd: math.NaN()}
		}
		for k, v := range []float64{c.Su, c.Sr, c.Sd, p.X, p.Y} {
			fig.Columns[k].Values = append(fig.Columns[k].Values, v)
		}
	}
	data, err := Dataset(m.out, o)
	addPictures(fig, data, err)
	return fig, still, nil
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
