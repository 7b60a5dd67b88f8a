package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
)

// A row is compared on each target and over them; a target without a counterpart is left out.
func TestOverTargets(t *testing.T) {
	of := func(cells map[string][]float64) *row {
		r := &row{cells: map[string][]result.Trial{}}
		for target, values := range cells {
			r.cells[target] = trials(values)
		}
		return r
	}
	a := of(map[string][]float64{"a": {0.5, 0.6, 0.7}, "b": {0.4, 0.4, 0.4}, "c": {0.3, 0.2, 0.1}})
	b := of(map[string][]float64{"a": {0.4, 0.4, 0.4}, "b": {0.3, 0.3, 0.3}, "c": {0.3, 0.3, 0.3}})
	p := pair{&grid{targets: []string{"a", "b", "c"}}, a, b}
	over := p.overTargets()
	if want := (0.2 + 0.1 - 0.1) / 3; over == nil || over.N != 3 || over.favour() != "2 of 3" || math.Abs(over.Mean-want) > 1e-12 || over.SD < 0.1 {
		t.Errorf("%+v, want a mean of %g", over, want)
	}
	delete(b.cells, "c")
	if list := p.onTargets(); len(list) != 2 || p.overTargets() != nil {
		t.Errorf("%d differences without a baseline on a target", len(list))
	}
}

func TestFindingsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"- question: Q?\n  studies: seeds\n":                                                `unknown field "studies"`,
		"- question: Q?\n  study: none\n  budgets: [5%]\n":                                  `"Q?"`,
		"- question: Q?\n  gains: gains.jsonl\n  row: maxherding 35\n  budgets: [\"21\"]\n": "no run has the selection maxherding 35",
	} {
		dir := t.TempDir()
		for name, data := range map[string]string{FindingsFile: text, "gains.jsonl": ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Findings(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), FindingsFile) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
