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
	ownNetwork = `const gain = 1

var Tiny = nb.Network("tiny", nb.OnImages, func(s *nb.Scope, x *nb.Node) *nb.Node {
	return Tanh(MulScalar(s.Conv("conv", x, s.Width, 3, 2), gain))
})`
	ownTrain = "%%\nfmt.Println(filepath.Base(nb.Train(\"own\", Margin+\"+\"+Supervised, nb.Set(\"net\", Tiny), nb.Set(\"timing\", \"published\"))))"
)

// Code of a cell is part of a run's name: a changed constant, in the function or in what it uses,
// trains anew. Other cells, comments and a repeated cell do not.
func TestOwnCode(t *testing.T) {
	needJupyter(t)
	sources := []string{ownImports, ownObjective, ownStrategy, ownNetwork, ownTrain}
	for _, change := range []string{
		"// A comment.\n" + ownStrategy,
		"func unrelated() int { return 1 }",
		strings.Replace(ownStrategy, "2 * x", "3 * x", 1),
		strings.Replace(ownObjective, "factor = 1", "factor = 2", 1),
		strings.Replace(ownNetwork, "gain = 1", "gain = 2", 1),
		ownStrategy + "\n" + ownObjective[strings.Index(ownObjective, "const"):] + "\n" + ownNetwork,
	} {
		sources = append(sources, change, ownTrain)
	}
	runs := t.TempDir()
	done := execute(t, notebookOf(t, sources), runs)
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
	if want := []int{0, 0, 0, 3, 4, 5, 0}; !slices.Equal(same, want) {
		t.Errorf("runs %q: equal to the first of number %v, want %v", names, same, want)
	}
	if list, err := filepath.Glob(filepath.Join(runs, "own", "*")); err != nil || len(list) != 4 {
		t.Errorf("runs %q, %v, want 4", list, err)
	}
}

// A declaration that fails its check, imports without a dot and a run that fails leave later cells as they are.
func TestGoesOn(t *testing.T) {
	needJupyter(t)
	const small = `nb.Set("data.pool_share", 0.5)`
	sources := []string{
		ownImports,
		"var Fragile = nb.Strategy(\"fragile\", func(c nb.Pool) []float64 { return nil })",
		"import (\n\t\"github.com/gomlx/gomlx/core/graph\"\n\t\"github.com/ledg-go/ledg/ceg/objective\"\n)\n\n" + `var BadShape = nb.Objective("bad-shape", func(s nb.Step) {
	f := s.Forward(objective.Backbone, objective.View{Images: s.In("x_weak")})
	loss := objective.CrossEntropy(s.Head(objective.ClassHead, f[0]), s.In("y"))
	s.Minimise("total", graph.ReduceAllMean(graph.Add(loss, s.In("y"))), objective.Backbone, objective.ClassHead)
}, "x_weak", "y")`,
		"var Pow, Mean = 1.0, 2.0",
		"%%\nfmt.Println(filepath.Base(nb.Train(\"own\", \"uniform-ce\", " + small + ")), Pow, Mean)",
		"%%\nnb.Train(\"own\", Fragile+\"-ce\")",
		"%%\nnb.Compare(nb.Grid(\"own\", []string{BadShape, \"uniform-ce\"}, nil, []string{\"photo\"}, 2, " + small + ")...)",
		"%rm Fragile",
		"%%\nfmt.Println(Pow)",
	}
	done := execute(t, notebookOf(t, sources), t.TempDir())
	for i, want := range map[int][]string{
		1: {"Note: ", "Cell [2] Line 1", "%rm Fragile"},
		4: {"glyphs-photo-", " 1 2"},
		5: {"fragile: on 12 random candidates", "%rm Fragile"},
		6: {"Failed: bad-shape, target photo, seed 1", "Cell [3] Line 9", "Random + cross-entropy", "2 of bad-shape"},
		8: {"1"},
	} {
		text, failed := done.Cells[i].text(), false
		for _, o := range done.Cells[i].Outputs {
			failed = failed || o.Type == "error"
			text += joined(o.Data["text/markdown"])
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("cell %d shows %q, want %q", i, text, part)
			}
		}
		if failed != (i == 5) {
			t.Errorf("cell %d ends with an error: %v", i, failed)
		}
		if i == 8 && strings.Contains(text, "Note: ") {
			t.Errorf("after %%rm the cell shows %q", text)
		}
	}
}

// notebookOf is a notebook of Go cells.
func notebookOf(t *testing.T, sources []string) []byte {
	t.Helper()
	var cells []map[string]any
	for _, s := range sources {
		cells = append(cells, map[string]any{"cell_type": "code", "metadata": map[string]any{}, "execution_count": nil, "outputs": []any{}, "source": s})
	}
	return fatal.Get(json.Marshal(map[string]any{
		"cells": cells, "nbformat": 4, "nbformat_minor": 4,
		"metadata": map[string]any{"kernelspec": map[string]any{"name": "gonb", "language": "go", "display_name": "Go"}},
	}))(t)
}
