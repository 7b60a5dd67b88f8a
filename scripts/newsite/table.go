package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/result"
)

// budget names the share of the pool that a run has labels of.
func (t *Tried) budget() string {
	switch share := float64(t.Labels) / float64(t.Pool); {
	case t.Labels < 30:
		return "21 labels"
	case share < 0.02:
		return "1%"
	case share < 0.1:
		return "5%"
	}
	return "20%"
}

var budgets = []string{"21 labels", "1%", "5%", "20%"}

// tables prints all that was found. Means are over targets first, seed by seed; intervals over
// seeds.
func tables(w io.Writer, all []*Tried) {
	seeds := map[uint64]bool{}
	for _, t := range all {
		seeds[t.Seed] = true
	}
	fmt.Fprintf(w, "%d runs, seeds %v\n\n", len(all), slices.Sorted(maps.Keys(seeds)))
	line := func(name string, value func(t *Tried) (float64, bool)) {
		fmt.Fprintf(w, "| %s |", name)
		for _, b := range budgets {
			fmt.Fprintf(w, " %s |", overSeeds(all, b, value))
		}
		fmt.Fprintln(w)
	}
	head := func(title string) {
		fmt.Fprintf(w, "\n| %s |", title)
		for _, b := range budgets {
			fmt.Fprintf(w, " %s |", b)
		}
		fmt.Fprintf(w, "\n| --- |%s\n", " --: | --: | --: | --: |")
	}
	always := func(v float64) (float64, bool) { return 100 * v, true }
	head("accuracy, %")
	line("on the sources", func(t *Tried) (float64, bool) { return always(t.Source) })
	line("on the site", func(t *Tried) (float64, bool) { return always(t.Before) })
	head("mean absolute error of guesses, points")
	line("optimal transport", func(t *Tried) (float64, bool) { return always(math.Abs(t.Transport - t.Before)) })
	line("agreement of halves", func(t *Tried) (float64, bool) {
		if t.Agreement == nil {
			return 0, false
		}
		return always(math.Abs(*t.Agreement - t.Before))
	})
	line("what ledg tells", func(t *Tried) (float64, bool) {
		if t.Guess == nil {
			return 0, false
		}
		return always(math.Abs(*t.Guess - t.Before))
	})
	line("accuracy on the sources", func(t *Tried) (float64, bool) { return always(math.Abs(t.Source - t.Before)) })
	fmt.Fprintf(w, "| worst single case: transport, agreement |")
	for _, b := range budgets {
		worst := [2]float64{}
		for _, t := range all {
			if t.budget() != b {
				continue
			}
			worst[0] = max(worst[0], math.Abs(t.Transport-t.Before))
			if t.Agreement != nil {
				worst[1] = max(worst[1], math.Abs(*t.Agreement-t.Before))
			}
		}
		fmt.Fprintf(w, " %.0f, %.0f |", 100*worst[0], 100*worst[1])
	}
	fmt.Fprintln(w)
	head("gain on the other images of the site, points")
	for _, how := range []string{"nothing 0", "random 7", "maxherding 7", "random 35", "maxherding 35", "per domain 35", "sources 35"} {
		line(how, func(t *Tried) (float64, bool) { return always(t.Adapted[how].After - t.Adapted[how].Before) })
	}
	line("maxherding 35 less random 35", func(t *Tried) (float64, bool) {
		a, b := t.Adapted["maxherding 35"], t.Adapted["random 35"]
		return always(a.After - a.Before - b.After + b.Before)
	})
	line("per domain 35 less maxherding 35", func(t *Tried) (float64, bool) {
		return always(t.Adapted["per domain 35"].After - t.Adapted["maxherding 35"].After)
	})
	line("maxherding 35 less sources 35", func(t *Tried) (float64, bool) {
		a, b := t.Adapted["maxherding 35"], t.Adapted["sources 35"]
		return always(a.After - a.Before - b.After + b.Before)
	})
	line("accuracy with maxherding 35, %", func(t *Tried) (float64, bool) { return always(t.Adapted["maxherding 35"].After) })
	for _, m := range []string{"20", "50", "100"} {
		head("of all audits of " + m + ", %")
		line("Wilson's interval holds", func(t *Tried) (float64, bool) { return always(t.Audits[m].Wilson) })
		line("the gain's holds", func(t *Tried) (float64, bool) { return always(t.Audits[m].Gain) })
		line("that of the surest 80% holds", func(t *Tried) (float64, bool) { return always(t.Audits[m].Abstain) })
		line("half width, points", func(t *Tried) (float64, bool) { return always(t.Audits[m].Half) })
		line("sets for 90% have the class", func(t *Tried) (float64, bool) { return always(t.Audits[m].Sets.Coverage) })
		line("classes in a set", func(t *Tried) (float64, bool) { return t.Audits[m].Sets.Size, true })
		worst := [4]float64{1, 1, 1, 0}
		for _, t := range all {
			a := t.Audits[m]
			worst = [4]float64{min(worst[0], a.Wilson), min(worst[1], a.Gain), min(worst[2], a.Sets.Coverage), max(worst[3], a.Sets.Coverage)}
		}
		fmt.Fprintf(w, "\nWorst of all runs: Wilson %.1f, gain %.1f, sets %.1f to %.1f.\n", 100*worst[0], 100*worst[1], 100*worst[2], 100*worst[3])
	}
	head("audits until +-5 points")
	line("labels", func(t *Tried) (float64, bool) { return t.Until, true })
	line("the interval holds, %", func(t *Tried) (float64, bool) { return always(t.UntilHeld) })
	head("sets for 90% without an audit")
	has := func(t *Tried, v float64) (float64, bool) { return v, t.LeftOut.Size > 0 }
	line("have the class, %", func(t *Tried) (float64, bool) { return has(t, 100*t.LeftOut.Coverage) })
	line("classes in a set", func(t *Tried) (float64, bool) { return has(t, t.LeftOut.Size) })
	worst := 1.0
	for _, t := range all {
		if t.LeftOut.Size > 0 {
			worst = min(worst, t.LeftOut.Coverage)
		}
	}
	fmt.Fprintf(w, "\nWorst of all runs: %.1f.\n", 100*worst)
}

// overSeeds is the mean over targets, seed by seed, with an interval over seeds; of the targets
// that have a value. Seeds of which a target is missing are left out.
func overSeeds(all []*Tried, budget string, value func(t *Tried) (float64, bool)) string {
	targets, by := map[string]bool{}, map[uint64][]*Tried{}
	for _, t := range all {
		if t.budget() == budget {
			targets[t.Target] = true
			by[t.Seed] = append(by[t.Seed], t)
		}
	}
	var sample []float64
	for _, seed := range slices.Sorted(maps.Keys(by)) {
		if len(by[seed]) < len(targets) {
			continue
		}
		sum, n := 0.0, 0
		for _, t := range by[seed] {
			if v, ok := value(t); ok {
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			sample = append(sample, sum/float64(n))
		}
	}
	s, err := result.Summarize(sample)
	if err != nil {
		return ""
	}
	if !s.HasInterval() {
		return fmt.Sprintf("%.1f", s.Mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", s.Mean, (s.High-s.Low)/2)
}
