package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/datasets"
)

// summary is a run in plain words: its purpose, its accuracy by site, and what to do next. A
// domain is called a site there. The template has the words.
type summary struct {
	Classes, SourceSites []string
	// Target and Val are measured; Estimate is by cross-validation, nil without. OnNew and OnNewOf
	// are its accuracy on a new site. Headline names the number that comes first, as Besides does
	// others: target, new, seen or val.
	Target, Val audit.Interval
	Estimate    *audit.Estimate
	OnNew, Of   string
	Headline    string
	// Sites and Confused are measured on the trained model, Confused by class. Crossed are
	// classes by cross-validation.
	Sites, Confused, Crossed ranking
	Rare                     []rare
	Seen                     int    // unlabelled images that were predicted
	Wrong, Unsure            []tile // images it gets wrong, and those it is least sure of
	Measured                 bool   // Wrong are measured, else labels to check
	Budget                   int    // of the next run
	// People label, Yours is a folder of the user's, and Good means that use comes before labels.
	People, Yours, Good bool
}

// mostPhotos is how many images of a kind are shown.
const mostPhotos = 12

// enough is the accuracy, at the low end of its interval, from which on use comes before
// more labels.
const enough = 0.8

// row is how right a run is on a site, or in a class that is mostly confused with What.
type row struct {
	Name, What string
	Tally      result.Tally
	Interval   audit.Interval
}

// Few reports whether there are too few images for an interval.
func (r row) Few() bool { return r.Tally.Total < audit.FewestOfClass }

// ranking has rows with images, the worst first.
type ranking []row

func rank(rows []row, interval func(result.Tally) audit.Interval) ranking {
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.Tally.Total == 0 })
	for i := range rows {
		rows[i].Interval = interval(rows[i].Tally)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.Tally.Compare(b.Tally) })
	return rows
}

// Worst and Best are the ends of a ranking with rows.
func (r ranking) Worst() row { return r[0] }
func (r ranking) Best() row  { return r[len(r)-1] }

// Uneven reports whether the worst is below the best, Differ whether by more than chance.
func (r ranking) Uneven() bool { return len(r) > 0 && r.Worst().Tally.Compare(r.Best().Tally) != 0 }
func (r ranking) Differ() bool { return len(r) > 0 && r.Worst().Interval.High < r.Best().Interval.Low }

// rare is a class that is hardly ever predicted, held against its share of the labels.
type rare struct {
	Class        string
	Seen, Labels int
}

// summarize summarises a finished run. k is its artifact, nil for older ones.
func summarize(r *runPage, k *artifact.Artifact) *summary {
	last, classes := r.Result.Accuracy.LastEpoch, r.Result.Classes
	info, _ := datasets.Lookup(r.Result.Dataset)
	s := &summary{Classes: classes, Target: audit.Wilson(last.Target), Val: audit.Wilson(last.SourceVal), Yours: info.Yours,
		People: r.Config.Exploration.Oracle == config.People,
		Budget: min(r.Result.Pool, max(r.Result.Labels+r.Result.Labels/2, r.Result.Labels+10))}
	s.Good = r.Result.Accuracy.Measured() && s.Target.Low >= enough
	if k != nil {
		s.Classes, s.Estimate = k.Classes, k.Estimate
		s.SourceSites = slices.DeleteFunc(slices.Clone(k.Domains), func(d string) bool { return d == r.Result.Target })
		s.predicted(r, k)
	} else {
		for _, q := range r.Queries {
			s.SourceSites = append(s.SourceSites, q.Domain)
		}
		slices.Sort(s.SourceSites)
		s.SourceSites = slices.Compact(s.SourceSites)
	}
	if s.Estimate != nil {
		s.OnNew, s.Of = s.Estimate.OnNew()
	}
	switch {
	case last.Target.Total > 0:
		s.Headline = "target"
	case s.OnNew != "":
		s.Headline = "new"
	case last.SourceVal.Total > 0:
		s.Headline = "val"
	case s.Estimate != nil:
		s.Headline = "seen"
	}
	var sites []row
	for _, a := range r.Last {
		what := map[string]string{result.TestSplit: "held out", result.HeldOutSplit: "trained on, its test images"}[a.Split]
		sites = append(sites, row{Name: a.Domain, What: cmp.Or(what, "trained on"), Tally: a.Tally})
	}
	s.Sites = rank(sites, audit.Wilson)
	return s
}

