package plots_test

import (
	"fmt"

	"github.com/ledg-go/ledg/plots"
)

// Three runs at three budgets for two targets: a figure of two panels and
// their average, ready to be saved.
func ExampleBudget() {
	runs := func(x, a, b, c float64) plots.Point { return plots.Point{X: x, Values: []float64{a, b, c}} }
	fig, err := plots.Budget(plots.Print(), plots.BudgetData{Targets: []plots.Target{
		{Name: "photo", Curves: []plots.Curve{
			{Name: "CEG", Points: []plots.Point{runs(1, 80, 82, 81), runs(5, 90, 91, 90), runs(20, 94, 95, 94)}},
			{Name: "Uniform", Points: []plots.Point{runs(1, 75, 79, 76), runs(5, 84, 85, 88), runs(20, 93, 92, 93)}},
		}},
		{Name: "sketch", Curves: []plots.Curve{
			{Name: "CEG", Points: []plots.Point{runs(1, 60, 64, 61), runs(5, 70, 73, 72), runs(20, 78, 79, 77)}},
			{Name: "Uniform", Points: []plots.Point{runs(1, 52, 58, 55), runs(5, 62, 66, 63), runs(20, 75, 74, 76)}},
		}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range fig.Panels {
		fmt.Println(p.Title)
	}
	fmt.Println(fig.Note)
	// fig.Save("budget.svg")

	// Output:
	// photo
	// sketch
	// Average
	// Mean of n = 3 runs, shown as points.
}

// Query rounds are marked on the curve.
func ExampleEpochs() {
	fig, err := plots.Epochs(plots.Dark(), plots.EpochsData{
		Curves: []plots.Curve{{Name: "ceg", Title: "CEG (published schedule)", Queried: []float64{2}, Points: []plots.Point{
			{X: 1, Values: []float64{41}}, {X: 2, Values: []float64{57}}, {X: 3, Values: []float64{66}},
		}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range fig.Legend { // without the curve, whose name is at its end
		fmt.Println(e.Name)
	}
	fmt.Println(fig.Note)
	// Output:
	// query round
	// n = 1: no interval.
}
