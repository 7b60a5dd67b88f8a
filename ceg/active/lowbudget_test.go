package active

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// testdata/lowbudget.npz holds decisions and values of the strategies for few labels,
// computed in float64 (torch, numpy, scipy, scikit-learn) and rounded to float32; its
// clusterings and predictions are given. The best score of every decision is ahead by
// 5e-5 of itself. Real numbers agree to 2e-6 and 2e-5 of themselves, but where a test
// says otherwise.

// byRow is the tie rule of the file: the lower index.
type byRow struct{}

func (byRow) before(a, b int) bool { return a < b }

// lowBudget is the pool of the file.
type lowBudget struct {
	archive
	x        points // every row divided by its length
	raw      Matrix
	labelled []int
	budget   int
}

func openLowBudget(t *testing.T) lowBudget {
	a := open(t, "lowbudget.npz")
	l := lowBudget{archive: a, labelled: a.Ints("labelled"), budget: a.Ints("budget")[0]}
	n := len(a.Ints("label"))
	l.raw = a.Matrix("x", len(read[float32](a, "x"))/n)
	l.x = unitPoints(l.raw)
	return l
}

func (l lowBudget) classes() int { return len(read[float32](l.archive, "head_bias")) }

// clustering reads one.
func (l lowBudget) clustering(name string) clustering {
	of := l.Ints(name)
	return clustering{of, slices.Max(of) + 1}
}

// is marks rows.
func (l lowBudget) is(rows []int) []bool {
	set := make([]bool, l.x.Rows)
	for _, i := range rows {
		set[i] = true
	}
	return set
}

// free returns the rows that are not among some.
func (l lowBudget) free(but []int) []int {
	var rows []int
	for i, out := range l.is(but) {
		if !out {
			rows = append(rows, i)
		}
	}
	return rows
}