// predicted adds what is known of predictions: confusions, errors and rare classes.
func (s *summary) predicted(r *runPage, k *artifact.Artifact) {
	target := slices.Index(k.Domains, r.Result.Target)
	onTarget := func(e datasets.Example) bool { return e.Domain == target }
	counts, only := audit.NewCounts(k.Classes), slices.ContainsFunc(k.Measured, onTarget)
	type wrong struct {
		tile
		onTarget bool
		sure     float32
	}
	var errors []wrong
	for i, e := range k.Measured {
		logits := k.Logits[i*len(k.Classes) : (i+1)*len(k.Classes)]
		c, is := evaluate.ArgMax(logits), k.Class[i]
		if !only || onTarget(e) { // of the target, or else the validation images
			counts.Add(k.Classes[is], c)
		}
		if c != is {
			errors = append(errors, wrong{tile{ID: e.ID, Is: k.Classes[is], Seen: k.Classes[c]}, onTarget(e), logits[c] - logits[is]})
		}
	}
	slices.SortStableFunc(errors, func(a, b wrong) int {
		if a.onTarget != b.onTarget {
			return map[bool]int{true: -1, false: 1}[a.onTarget]
		}
		return cmp.Compare(b.sure, a.sure)
	})
	for _, w := range errors {
		s.Wrong = append(s.Wrong, w.tile)
	}
	if s.Measured = len(k.Measured) > 0; s.Measured {
		s.Confused = rank(byClass(counts), audit.Exact)
	} else {
		for _, m := range k.Missed {
			s.Wrong = append(s.Wrong, tile{ID: m.ID, Is: k.Classes[m.Class], Seen: k.Classes[m.Seen]})
		}
		if e := k.Estimate; e != nil && e.Counts != nil {
			s.Crossed = slices.DeleteFunc(byClass(e.Counts), func(r row) bool { return r.Tally.Total == 0 })
		}
	}
	for _, u := range k.Unsure {
		s.Unsure = append(s.Unsure, tile{ID: u.ID, Seen: fmt.Sprintf("%s, confidence %.0f%%", k.Classes[u.Class], 100*u.Probability)})
	}
	s.Wrong, s.Unsure = s.Wrong[:min(len(s.Wrong), mostPhotos)], s.Unsure[:min(len(s.Unsure), mostPhotos)]
	for _, list := range [][]tile{s.Wrong, s.Unsure} {
		for i := range list {
			list[i].Picture = r.picture(list[i].ID)
		}
	}
	if len(r.Queries) == 0 {
		return
	}
	for c, name := range k.Classes {
		rare, all := rare{Class: name}, 0
		for _, q := range r.Queries {
			if q.Class == name {
				rare.Labels++
			}
		}
		for _, site := range k.Seen {
			rare.Seen, all = rare.Seen+site[c], all+sum(site)
		}
		if s.Seen = all; rare.Labels == 0 || all > 0 && 4*rare.Seen*len(r.Queries) < rare.Labels*all {
			s.Rare = append(s.Rare, rare)
		}
	}
}

// byClass has a row for each class, with the one that it is mistaken for most often.
func byClass(c *audit.Counts) (rows []row) {
	for i, name := range c.Classes {
		most, confused := 0, "nothing else"
		for j, n := range c.Counts[i] {
			if j != i && n > most {
				most, confused = n, c.Classes[j]
			}
		}
		rows = append(rows, row{Name: name, What: confused, Tally: c.Of(i)})
	}
	return rows
}
