package plots

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The interval of few runs can leave what an accuracy can be, the axis cannot; those of
// other values have the room they take.
func TestAccuracyAxisEndsAtItsBounds(t *testing.T) {
	curve := Curve{Name: "a", Points: []Point{{X: 1, Values: []float64{1, 2, 80, 1, 2}}, {X: 2, Values: []float64{40, 50, 95, 97, 99}}}}
	for label, within := range map[string]bool{"": true, "Loss": false} {
		g := fatal.Get(Budget(Print(), BudgetData{Targets: []Target{{Name: "t", Curves: []Curve{curve}}}, ValueLabel: label}))(t)
		y := g.Panels[0].Plot.Y
		if (y.Min > -10 && y.Max < 110) != within {
			t.Errorf("label %q: the axis goes from %v to %v", label, y.Min, y.Max)
		}
	}
}
