package predict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/plots"
)

// Contact returns a contact sheet of images in a table of [Predictor.Files]: a row each of the n
// most confident, the n least confident by margin, and the n farthest from all labelled images.
// Draw it with plots.ContactSheet. Memory does not grow with the table. The image files must not
// have moved.
func Contact(table string, n int) (plots.ContactData, error) {
	d := plots.ContactData{Columns: n, Note: "p probability of the class, m margin to the next, d distance to the nearest labelled image (1 = median among labelled images); new: it looks like nothing labelled."}
	if n < 1 {
		return d, fmt.Errorf("a contact sheet of %d images a row", n)
	}
	rows := []struct {
		name  string
		order func(a, b Prediction) int
		best  []Prediction
	}{
		{name: "most confident", order: func(a, b Prediction) int { return cmp.Compare(b.Probability, a.Probability) }},
		{name: "smallest margin", order: func(a, b Prediction) int { return cmp.Compare(a.Margin, b.Margin) }},
		{name: "most distant", order: func(a, b Prediction) int { return cmp.Compare(b.Distance, a.Distance) }},
	}
	err := ReadTable(table, func(p Prediction) error {
		for i := range rows {
			r := &rows[i]
			order := func(a, b Prediction) int { return cmp.Or(r.order(a, b), cmp.Compare(a.Path, b.Path)) }
			if len(r.best) == n && order(p, r.best[n-1]) > 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(r.best, p, order)
			r.best = slices.Insert(r.best, at, p)
			r.best = r.best[:min(n, len(r.best))]
		}
		return nil
	})
	if err != nil {
		return d, fmt.Errorf("%s: %w", table, err)
	}
	for _, r := range rows {
		for _, p := range r.best {
			m, err := Picture(p.Path)
			if err != nil {
				return d, err
			}
			d.Tiles = append(d.Tiles, plots.Tile{Image: m.ToImage(), Class: shown(p), Domain: r.name, Scores: []plots.Score{
				{Name: "p", Value: float64(p.Probability)}, {Name: "m", Value: float64(p.Margin)}, {Name: "d", Value: float64(p.Distance)},
			}})
		}
	}
	return d, nil
}

// shown is the class of a prediction, with its flag.
func shown(p Prediction) string {
	if p.New() {
		return p.Class + "? new"
	}
	return p.Class
}