func (l lowBudget) equal(t *testing.T, name string, got []int) {
	t.Helper()
	if want := l.Ints(name); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

func (l lowBudget) near(t *testing.T, name string, got []float64, relative float64) {
	t.Helper()
	want := read[float32](l.archive, name)
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i, w := range want {
		if w := float64(w); !(math.Abs(got[i]-w) <= 2e-6+relative*math.Abs(w)) {
			t.Fatalf("%s[%d] = %v, want %v", name, i, got[i], w)
		}
	}
}

const relative = 2e-5

func TestGoldenTypiClust(t *testing.T) {
	l := openLowBudget(t)
	for _, test := range []struct {
		name     string
		labelled []int
	}{{"typi_free", nil}, {"typi_lab", l.labelled}, {"typi_cap", nil}} {
		groups := l.clustering(test.name + ".cluster")
		round := &typical{points: l.x, ties: byRow{}, labelled: l.is(test.labelled)}
		round.group(groups)
		l.equal(t, test.name+".size", groups.sizes())
		l.equal(t, test.name+".order", round.order)
		first := make([]float64, l.x.Rows)
		for _, at := range round.order {
			values, _ := round.typicality(round.members[at])
			for k, i := range round.members[at] {
				first[i] = values[k]
			}
		}
		l.near(t, test.name+".first", first, relative)
		var picks, visited, knn []int
		var values []float64
		for range l.budget {
			at, value := round.next()
			picks, visited, knn, values = append(picks, at), append(visited, round.visited), append(knn, round.knn), append(values, value)
		}
		l.equal(t, test.name+".picks", picks)
		l.equal(t, test.name+".visited", visited)
		l.equal(t, test.name+".knn", knn)
		l.near(t, test.name+".value", values, relative)
		if slices.Equal(picks, l.Ints(test.name+".picks_unsquared")) {
			t.Logf("%s: distances and their squares pick the same", test.name)
		}
	}
}

func TestGoldenProbCover(t *testing.T) {
	l := openLowBudget(t)
	search := searchRadius(l.x, l.clustering("cover.cluster"))
	l.near(t, "cover.delta_tried", search.tried, relative)
	l.near(t, "cover.purity", search.purity, relative)
	l.near(t, "cover.delta", []float64{search.next}, relative)
	l.near(t, "cover.delta_largest_pure", []float64{search.pure}, relative)
	n := float64(l.x.Rows)
	for name, radius := range map[string]float64{"est": search.next, "wide": float64(read[float32](l.archive, "cover.delta_wide")[0])} {
		for start, labelled := range map[string][]int{"free": nil, "lab": l.labelled} {
			tag := "cover_" + name + "_" + start
			g := newCover(l.x, radius)
			for _, i := range labelled {
				g.add(i)
			}
			l.near(t, tag+".start", []float64{float64(g.covered()) / n}, relative)
			var picks, degrees []int
			var coverage []float64
			for range l.budget {
				at := highest(g.degree, nil, byRow{})
				picks, degrees = append(picks, at), append(degrees, g.degree[at])
				g.add(at)
				coverage = append(coverage, float64(g.covered())/n)
			}
			l.equal(t, tag+".picks", picks)
			l.equal(t, tag+".degree", degrees)
			l.near(t, tag+".coverage", coverage, relative)
		}
	}
}

func TestGoldenHerding(t *testing.T) {
	l := openLowBudget(t)
	u, logits := make([]float64, l.x.Rows), l.Matrix("logits", l.classes())
	temperature := float64(read[float32](l.archive, "uherd.temperature")[0])
	for _, i := range l.free(l.labelled) {
		u[i] = tempered(widen(make([]float64, logits.Cols), rowOf(logits, i)), temperature)
	}
	l.near(t, "uherd.u", u, relative)
	sigma := smallestDistance(l.x.rows(l.labelled))
	l.near(t, "uherd.sigma", []float64{sigma}, relative)
	for _, test := range []struct {
		name     string
		labelled []int
		u        []float64
		sigma    float64
	}{{"herd_free", nil, nil, 1}, {"herd_lab", l.labelled, nil, 1}, {"uherd_s1", l.labelled, u, 1}, {"uherd_adapt", l.labelled, u, sigma}} {
		rows := l.free(test.labelled)
		var own []float64
		if test.u != nil {
			for _, i := range rows {
				own = append(own, test.u[i])
			}
		}
		h := newHerding(l.x.rows(rows), l.x.rows(test.labelled), own, test.sigma)
		value := func() float64 {
			sum := 0.0
			if own == nil {
				sum = float64(len(test.labelled)) // which cover themselves, with u = 1
			}
			for j, m := range h.cover {
				w := 1.0
				if own != nil {
					w = own[j]
				}
				sum += w * float64(m) / whole
			}
			return sum / float64(h.all)
		}
		l.near(t, test.name+".start", []float64{value()}, relative)
		for k, i := range rows {
			want := float64(read[float32](l.archive, test.name+".first")[i])
			near(t, fmt.Sprintf("%s.first[%d]", test.name, i), h.score(k), want, 2e-6+relative*want)
		}
		var picks []int
		var gains, values []float64
		for range l.budget {
			at := highest(h.gain, h.picked, byRow{})
			picks, gains = append(picks, rows[at]), append(gains, h.score(at))
			h.pick(at)
			values = append(values, value())
		}
		l.equal(t, test.name+".picks", picks)
		l.near(t, test.name+".gain", gains, relative)
		l.near(t, test.name+".value", values, relative)
	}
}

// Some ports take the running maximum of the candidate, not of the point that is
// covered: they part at the second pick.
func TestGoldenHerdingOnALine(t *testing.T) {
	l := openLowBudget(t)
	p := asPoints(l.Matrix("line.position", 1))
	got := indices(herd(p, points{}, nil, 1, byRow{}, len(l.Ints("line.picks"))))
	l.equal(t, "line.picks", got)
	if swapped := l.Ints("line.picks_swapped"); slices.Equal(got, swapped) || got[0] != swapped[0] {
		t.Errorf("picks %v, of the swapped index %v: want them to part at the second", got, swapped)
	}
}

func TestGoldenTemperature(t *testing.T) {
	l := openLowBudget(t)
	classes := l.Ints("cal.label")
	m := l.Matrix("cal.logits", len(read[float32](l.archive, "cal.logits"))/len(classes))
	var logits [][]float64
	for i := range m.Rows {
		logits = append(logits, widen(make([]float64, m.Cols), rowOf(m, i)))
	}
	for name, bins := range map[string]int{"bins15": 15, "binsC": m.Cols} {
		temperature, errors := coolest(logits, classes, bins)
		l.near(t, "cal.ece_"+name, errors, relative)
		l.near(t, "cal.temperature_"+name, []float64{temperature}, relative)
	}
}

// Tolerance: 2e-4 of the value, since differences of near traces are compared.
func TestGoldenBAIT(t *testing.T) {
	const relative = 2e-4
	l := openLowBudget(t)
	logits := l.Matrix("logits", l.classes())
	spread := spreads(outputs{logits, true}, logits.Rows)
	var q []float64
	for _, v := range spread { // v^2 = q (1-q)
		q = append(q, (1+math.Sqrt(max(1-4*v*v, 0)))/2)
	}
	for i, w := range read[float32](l.archive, "bait.q") {
		if w >= 0.5 { // else q is the other root
			near(t, fmt.Sprintf("q[%d]", i), q[i], float64(w), 2e-6+2e-5)
		}
	}
	rows := l.free(l.labelled)
	take := func(index []int) (out []float64) {
		for _, i := range index {
			out = append(out, spread[i])
		}
		return out
	}
	for name, equal := range map[string]bool{"bait": false, "bait_equal": true} {
		b := fatal.Get(newBait(cluster.SelectRows(l.raw, rows), take(rows), cluster.SelectRows(l.raw, l.labelled), take(l.labelled), l.budget, equal))(t)
		l.near(t, name+".start", []float64{b.objective}, relative)
		if name == "bait" {
			first := make([]float64, l.x.Rows)
			for k, i := range rows {
				first[i] = b.s[k] / (1 + b.g[k])
			}
			l.near(t, name+".first", first, relative)
		}
		var forward, drop []int
		var forwardScore, dropScore, forwardObjective, dropObjective []float64
		b.onForward = func(at int, score, objective float64) {
			forward, forwardScore, forwardObjective = append(forward, rows[at]), append(forwardScore, score), append(forwardObjective, objective)
		}
		b.onBackward = func(at int, score, objective float64) {
			drop, dropScore, dropObjective = append(drop, rows[at]), append(dropScore, score), append(dropObjective, objective)
		}
		var picks []int
		for _, k := range b.run(l.budget, byRow{}) {
			picks = append(picks, rows[b.chosen[k]])
		}
		l.equal(t, name+".forward", forward)
		l.equal(t, name+".drop", drop)
		l.equal(t, name+".picks", picks)
		l.near(t, name+".forward_score", forwardScore, relative)
		l.near(t, name+".forward_objective", forwardObjective, relative)
		l.near(t, name+".drop_score", dropScore, relative)
		l.near(t, name+".drop_objective", dropObjective, relative)
	}
}

func TestGoldenDropQuery(t *testing.T) {
	l := openLowBudget(t)
	n := l.x.Rows
	clean := l.Ints("drop.clean")
	logits := l.Matrix("logits", l.classes())
	for i, want := range clean {
		top := 0
		for j, v := range rowOf(logits, i) {
			if v > rowOf(logits, i)[top] {
				top = j
			}
		}
		if top != want {
			t.Errorf("clean[%d] = %d, want %d", i, top, want)
		}
	}
	for name, predictions := range map[string]string{"drop_big": "drop.predictions", "drop_small": "drop.predictions", "drop_few": "drop.predictions_few"} {
		all := l.Ints(predictions)
		var passes [dropPasses][]int
		for k := range passes {
			passes[k] = all[k*n : (k+1)*n]
		}
		budget := l.Ints(name + ".budget")[0]
		mismatch := mismatches(passes, clean)
		l.equal(t, name+".mismatch", mismatch)
		threshold, rows := unsteady(mismatch, l.is(l.labelled), budget, dropPasses)
		l.equal(t, name+".threshold", []int{threshold})
		l.equal(t, name+".candidates", rows)
		if name == "drop_few" {
			l.equal(t, name+".fill", []int{budget - len(rows)})
			continue
		}
		l.central(t, name, l.x.rows(rows), rows)
	}
}

// central compares the points nearest to the centres of a clustering.
func (l lowBudget) central(t *testing.T, name string, p points, rows []int) {
	t.Helper()
	groups := l.clustering(name + ".cluster")
	var centres []float64
	for _, c := range means(p, groups) {
		centres = append(centres, c...)
	}
	l.near(t, name+".centre", centres, relative)
	at, distances := central(p, groups, byRow{})
	var picks []int
	for _, k := range at {
		picks = append(picks, rows[k])
	}
	l.equal(t, name+".picks", picks)
	l.near(t, name+".distance", distances, relative)
}

func TestGoldenCentroids(t *testing.T) {
	l := openLowBudget(t)
	l.central(t, "km", l.x, l.free(nil))
	domains, clusters := l.Ints("domain"), l.Ints("kmd.cluster")
	sizes := make([]int, slices.Max(domains)+1)
	members := make([][]int, len(sizes))
	for i, d := range domains {
		sizes[d]++
		members[d] = append(members[d], i)
	}
	share := fatal.Get(stratified(sizes, l.budget))(t)
	l.equal(t, "kmd.share", share)
	var picks []int
	var distances []float64
	for d, rows := range members {
		groups := clustering{take(clusters, rows), share[d]}
		at, own := central(l.x.rows(rows), groups, byRow{})
		for _, k := range at {
			picks = append(picks, rows[k])
		}
		distances = append(distances, own...)
	}
	l.equal(t, "kmd.picks", picks)
	l.near(t, "kmd.distance", distances, relative)
}

func TestGoldenTCM(t *testing.T) {
	l := openLowBudget(t)
	batch := l.Ints("tcm.batch")[0]
	if rounds := l.Ints("tcm.typi_rounds")[0]; rounds != typicalRounds {
		t.Fatalf("%d rounds of TypiClust, want %d", typicalRounds, rounds)
	}
	var labelled []int
	for round := range typicalRounds + 2 {
		tag := fmt.Sprint("_round", round)
		var picks []int
		var scores []float64
		switch s := (TCM{}).turn(len(labelled), batch).(type) {
		case TypiClust:
			r := &typical{points: l.x, ties: byRow{}, labelled: l.is(labelled)}
			r.group(l.clustering("tcm.cluster" + tag))
			for range batch {
				at, value := r.next()
				picks, scores = append(picks, at), append(scores, value)
			}
		case Probability:
			rows, c := l.free(labelled), &Candidates{}
			c.ClassLogits = cluster.SelectRows(l.Matrix("tcm.logits"+tag, l.classes()), rows)
			c.IDs = numbered(len(rows))
			got := fatal.Get(s.Query(c, batch, nil))(t)
			for _, p := range got {
				picks, scores = append(picks, rows[p.Index]), append(scores, 1-p.Score)
			}
		}
		l.equal(t, "tcm.picks"+tag, picks)
		l.near(t, "tcm.score"+tag, scores, relative)
		labelled = append(labelled, picks...)
	}
}

func TestGoldenAllocation(t *testing.T) {
	l := openLowBudget(t)
	k := slices.Max(l.Ints("domain")) + 1
	budgets := l.Ints("alloc.budgets")
	for name, divide := range map[string]func([]int, int) ([]int, error){"stratified": stratified, "proportional": proportional} {
		var all []int
		for c := range len(l.Ints("alloc.sizes")) / k {
			sizes := l.Ints("alloc.sizes")[c*k : (c+1)*k]
			for _, b := range budgets {
				counts := fatal.Get(divide(sizes, b))(t)
				all = append(all, counts...)
			}
		}
		l.equal(t, "alloc."+name, all)
	}
}

// covered returns how many points are covered.
func (g *cover) covered() int {
	n := len(g.degree)
	for _, w := range g.left {
		n -= bits.OnesCount64(w)
	}
	return n
}
