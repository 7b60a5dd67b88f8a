package active

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/npztest"
	"github.com/ledg-go/ledg/datasets/seed"
)

// archive has the arrays of a golden file.
type archive struct{ npztest.File }

func open(t *testing.T, name string) archive { return archive{npztest.Open(t, "testdata/"+name)} }

func read[T any](a archive, name string) []T { return npztest.Read[T](a.File, name) }

// probs returns the softmax of logits.
func (a archive) probs(name string, cols int) Matrix {
	m := a.Matrix(name, cols)
	p := make([]float64, cols)
	for i := range m.Rows {
		head.Softmax(p, widen(p, rowOf(m, i)))
		for j, v := range p {
			m.Data[i*cols+j] = float32(v)
		}
	}
	return m
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

// nearAll compares with values that are stored as float32.
func nearAll(t *testing.T, what string, got []float64, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		near(t, fmt.Sprintf("%s[%d]", what, i), got[i], float64(want[i]), tolerance)
	}
}

func numbered(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	return ids
}

func indices(picks []Pick) []int {
	rows := make([]int, len(picks))
	for i, p := range picks {
		rows[i] = p.Index
	}
	return rows
}

func exploration(t *testing.T) (archive, *Candidates) {
	a := open(t, "exploration.npz")
	return a, &Candidates{
		IDs: numbered(200), Domains: a.Ints("u_domain"),
		Features:         a.Matrix("u_features", 16),
		ClassProbs:       a.probs("u_class_logits", 7),
		DomainProbs:      a.probs("u_domain_logits", 3),
		LabelledFeatures: a.Matrix("l_features", 16),
		LabelledClasses:  a.Ints("l_label"), LabelledDomains: a.Ints("l_domain"),
	}
}

func TestGoldenProbabilities(t *testing.T) {
	a, c := exploration(t)
	for name, m := range map[string]Matrix{"class_prob": c.ClassProbs, "domain_prob": c.DomainProbs} {
		for i, want := range read[float32](a, name) {
			near(t, fmt.Sprintf("%s[%d]", name, i), float64(m.Data[i]), float64(want), 1e-6)
		}
	}
}

// The ranks equal the reference, from logits or from probabilities.
func TestGoldenExploration(t *testing.T) {
	a, c := exploration(t)
	t.Run("probabilities", func(t *testing.T) { goldenExploration(t, a, c) })
	logits := *c
	logits.ClassProbs, logits.DomainProbs = Matrix{}, Matrix{}
	logits.ClassLogits, logits.DomainLogits = a.Matrix("u_class_logits", 7), a.Matrix("u_domain_logits", 3)
	t.Run("logits", func(t *testing.T) { goldenExploration(t, a, &logits) })
}

func goldenExploration(t *testing.T, a archive, c *Candidates) {
	gammas := map[string]Weights{"g1_1_g2_1": Gammas(1, 1), "g1_3_g2_1": Gammas(3, 1), "g1_0.5_g2_0.5": Gammas(0.5, 0.5)}
	for _, s := range []struct {
		prefix, scores, diversity string
		ceg                       CEG
	}{
		{"", "", "", CEG{Space: cluster.Raw}},
		{"ref_", "", "ref_", CEG{Space: cluster.Augmented}},
		{"dsm_", "dsm_", "ref_", CEG{Space: cluster.Augmented, SoftmaxTwice: true}},
	} {
		for tag, weights := range gammas {
			ceg := s.ceg
			ceg.Weights = weights
			scores := fatal.Get(ceg.Score(c))(t)
			nearAll(t, s.scores+"su", scores.Su, read[float32](a, s.scores+"su"), 1e-6)
			nearAll(t, s.scores+"sr", scores.Sr, read[float32](a, s.scores+"sr"), 1e-6)
			nearAll(t, s.diversity+"sd", scores.Sd, read[float32](a, s.diversity+"sd"), 1e-6)
			all := fatal.Get(ceg.Query(c, 200, nil))(t)
			su, sr, sd := a.Ints(s.prefix+"rank_su"), a.Ints(s.prefix+"rank_sr"), a.Ints(s.prefix+"rank_sd")
			r := read[float32](a, s.prefix+"R_"+tag)
			for _, p := range all {
				i := p.Index
				if p.RankSu != su[i] || p.RankSr != sr[i] || p.RankSd != sd[i] || p.R != float64(r[i]) || !p.Scored {
					t.Errorf("%s%s row %d: %+v, want ranks %d, %d, %d and R %v", s.prefix, tag, i, p, su[i], sr[i], sd[i], r[i])
				}
				if p.Su != scores.Su[i] || p.Sr != scores.Sr[i] || p.Sd != scores.Sd[i] {
					t.Errorf("%s%s row %d: scores %+v differ from Score", s.prefix, tag, i, p)
				}
			}
			if want := a.Ints(s.prefix + "top20_" + tag); !slices.Equal(indices(all)[:20], want) {
				t.Errorf("%s%s: picks %v, want %v", s.prefix, tag, indices(all)[:20], want)
			}
			// The published code's weights are the gammas times a constant.
			if tag == "g1_3_g2_1" {
				ceg.Weights = Weights{Uncertainty: 0.2, Representativeness: 0.6, Diversity: 0.2}
				picks := fatal.Get(ceg.Query(c, 20, nil))(t)
				if want := a.Ints(s.prefix + "top20_" + tag); !slices.Equal(indices(picks), want) {
					t.Errorf("%spublished weights: picks %v, want %v", s.prefix, indices(picks), want)
				}
			}
		}
	}
}

