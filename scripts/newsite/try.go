package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Tried is what was found of a run. Shares are in [0, 1].
type Tried struct {
	Run    string `json:"run"`
	Target string `json:"target"`
	Seed   uint64 `json:"seed"`
	Labels int    `json:"labels"`
	Pool   int    `json:"pool"`
	Images int    `json:"images"`
	// Before is how right the run is on the target, Source on its sources, and the guesses are
	// those of package audit.
	Before    float64  `json:"before"`
	Source    float64  `json:"source"`
	Transport float64  `json:"transport"`
	Agreement *float64 `json:"agreement,omitempty"`
	Guess     *float64 `json:"guess,omitempty"`
	// Adapted is by how A was chosen and its size; "nothing 0" is the head fitted again without
	// A and without the run's own, and "sources 35" has as many more labels of the sources,
	// against that. "per domain 35" is MaxHerding's A on features standardised by domain.
	Adapted map[string]Adapted `json:"adapted"`
	// Audits are of MaxHerding's 35, by their size.
	Audits map[string]Audits `json:"audits"`
	// LeftOut are sets for 90% without an audit, Half the mean number of labels of audits that
	// go on until +-5 points, and UntilHeld how many of their intervals hold.
	LeftOut   Sets    `json:"left_out"`
	Until     float64 `json:"until_labels"`
	UntilHeld float64 `json:"until_held"`
}

