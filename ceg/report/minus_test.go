package report

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// Differences are paired by seed at each budget; the baseline becomes a line at zero.
func TestMinus(t *testing.T) {
	panels := func() []plots.Target {
		return []plots.Target{{Name: "photo", Curves: []plots.Curve{
			{Name: "a", Points: []plots.Point{{X: 1, Values: []float64{3, 5}}}},
			{Name: "base", Title: "Base", Points: []plots.Point{{X: 1, Values: []float64{1, 2}}}},
		}}}
	}
	list := panels()
	zero, err := minus(list, "base")
	if c := list[0].Curves; err != nil || len(zero) != 1 || zero[0] != (plots.Reference{Name: "Base"}) || len(c) != 1 || c[0].Points[0].Values[0] != 2 || c[0].Points[0].Values[1] != 3 {
		t.Errorf("%+v, %+v, %v", list, zero, err)
	}
	if _, err := minus(panels(), "none"); err == nil || !strings.Contains(err.Error(), `no row "none"`) {
		t.Error(err)
	}
	run := func(seed uint64) *RecordedRun {
		r := &RecordedRun{Run: &result.Run{}}
		r.Config.Seed, r.Config.Data.Target = seed, "photo"
		return r
	}
	s := selection{methods: []method{{name: "a", runs: []*RecordedRun{run(2), run(1)}}, {name: "base", runs: []*RecordedRun{run(1), run(2)}}}}
	if _, err := s.minus(panels(), "base"); err != nil {
		t.Error(err)
	}
	s.methods[1].runs[0] = run(3)
	if _, err := s.minus(panels(), "base"); err == nil || !strings.Contains(err.Error(), "has the seeds [1 2], base has [2 3]") {
		t.Error(err)
	}
	list = panels()
	list[0].Curves[0].Points[0].Values = []float64{3}
	if _, err := minus(list, "base"); err == nil || !strings.Contains(err.Error(), "other seeds") {
		t.Error(err)
	}
}