func TestGoldenTies(t *testing.T) {
	data := fatal.Get(os.ReadFile("testdata/exploration.json"))(t)
	var golden struct {
		TieCase struct {
			Su, Sr, Sd     []float64
			RankSu         []int `json:"rank_su"`
			RankSr         []int `json:"rank_sr"`
			RankSd         []int `json:"rank_sd"`
			Gamma1, Gamma2 float64
			R              []float64
			Order          []int
		} `json:"tie_case"`
	}
	fatal.If(t, json.Unmarshal(data, &golden))
	g := golden.TieCase
	picks := fatal.Get(CEG{Weights: Gammas(g.Gamma1, g.Gamma2)}.Choose(numbered(len(g.Su)), Scores{Su: g.Su, Sr: g.Sr, Sd: g.Sd}, len(g.Su)))(t)
	// The reference gives the lower index to the lower of equal scores. Here they are
	// in another order among themselves, which is the same for all three scores; so
	// each candidate has a rank that the reference gives to one of its score.
	for _, p := range picks {
		for _, x := range []struct {
			name   string
			scores []float64
			ranks  []int
			got    int
		}{{"S_u", g.Su, g.RankSu, p.RankSu}, {"S_r", g.Sr, g.RankSr, p.RankSr}, {"S_d", g.Sd, g.RankSd, p.RankSd}} {
			if twin := slices.Index(x.ranks, x.got); twin < 0 || x.scores[twin] != x.scores[p.Index] {
				t.Errorf("row %d: %s = %v has rank %d, which the reference gives to row %d", p.Index, x.name, x.scores[p.Index], x.got, twin)
			}
		}
	}
	if !slices.IsSortedFunc(picks, func(a, b Pick) int { return cmp.Compare(a.R, b.R) }) {
		t.Errorf("picks %+v are not in the order of R", picks)
	}
}

func activeGolden(t *testing.T) (archive, *Candidates) {
	a := open(t, "active.npz")
	return a, &Candidates{
		IDs:              numbered(300),
		Features:         a.Matrix("u_features", 16),
		ClassProbs:       a.probs("u_class_logits", 7),
		LabelledFeatures: a.Matrix("l_features", 16),
	}
}

func TestGoldenProbabilityStrategies(t *testing.T) {
	a, c := activeGolden(t)
	for measure, name := range map[Measure]string{MaxEntropy: "entropy", MinMargin: "bvsb", MinConfidence: "least_confidence"} {
		s := Probability{Measure: measure}
		picks := fatal.Get(s.Query(c, 300, nil))(t)
		scores := make([]float64, 300)
		for _, p := range picks {
			scores[p.Index] = p.Score
		}
		nearAll(t, name, scores, read[float32](a, name+"_score"), 1e-6)
		if want := a.Ints(name + "_top20"); !slices.Equal(indices(picks)[:20], want) {
			t.Errorf("%s: picks %v, want %v", name, indices(picks)[:20], want)
		}
	}
}

func TestGoldenCoreSet(t *testing.T) {
	a, c := activeGolden(t)
	picks := fatal.Get(CoreSet{}.Query(c, 20, nil))(t)
	if want := a.Ints("coreset_top20"); !slices.Equal(indices(picks), want) {
		t.Errorf("picks %v, want %v", indices(picks), want)
	}
	for k, want := range read[float32](a, "coreset_radius") {
		near(t, fmt.Sprintf("radius %d", k), picks[k].Score, float64(want), 1e-5)
	}
}

func TestGoldenBADGE(t *testing.T) {
	a, c := activeGolden(t)
	const cols = 7 + 7*16
	embedding := a.Matrix("badge_embedding_bias_linear", cols)
	for _, bias := range []bool{false, true} {
		name := map[bool]string{false: "badge_linear", true: "badge_bias_linear"}[bias]
		g := newGradients(c.Features, c.ClassProbs, bias)
		if want := a.Ints("badge_label"); !slices.Equal(g.label, want) {
			t.Fatalf("predicted classes %v, want %v", g.label, want)
		}
		norms := make([]float64, 300)
		for i, s := range g.squares {
			norms[i] = math.Sqrt(s)
		}
		nearAll(t, name+"_norm", norms, read[float32](a, name+"_norm"), 1e-5)
		first, second := a.Ints(name + "_first")[0], a.Ints(name + "_second_given")[0]
		ties := Ties{IDs: c.IDs}
		if got := highest(g.squares, nil, ties); got != first {
			t.Errorf("%s: first pick %d, want %d", name, got, first)
		}
		s := newSeeding(len(c.IDs), ties)
		for _, step := range []struct {
			at   int
			want string
		}{{first, "_prob2"}, {second, "_prob3"}} {
			s.choose(step.at, func(dst []float64, from int) { g.distances(dst, from, step.at) })
			total := 0.0
			for _, d := range s.least {
				total += d
			}
			p := make([]float64, 300)
			for i, d := range s.least {
				p[i] = d / total
			}
			nearAll(t, name+step.want, p, read[float32](a, name+step.want), 1e-7)
		}
		// The factorised distances equal the distances of the embeddings.
		d := make([]float64, 300)
		g.distances(d, 0, first)
		from := 7
		if bias {
			from = 0
		}
		for i, got := range d {
			want := 0.0
			x, y := rowOf(embedding, i)[from:], rowOf(embedding, first)[from:]
			for j := range x {
				want += (float64(x[j]) - float64(y[j])) * (float64(x[j]) - float64(y[j]))
			}
			near(t, fmt.Sprintf("%s distance %d", name, i), got, want, 1e-5*(1+want))
		}
		picks := fatal.Get(BADGE{WithoutBias: !bias}.Query(c, 20, seed.New(1, "badge")))(t)
		if picks[0].Index != first {
			t.Errorf("%s: first pick %d, want %d", name, picks[0].Index, first)
		}
	}
}
