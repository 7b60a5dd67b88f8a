package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
)

// one returns the finished run that a figure of a single run shows: of the
// method named, else CEG, on the target named, else the first, with the seed
// named, else the first.
func (f *Folder) one(o FigureOptions) (result.PlannedRun, *result.Run, error) {
	o, err := o.withDefaults(f)
	if err != nil {
		return result.PlannedRun{}, nil, err
	}
	label := "ceg"
	if len(o.Methods) > 0 {
		label = o.Methods[0]
	}
	runs, err := f.choose(o, func(r result.PlannedRun) bool {
		return r.Label() == label && r.Budget == o.Budget && (o.Seed == nil || r.Seed == *o.Seed)
	})
	if err != nil {
		return result.PlannedRun{}, nil, err
	}
	for _, r := range runs {
		switch out, err := f.Outcome(r); {
		case err != nil:
			return result.PlannedRun{}, nil, err
		case out != nil:
			return r, out, nil
		}
	}
	seed := "any"
	if o.Seed != nil {
		seed = fmt.Sprint(*o.Seed)
	}
	return result.PlannedRun{}, nil, fmt.Errorf("%s, %s labels, targets %v, seed %s: no finished run of it in the folder's studies", label, o.Budget, o.Targets, seed)
}

// Queried returns a contact sheet of a run's queried images, from queries.csv: equally many of
// each round, best first, with class, domain and scores. Those without scores are balanced over
// domains and classes.
func (f *Folder) Queried(o FigureOptions) (plots.ContactData, error) {
	var d plots.ContactData
	r, out, err := f.one(o)
	if err != nil {
		return d, err
	}
	queries, err := out.Queries()
	if err != nil {
		return d, err
	}
	if later := only(queries, func(q result.Query) bool { return q.Round > 0 }); len(later) > 0 {
		queries = later // else all labels were queried upfront
	}
	queries = Balanced(queries, cmp.Or(o.Count, 24))
	data, err := imagesOf(out, o)
	if err != nil {
		return d, err
	}
	rank := 0 // in the round
	for _, q := range queries {
		i, ok := data.Index(q.ID)
		if !ok {
			return d, fmt.Errorf("%s: %s is not in the data set", out.Path, q.ID)
		}
		m, err := data.Image(i)
		if err != nil {
			return d, err
		}
		t := plots.Tile{Image: m.ToImage(), Class: q.Class, Domain: q.Domain, Round: q.Round}
		if n := len(d.Tiles); n == 0 || d.Tiles[n-1].Round != q.Round {
			rank = 0
		}
		rank++
		t.Rank = rank
		if s := q.Scores; s != nil {
			t.Scores = []plots.Score{{Name: "S_u", Value: s.Su}, {Name: "S_r", Value: s.Sr}, {Name: "S_d", Value: s.Sd}}
		}
		if q.Score != nil {
			t.Scores = append(t.Scores, plots.Score{Name: "score", Value: *q.Score})
		}
		d.Tiles = append(d.Tiles, t)
	}
	if slices.ContainsFunc(d.Tiles, func(t plots.Tile) bool { return t.Scores != nil }) {
		what := "S_u: uncertainty, S_r: representativeness, S_d: diversity."
		if out.Config.Exploration.StrategyCode != "" {
			what = fmt.Sprintf("score: that of %s, higher is better.", out.Config.Exploration.Strategy)
		}
		d.Note = fmt.Sprintf("%s: the queries with the highest scores, from every round; no. is the rank in the round. %s%s",
			caption(r, out), what, constantScores(d.Tiles))
	} else {
		d.Note = fmt.Sprintf("%s: queries of every round, balanced over domains and classes; no. counts those shown.", caption(r, out))
	}
	return d, nil
}

// imagesOf opens the data set with a run's images.
func imagesOf(out *result.Run, o FigureOptions) (*datasets.Dataset, error) {
	data, err := Dataset(out, o)
	if err != nil {
		return nil, err
	}
	if f, ok := data.Features(); ok {
		if _, err := f.ImageRoot(); err != nil {
			if data = emojiOf(data); data == nil {
				return nil, fmt.Errorf("%s: the run was trained on feature vectors: %w", out.Name(), err)
			}
		}
	}
	return data, nil
}

