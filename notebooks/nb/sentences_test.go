package nb

import (
	"math"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

// A difference is significant after correction, or only before it, or says what its n detects;
// of too few seeds there is no test.
func TestSentences(t *testing.T) {
	list := []report.Verdict{
		{Row: "A", Baseline: "B", Difference: result.Difference{Summary: result.Summary{N: 5, Mean: 0.05, Low: 0.03, High: 0.07}}, Holm: 0.012, Favour: 3, Targets: 4},
		{Row: "E", Baseline: "B", Difference: result.Difference{Summary: result.Summary{N: 5, Mean: -0.02, Low: -0.035, High: -0.005}}, Holm: 0.06},
		{Row: "C", Baseline: "B", Difference: result.Difference{Summary: result.Summary{N: 3, Mean: 0.03, Low: -0.12, High: 0.18}}, Holm: 1},
		{Row: "D", Baseline: "B", Difference: result.Difference{Summary: result.Summary{N: 1, Mean: 0.2, Low: math.NaN(), High: math.NaN()}}, Holm: math.NaN()},
	}
	text := sentences(list)
	for _, want := range []string{
		"**Significantly above B** (Holm-corrected; difference with 95% interval over seeds):\n\n* A: +5.0 pp (+3.0 to +7.0, n = 5), above on 3 of 4 targets\n",
		"**Not significantly different from B after correction, though the interval excludes zero**:\n\n* E: -2.0 pp (-3.5 to -0.5, n = 5)\n",
		"**Not significantly different from B**:\n\n* C: +3.0 pp (-12.0 to +18.0, n = 3); detects 19.7 pp with 80% power\n",
		"**Fewer than 3 seeds in common, so no test**: D.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if sentences(nil) != "" {
		t.Error("no differences have sentences")
	}
}

// A table's p-values are apart from it, with what names its rows.
func TestApart(t *testing.T) {
	table := NewTable("group", "method", "average", "minus B", report.PValues)
	table.AddRow("x", "A", "50.0", "+5.0", "0.001, 0.002, 0.012")
	table.Notes = []string{"p: two-sided", "n: seeds"}
	shown, p := apart(table)
	if len(shown.Notes) != 1 || len(p.Notes) != 1 || shown.Notes[0] != "n: seeds" {
		t.Errorf("notes %q and %q", shown.Notes, p.Notes)
	}
	if len(shown.Columns) != 4 || len(shown.Rows[0]) != 4 || shown.Rows[0][3].Text != "+5.0" {
		t.Errorf("shown: %v", shown)
	}
	if len(p.Columns) != 2 || p.Rows[0][0].Text != "A" || p.Rows[0][1].Text != "0.001, 0.002, 0.012" {
		t.Errorf("apart: %v", p)
	}
	if shown, p := apart(NewTable("method", "average")); p != nil || len(shown.Columns) != 2 {
		t.Errorf("without p-values: %v, %v", shown, p)
	}
}

// A wide table folds its targets away, and a table that fits shows them.
func TestNarrow(t *testing.T) {
	names := []string{"group", "method", "a", "b", "c", "d", "average", "n", "minus B", "targets above"}
	table := NewTable(names...)
	table.AddRow("x", "A", "1", "2", "3", "4", "2.5", "10", "+5.0", "4 of 4")
	shown, targets := narrow(table)
	if len(shown.Columns) != 6 || shown.Rows[0][2].Text != "2.5" {
		t.Errorf("shown: %v", shown)
	}
	if len(targets.Columns) != 5 || targets.Rows[0][0].Text != "A" || targets.Rows[0][4].Text != "4" {
		t.Errorf("targets: %v", targets)
	}
	if shown, targets := narrow(NewTable(names[1:]...)); targets != nil || len(shown.Columns) != 9 {
		t.Errorf("a table of nine columns: %v, %v", shown, targets)
	}
}

// Many notes are apart from the table, and a few stay with it.
func TestWithoutNotes(t *testing.T) {
	table := NewTable("method", "average")
	table.Notes = []string{"a", "b", "c", "d"}
	if shown, notes := withoutNotes(table); notes != nil || len(shown.Notes) != 4 {
		t.Errorf("four notes: %v, %v", shown, notes)
	}
	table.Notes = append(table.Notes, report.SettingsNote+"name mlp.", "e")
	if shown, notes := withoutNotes(table); len(shown.Notes) != 1 || len(notes.Rows) != 5 || notes.Rows[4][0].Text != "e" {
		t.Errorf("five notes: %v, %v", shown, notes)
	}
}