// Adapted is the accuracy on the images outside A before and after.
type Adapted struct {
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Audits is how often intervals hold, and what sets of 90% are like: Wilson's and the gain's
// summed over all audits that can be drawn, the others of simulated ones.
type Audits struct {
	Wilson  float64 `json:"wilson"`
	Gain    float64 `json:"gain"`
	Half    float64 `json:"half"`
	Abstain float64 `json:"abstain"`
	Sets    Sets    `json:"sets"`
}

// Sets is the share of sets with the true class, and the mean size.
type Sets struct {
	Coverage float64 `json:"coverage"`
	Size     float64 `json:"size"`
}

const (
	simulated = 1000
	covered   = 0.9
	leftOut   = 0.2
)

func try(ctx context.Context, dir string) (*Tried, error) {
	k, res, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	s, u := k.sources, k.target
	t := &Tried{Run: filepath.Base(dir), Target: res.Target, Seed: res.Seed, Labels: s.Labelled.Len(), Pool: res.Pool, Images: u.Len(), Adapted: map[string]Adapted{}, Audits: map[string]Audits{}}
	t.Before = right(site.Best(u.Logits), u.Classes)
	g, err := s.Guess(u, res.Seed)
	if err != nil {
		return nil, err
	}
	t.Source, t.Transport, t.Agreement, t.Guess = g.Source.Accuracy, g.Transport, g.Agreement, g.Accuracy
	var now *head.Linear
	var rest site.Part
	for _, n := range []int{7, 35} {
		for _, how := range []string{"random", "maxherding"} {
			ids := make([]string, 0, n)
			if how == "random" {
				for _, i := range seed.New(res.Seed, "random A", uint64(n)).Perm(u.Len())[:n] {
					ids = append(ids, u.IDs[i])
				}
			} else if ids, err = chosen(res.Target, u, n); err != nil {
				return nil, err
			}
			var a []int
			a, others := split(u, ids)
			if now, err = s.Adapt(u.Take(a)); err != nil {
				return nil, err
			}
			rest = u.Take(others)
			t.Adapted[fmt.Sprint(how, " ", n)] = Adapted{right(site.Best(rest.Logits), rest.Classes), right(now.Predict(rest.Features), rest.Classes)}
		}
	}
	a, _ := split(u, picked[res.Target])
	perDomain, err := s.AdaptPerDomain(u.Take(a), u.Features)
	if err != nil {
		return nil, err
	}
	t.Adapted["per domain 35"] = Adapted{t.Adapted["maxherding 35"].Before, right(perDomain.Predict(rest.Features), rest.Classes)}
	fitted := *s
	fitted.Own = nil // the same kind of head with and without 35 more
	more, err := moreOfSources(k, &fitted, 35, res.Seed)
	if err != nil {
		return nil, err
	}
	none, err := fitted.Adapt(site.Part{})
	if err != nil {
		return nil, err
	}
	alone := right(none.Predict(u.Features), u.Classes)
	t.Adapted["nothing 0"] = Adapted{t.Before, alone}
	t.Adapted["sources 35"] = Adapted{alone, right(more.Predict(u.Features), u.Classes)}
	t.audits(rest, now, res.Seed)
	return t, t.leftOut(s, u)
}

// picked is MaxHerding's first 35 images of each target: they do not depend on the run.
var picked = map[string][]string{}

func chosen(target string, u site.Part, n int) ([]string, error) {
	if picked[target] == nil {
		list, err := site.Choose(u.IDs, u.Features, 35, nil)
		if err != nil {
			return nil, err
		}
		picked[target] = list
	}
	return picked[target][:n], nil
}

// split returns the rows of some images, and of the others.
func split(u site.Part, ids []string) (in, out []int) {
	for i, id := range u.IDs {
		if slices.Contains(ids, id) {
			in = append(in, i)
		} else {
			out = append(out, i)
		}
	}
	return in, out
}

func right(best, classes []int) float64 {
	n := 0
	for i, c := range classes {
		if best[i] == c {
			n++
		}
	}
	return float64(n) / float64(len(classes))
}

// moreOfSources spends labels on the sources instead, by MaxHerding beside those that there are.
func moreOfSources(k *known, s *site.Sources, n int, runSeed uint64) (*head.Linear, error) {
	c := &active.Candidates{IDs: s.Others.IDs, Domains: s.Others.Domains, Features: s.Others.Features, LabelledFeatures: s.Labelled.Features}
	picks, err := active.MaxHerding{TieSeed: runSeed}.Query(c, n, nil)
	if err != nil {
		return nil, err
	}
	var rows []int
	for _, p := range picks {
		rows = append(rows, p.Index)
	}
	others := s.Others
	others.Classes = k.classes
	part := others.Take(rows)
	more := *s
	more.Labelled.Features.Rows += n
	more.Labelled.Features.Data = slices.Concat(s.Labelled.Features.Data, part.Features.Data)
	more.Labelled.Classes = slices.Concat(s.Labelled.Classes, part.Classes)
	return more.Adapt(site.Part{})
}

// audits simulates audits of the images outside A.
func (t *Tried) audits(u site.Part, now *head.Linear, runSeed uint64) {
	logits := now.Logits(u.Features)
	before, after := site.Best(u.Logits), site.Best(logits)
	isBefore, isAfter := make([]bool, u.Len()), make([]bool, u.Len())
	surest, probs := make([]float64, u.Len()), make([][]float64, u.Len())
	for i, c := range u.Classes {
		isBefore[i], isAfter[i] = before[i] == c, after[i] == c
		probs[i] = calibration.Softmax(site.Row(logits, i), 1)
		surest[i] = slices.Max(probs[i])
	}
	scores := site.Scores(logits, u.Classes, 1)
	for _, m := range []int{20, 50, 100} {
		a := allAudits(isBefore, isAfter, m)
		sets := 0
		for k := range simulated {
			rows := sample(seed.New(runSeed, "simulated audit", uint64(m), uint64(k)), u.Len(), m)
			var own, sure []float64
			var good []bool
			for _, i := range rows {
				own, sure, good = append(own, scores[i]), append(sure, surest[i]), append(good, isAfter[i])
			}
			if one, err := audit.Abstain(sure, good, leftOut); err == nil {
				a.Abstain += holds(one.Accuracy, surestRight(surest, isAfter, one.Threshold)) / simulated
			}
			if q, err := audit.Threshold(own, covered); err == nil {
				in := make(map[int]bool, m)
				for _, i := range rows {
					in[i] = true
				}
				coverage, size := setsOf(audit.Sets{Threshold: q}, probs, scores, in)
				a.Sets.Coverage, a.Sets.Size = a.Sets.Coverage+coverage, a.Sets.Size+size
				sets++
			}
		}
		if sets > 0 {
			a.Sets.Coverage, a.Sets.Size = a.Sets.Coverage/float64(sets), a.Sets.Size/float64(sets)
		}
		t.Audits[fmt.Sprint(m)] = a
	}
	truth := share(isBefore)
	for k := range simulated {
		order := seed.New(runSeed, "audit until", uint64(k)).Perm(u.Len())
		var a result.Tally
		for _, i := range order {
			a.Total++
			if isBefore[i] {
				a.Correct++
			}
			if audit.Enough(a, 0.05) {
				break
			}
		}
		t.Until += float64(a.Total) / simulated
		t.UntilHeld += holds(audit.Wilson(a), truth) / simulated
	}
}

// allAudits sums over all audits of m images, drawn without replacement, by how many of each
// kind they have: how often the two intervals hold, and the mean half width of Wilson's.
func allAudits(before, after []bool, m int) (a Audits) {
	var all audit.Paired
	for i, b := range before {
		all.Add(b, after[i])
	}
	n := len(before)
	truth, gain := share(before), share(after)-share(before)
	right := all.Before().Correct
	for k := range m + 1 {
		w := audit.Wilson(result.Tally{Correct: k, Total: m})
		p := math.Exp(logChoose(right, k) + logChoose(n-right, m-k) - logChoose(n, m))
		a.Wilson += p * holds(w, truth)
		a.Half += p * w.HalfWidth()
	}
	for won := range m + 1 {
		for lost := range m + 1 - won {
			rest := m - won - lost
			p := math.Exp(logChoose(all.Won, won) + logChoose(all.Lost, lost) + logChoose(n-all.Won-all.Lost, rest) - logChoose(n, m))
			a.Gain += p * holds(audit.Gain(audit.Paired{Both: rest, Won: won, Lost: lost}), gain)
		}
	}
	return a
}

// logChoose is the logarithm of the number of ways to take k of n, -Inf where there is none.
func logChoose(n, k int) float64 {
	if k > n {
		return math.Inf(-1)
	}
	factorial := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	return factorial(n) - factorial(k) - factorial(n-k)
}

// sample draws m of n rows without replacement.
func sample(r *rand.Rand, n, m int) []int {
	in := make(map[int]bool, m)
	for len(in) < m { // m is far below n
		in[r.IntN(n)] = true
	}
	list := make([]int, 0, m)
	for i := range in {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}

func holds(i audit.Interval, truth float64) float64 {
	if i.Low <= truth && truth <= i.High {
		return 1
	}
	return 0
}

func share(list []bool) float64 {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return float64(n) / float64(len(list))
}

// surestRight is the accuracy on the images that are as sure as a threshold.
func surestRight(surest []float64, right []bool, threshold float64) float64 {
	n, good := 0, 0
	for i, p := range surest {
		if p >= threshold {
			n++
			if right[i] {
				good++
			}
		}
	}
	return float64(good) / float64(max(n, 1))
}

// setsOf is what the sets of the images that are not left out are like.
func setsOf(s audit.Sets, probs [][]float64, scores []float64, out map[int]bool) (coverage, size float64) {
	n := 0
	for i, p := range probs {
		if out[i] {
			continue
		}
		n++
		if scores[i] <= s.Threshold {
			coverage++
		}
		for _, v := range p {
			if audit.Score(v) <= s.Threshold {
				size++
			}
		}
	}
	return coverage / float64(n), size / float64(n)
}

// leftOut tries sets without an audit, on the run before it is adapted.
func (t *Tried) leftOut(s *site.Sources, u site.Part) error {
	if s.Trained {
		return nil
	}
	scores, err := s.LeftOut(1)
	if err != nil {
		return err
	}
	q, _, err := audit.LeftOut(scores, covered)
	var few *audit.TooFewError
	if errors.As(err, &few) { // with 21 labels
		return nil
	}
	if err != nil {
		return err
	}
	probs := make([][]float64, u.Len())
	for i := range probs {
		probs[i] = calibration.Softmax(site.Row(u.Logits, i), 1)
	}
	t.LeftOut.Coverage, t.LeftOut.Size = setsOf(audit.Sets{Threshold: q}, probs, site.Scores(u.Logits, u.Classes, 1), nil)
	return nil
}