// emojiOf returns the embedded emoji if all examples of a data set are theirs, as in the features in
// datasets/emoji; else nil.
func emojiOf(data *datasets.Dataset) *datasets.Dataset {
	d, _, err := datasets.Emoji(datasets.Options{})
	if err != nil || slices.ContainsFunc(data.Examples, func(e datasets.Example) bool { _, ok := d.Index(e.ID); return !ok }) {
		return nil
	}
	return d
}

// Dataset opens the data set of a run, at the options' root or where the run last found it.
func Dataset(r *result.Run, o FigureOptions) (*datasets.Dataset, error) {
	data := r.Config.Data
	at, err := result.Locate(r.Path, data.Dataset, result.Place{Root: o.Roots[data.Dataset], SplitsDir: o.SplitsDir})
	if err != nil {
		return nil, err
	}
	d, _, err := datasets.Open(data.Dataset, at.Root, datasets.Options{Seed: data.SplitSeed, SplitsDir: at.SplitsDir, Classes: data.Classes, Group: data.Group, Decoding: data.Decode, Patterns: data.Exclude, Layout: data.Layout, SiteRule: data.Site, FollowLinks: at.FollowLinks, Images: at.Images})
	return d, err
}

// Balanced returns n of the queries, as many of each round as of the others, in the order of
// rounds: those with scores best first, those without balanced over domains and classes.
func Balanced(queries []result.Query, n int) []result.Query {
	type cell struct {
		round         int
		domain, class string
	}
	turn, in := map[string]float64{}, map[cell]int{}
	for _, q := range queries {
		c := cell{q.Round, q.Domain, q.Class}
		if turn[q.ID] = float64(in[c]); q.Scores != nil {
			turn[q.ID] = q.Scores.R
		}
		if q.Score != nil {
			turn[q.ID] = 0 - *q.Score
		}
		in[c]++
	}
	list := slices.SortedStableFunc(slices.Values(queries), func(a, b result.Query) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(turn[a.ID], turn[b.ID]))
	})
	place, queried := map[string]int{}, map[int]int{}
	for _, q := range list {
		place[q.ID] = queried[q.Round]
		queried[q.Round]++
	}
	slices.SortStableFunc(list, func(a, b result.Query) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	list = list[:min(len(list), n)]
	slices.SortStableFunc(list, func(a, b result.Query) int { return cmp.Compare(a.Round, b.Round) })
	return list
}

// constantScores removes scores that all tiles share, up to 0.015, and names them.
func constantScores(tiles []plots.Tile) (note string) {
	if len(tiles) < 2 || slices.ContainsFunc(tiles, func(t plots.Tile) bool { return len(t.Scores) != len(tiles[0].Scores) }) {
		return ""
	}
	for k := len(tiles[0].Scores) - 1; k >= 0; k-- {
		name, least, most := tiles[0].Scores[k].Name, math.Inf(1), math.Inf(-1)
		for _, t := range tiles {
			least, most = min(least, t.Scores[k].Value), max(most, t.Scores[k].Value)
		}
		if most-least > 0.015 {
			continue
		}
		for i, t := range tiles {
			tiles[i].Scores = slices.Delete(slices.Clone(t.Scores), k, k+1)
		}
		value := fmt.Sprintf("%.2f", least)
		if other := fmt.Sprintf("%.2f", most); other != value {
			value += " to " + other
		}
		note += fmt.Sprintf(" %s is %s for all images shown; only its ranks differ.", name, value)
	}
	return note
}

// CrossTable counts queries by domain and class, with a row for each class or for each domain.
func CrossTable(queries []result.Query, byClass bool) *result.Table {
	corner, count, columns, of := "domain", map[string]map[string]int{}, map[string]bool{}, func(q result.Query) (row, column string) { return q.Domain, q.Class }
	if byClass {
		corner, of = "class", func(q result.Query) (row, column string) { return q.Class, q.Domain }
	}
	for _, q := range queries {
		row, column := of(q)
		if count[row] == nil {
			count[row] = map[string]int{}
		}
		count[row][column]++
		columns[column] = true
	}
	names := slices.Sorted(maps.Keys(columns))
	t := &result.Table{Columns: []result.Column{{Name: corner}}}
	for _, name := range append(slices.Clone(names), "all") {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: true})
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		row, all := []string{name}, 0
		for _, column := range names {
			n := count[name][column]
			row, all = append(row, strconv.Itoa(n)), all+n
		}
		t.AddRow(append(row, strconv.Itoa(all))...)
	}
	return t
}
