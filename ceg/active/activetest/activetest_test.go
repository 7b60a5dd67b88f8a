package activetest

import (
	"cmp"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
)

// flawed is a strategy with one flaw.
type flawed struct {
	active.Strategy
	after  func(c *active.Candidates, picks []active.Pick, r *rand.Rand) []active.Pick
	blind  bool // asks without any check
	hidden active.Arrays
}

func (f flawed) Needs() active.Arrays { return f.Strategy.Needs() &^ f.hidden }

func (f flawed) Query(c *active.Candidates, n int, r *rand.Rand) ([]active.Pick, error) {
	if f.blind {
		picks := make([]active.Pick, max(n, 0))
		for i := range picks {
			if picks[i].Index = i; i < len(c.IDs) {
				picks[i].ID = c.IDs[i]
			}
		}
		return picks, nil
	}
	picks, err := f.Strategy.Query(c, n, r)
	if err == nil && len(picks) > 1 {
		picks = f.after(c, picks, r)
	}
	return picks, err
}

var margin = active.Probability{Measure: active.MinMargin}

// flaws are strategies that must fail, each by the name of a check that finds it.
var flaws = map[string]flawed{
	"picks are distinct candidates": {Strategy: margin, after: func(_ *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		p[1] = p[0]
		return p
	}},
	"the same stream gives the same picks": {Strategy: active.Uniform{}, after: func(_ *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		rand.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
		return p
	}},
	"inputs are not written to": {Strategy: margin, after: func(c *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		slices.Reverse(c.ClassProbs.Data)
		return p
	}},
	"only the needed arrays are looked at": {Strategy: margin, hidden: active.ClassProbs, after: func(_ *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		return p
	}},
	"ties do not go by rows": {Strategy: margin, after: func(_ *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		slices.SortFunc(p, func(a, b active.Pick) int { return a.Index - b.Index })
		return p
	}},
	"logits and their softmax give the same picks": {Strategy: margin, after: func(c *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		if c.ClassLogits.Cols > 0 {
			slices.Reverse(p)
		}
		return p
	}},
	// Its scores are those of probabilities that have been rounded to float32.
	"saturated outputs are told apart": {Strategy: margin, after: func(c *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		slices.SortStableFunc(p, func(a, b active.Pick) int { return cmp.Compare(float32(b.Score), float32(a.Score)) })
		slices.SortStableFunc(p, func(a, b active.Pick) int {
			if float32(a.Score) == float32(b.Score) {
				return a.Index - b.Index
			}
			return 0
		})
		return p
	}},
	"picks follow the IDs, not the rows": {Strategy: margin, after: func(_ *active.Candidates, p []active.Pick, _ *rand.Rand) []active.Pick {
		slices.SortFunc(p, func(a, b active.Pick) int { return a.Index - b.Index })
		return p
	}},
	"wrong numbers are errors":           {Strategy: active.Uniform{}, blind: true},
	"NaN is an error that names the row": {Strategy: margin, blind: true},
	"wrong shapes are errors":            {Strategy: margin, blind: true},
	"wrong IDs are errors":               {Strategy: margin, blind: true},
}

// TestFlaw runs the suite on one flawed strategy, in a process of its own.
func TestFlaw(t *testing.T) {
	name := os.Getenv("ACTIVETEST_FLAW")
	if name == "" {
		t.Skip("run by TestRunFindsFlaws")
	}
	Run(t, flaws[name])
}

func TestRunFindsFlaws(t *testing.T) {
	for name := range flaws {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFlaw$")
		cmd.Env = append(os.Environ(), "ACTIVETEST_FLAW="+name)
		out, err := cmd.CombinedOutput()
		if want := "--- FAIL: TestFlaw/" + strings.ReplaceAll(name, " ", "_"); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: the suite says\n%s", name, out)
		}
	}
}
