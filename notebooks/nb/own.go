package nb

import (
	"strings"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
)

// Pool is what the function of a query strategy sees: probabilities, margins, features, densities,
// domains and the labelled images.
type Pool = active.View

// Step builds the training step of an objective.
type Step = objective.Step

// Strategy registers a query strategy and returns its name, which is then used like the built-in
// ones. score returns one acquisition score per candidate; the highest ones are queried. Declare
// it in a variable, outside of %%, so that all later cells have it:
//
//	var MarginDensity = nb.Strategy("margin-density", func(c nb.Pool) []float64 {
//		scores := c.Margin()
//		for i, density := range c.Density() {
//			scores[i] = (1 - scores[i]) * (1 + density)
//		}
//		return scores
//	})
//
// A run with it is MarginDensity + "+fixmatch", or any other objective. A digest of the function's
// source is part of a run's identity: with another constant in the function, or in a function,
// constant or variable of the notebook that it uses, [Train] trains a new run. Other cells do not
// count. A variable that it reads and that a cell assigns is an error, as its value is not source:
// write a function of the value that returns the strategy, and register one name for each value. For strategies that are not a scoring function, see active.Register.
//
// In a notebook, an error of the declaration is a note in every cell until the declaration is corrected, or removed
// with %rm and the variable's name. It ends only cells that use the strategy.
func Strategy(name string, score func(c Pool) []float64) string {
	return registered(name, active.RegisterFunc(name, score), gonbui.IsNotebook)
}

// Objective registers a training objective and returns its name, as [Strategy] does. step builds
// the graph of a training step from the inputs, which are named as in [objective.Named]:
//
//	var Supervised = nb.Objective("supervised", func(s nb.Step) {
//		f := s.Forward(objective.Backbone, objective.View{Images: s.In("x_weak")})
//		loss := graph.ReduceAllMean(objective.CrossEntropy(s.Head(objective.ClassHead, f[0]), s.In("y")))
//		s.Minimise("total", loss, objective.Backbone, objective.ClassHead)
//	}, "x_weak", "y")
//
// The example needs two imports in its cell, ledg/ceg/objective and gomlx/core/graph. With a dot before them
// their names are shorter, but no later cell can declare one of them, such as Pow.
// For an objective with more networks or random numbers, see objective.Register.
func Objective(name string, step func(s Step), inputs ...string) string {
	named, err := objective.Named(inputs...)
	if err == nil {
		err = objective.Register(objective.Objective{Name: name, Inputs: named, Step: step})
	}
	return registered(name, err, gonbui.IsNotebook)
}

// Strategies lists the query strategies below a summary that opens the list: what each queries, and its
// source.
func Strategies() {
	t := &result.Table{Columns: []result.Column{{Name: "strategy"}, {Name: "queries"}, {Name: "source"}}}
	for _, e := range active.Registry() {
		t.AddRow(e.Name, e.Line, e.Citation)
	}
	Markdown("%s", strings.TrimSpace(folded("What each strategy queries", markdownOf(t))))
}
