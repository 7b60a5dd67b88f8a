package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// trainingData is of a run that has trained 4 of 20 epochs.
func trainingData() TrainingData {
	d := TrainingData{Title: "CEG, target photo, seed 1", Note: "126 labels", Epochs: 20, Queried: []float64{2}}
	for _, x := range []float64{1, 2, 3, 4} {
		d.Loss = append(d.Loss, Point{x, []float64{3 - x/2}})
		d.Target = append(d.Target, Point{x, []float64{40 + 5*x}})
	}
	return d
}

// The axes of a run end where it will, also before it has come there, and unknown values have
// their place.
func TestTraining(t *testing.T) {
	d := trainingData()
	for _, theme := range []Theme{Print(), Dark(), Screen()} {
		g := fatal.Get(Training(theme, d))(t)
		if len(g.Panels) != 2 || len(g.Legend) != 2 || g.Legend[0].Name != "target" {
			t.Errorf("%d panels, legend %v; want 2, the target and what was asked", len(g.Panels), g.Legend)
		}
		if y := g.Panels[1].Plot.Y; y.Min != 0 || y.Max != 100 {
			t.Errorf("accuracy from %v to %v, want 0 to 100", y.Min, y.Max)
		}
		for _, p := range g.Panels {
			if x := p.Plot.X; x.Min != 0 || x.Max < 20 || x.Max > 21 {
				t.Errorf("the axis goes from %v to %v, want 0 to about 20", x.Min, x.Max)
			}
		}
	}
	d.Title = "Random + CEG loss, upfront, target photo, seed 1"
	theme := Print()
	theme.Text = true
	g := fatal.Get(Training(theme, d))(t)
	if svg, err := g.Encode("svg"); err != nil || !strings.Contains(string(svg), ">"+d.Title+"</text>") {
		t.Errorf("%v: the title is not on one line over both panels", err)
	}
	d.Target = nil
	if g, err := Training(Print(), d); err != nil || len(g.Panels) != 2 || len(g.Legend) != 0 {
		t.Errorf("without an accuracy: %v", err)
	}
	d.Loss[1].Values[0] = math.NaN()
	if _, err := Training(Print(), d); err == nil {
		t.Error("a loss that is no number was drawn")
	}
}

// The chance level is a line of the accuracies, with a legend.
func TestTrainingChance(t *testing.T) {
	d := trainingData()
	d.Chance = &Reference{Name: "chance, 16 classes", Y: 6.25}
	g := fatal.Get(Training(Print(), d))(t)
	if !slices.ContainsFunc(g.Legend, func(e Entry) bool { return e.Name == d.Chance.Name }) {
		t.Errorf("the legend is %+v", g.Legend)
	}
}
