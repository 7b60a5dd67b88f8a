package notebooks

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// ownImports, ownObjective and ownTrain are the cells around a strategy.
const (
	ownImports = `import (
	"fmt"
	"path/filepath"

	"github.com/ledg-go/ledg/notebooks/nb"
)`
	ownObjective = `import (
	. "github.com/gomlx/gomlx/core/graph"

	. "github.com/ledg-go/ledg/ceg/objective"
)

const factor = 1

var Supervised = nb.Objective("supervised", func(s nb.Step) {
	f := s.Forward(Backbone, View{Images: s.In("x_weak")})
	loss := MulScalar(ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[0]), s.In("y"))), factor)
	s.Minimise("total", loss, Backbone, ClassHead)
}, "x_weak", "y")`
	ownStrategy = `var Margin = nb.Strategy("my-margin", func(c nb.Pool) []float64 {
	scores := c.Margin()
	for i := range scores {
		scores[i] = weigh(-scores[i])
	}
	return scores
})

func weigh(x float64) float64 { return 2 * x }`
	ownTrain = "%%\nfmt.Println(filepath.Base(nb.Train(\"own\", Margin+\"+\"+Supervised, func(r *nb.Run) { r.Timing = \"published\" })))"
)

// Code of a cell is part of a run's name: a changed constant, in the function or in what it uses,
// trains anew. Other cells, comments and a repeated cell do not.
func TestOwnCode(t *testing.T) {
	needJupyter(t)
	sources := []string{ownImports, ownObjective, ownStrategy, ownTrain}
	for _, change := range []string{
		"// A comment.\n" + ownStrategy,
		"func unrelated() int { return 1 }",
		strings.Replace(ownStrategy, "2 * x", "3 * x", 1),
		strings.Replace(ownObjective, "factor = 1", "factor = 2", 1),
		ownStrategy + "\n" + ownObjective[strings.Index(ownObjective, "const"):],
	} {
		sources = append(sources, change, ownTrain)
	}
	var cells []map[string]any
	for _, s := range sources {
		cells = append(cells, map[string]any{"cell_type": "code", "metadata": map[string]any{}, "execution_count": nil, "outputs": []any{}, "source": s})
	}
	data := fatal.Get(json.Marshal(map[string]any{
		"cells": cells, "nbformat": 4, "nbformat_minor": 4,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "gonb", "language": "go", "display_name": "Go"}},
	}))(t)
	runs := t.TempDir()
	done := execute(t, data, runs)
	for _, p := range done.problems() {
		t.Error(p)
	}
	var names []string
	for _, c := range done.Cells {
		if strings.HasPrefix(strings.Join(c.Source, ""), "%%") {
			fields := strings.Fields(c.text())
			if len(fields) == 0 {
				t.Fatalf("a cell shows no run: %+v", c.Outputs)
			}
			names = append(names, fields[len(fields)-1])
		}
	}
	// The first three are one run, and so are the first and the last.
	same := make([]int, len(names))
	for i, n := range names {
		same[i] = slices.Index(names, n)
	}
	if want := []int{0, 0, 0, 3, 4, 0}; !slices.Equal(same, want) {
		t.Errorf("runs %q: equal to the first of number %v, want %v", names, same, want)
	}
	if list, err := filepath.Glob(filepath.Join(runs, "own", "*")); err != nil || len(list) != 3 {
		t.Errorf("runs %q, %v, want 3", list, err)
	}
}
