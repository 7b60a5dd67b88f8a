package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
)

// A finding has the mean over seeds and over targets, and counts the targets above zero.
func TestCompareTrials(t *testing.T) {
	trials := func(values ...float64) (list []result.Trial) {
		for i, v := range values {
			list = append(list, result.Trial{Key: string(rune('1' + i)), Value: v})
		}
		return list
	}
	row := map[string][]result.Trial{"a": trials(0.5, 0.6, 0.7), "b": trials(0.4, 0.4, 0.4), "c": trials(0.3, 0.2, 0.1)}
	baseline := map[string][]result.Trial{"a": trials(0.4, 0.4, 0.4), "b": trials(0.3, 0.3, 0.3), "c": trials(0.3, 0.3, 0.3)}
	a, err := compareTrials(row, baseline)
	if err != nil {
		t.Fatal(err)
	}
	want := (0.2 + 0.1 - 0.1) / 3
	if a.seeds.N != 3 || a.favour != 2 || a.of != 3 || math.Abs(a.seeds.Mean-want) > 1e-12 || math.Abs(a.targets.Mean-want) > 1e-12 {
		t.Errorf("%+v, %+v, %+v, want a mean of %g", a, a.seeds, a.targets, want)
	}
	// Every seed has the same mean over targets, and the targets differ.
	if a.seeds.SD > 1e-12 || a.targets.SD < 0.1 {
		t.Errorf("deviations %g over seeds and %g over targets", a.seeds.SD, a.targets.SD)
	}
	delete(baseline, "c")
	if _, err := compareTrials(row, baseline); err == nil || !strings.Contains(err.Error(), "target c") {
		t.Errorf("a target without a baseline: %v", err)
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
