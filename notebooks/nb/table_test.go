package nb

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

// The differences are those that `ledg table budgets` prints of the same records, with the same
// correction.
func TestDifferences(t *testing.T) {
	f, err := report.Open(filepath.Join("..", "results", "paper-emoji"))
	if err != nil {
		t.Fatal(err)
	}
	o := report.TableOptions{Baseline: "ceg", Methods: []string{"ceg", "fixmatch", "uniform"}}
	got, err := differences(f, o, "1%", "2.5%", "5%", "10%", "20%")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Columns) != 6 || got.Columns[0].Name != "minus CEG (published schedule)" {
		t.Errorf("columns %v", got.Columns)
	}
	table, err := f.Table("budgets", o)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, row := range got.Rows {
		for _, want := range table[0].Rows {
			if want[0].Text != row[0].Text {
				continue
			}
			rows++
			for k := range 5 { // four columns a budget: mean, difference, targets, p-values
				difference, above, p := want[4*k+2].Text, want[4*k+3].Text, want[4*k+4].Text
				if (row[k+1].Bold) == strings.HasSuffix(p, "~") || !strings.HasSuffix(row[k+1].Text, ", "+above) {
					t.Errorf("%s: %+v, want that of %s, %s, %s", row[0].Text, row[k+1], difference, above, p)
				}
				if sign := difference[:1]; !strings.HasPrefix(row[k+1].Text, sign) {
					t.Errorf("%s: %+v, want %s", row[0].Text, row[k+1], difference)
				}
			}
		}
	}
	if rows != 2 {
		t.Errorf("%d rows", rows)
	}
	if got := got.Rows[1][1]; got.Text != "+3.0 (+1.1 to +5.0), 4 of 4" || !got.Bold {
		t.Errorf("FixMatch at 1%%: %+v", got)
	}
	if one := difference(result.Difference{Summary: result.Summary{N: 1, Mean: 0.2, Low: math.NaN()}}, 100, math.NaN(), ""); one.Text != "+20.0" || one.Bold {
		t.Errorf("of one seed: %+v", one)
	}
	if _, err := differences(f, o, "3%"); err == nil {
		t.Error("a budget without runs has differences")
	}
}

// The columns of p-values, those of the targets of a wide table, and many notes are folded away.
func TestTableText(t *testing.T) {
	names := []string{"group", "method", "a", "b", "c", "d", "average", "n", "minus B", report.PValues}
	table := NewTable(names...)
	table.AddRow("x", "w/o L_eg", "1", "2", "3", "4", "2.5", "10", "+5.0", "0.001")
	table.Rows[0][6].Bold = true
	table.Notes = []string{"one", "two", report.SettingsNote + "name mlp."}
	for _, notes := range []int{3, 4} {
		shown, more, _ := strings.Cut(tableText(table), "<details>")
		if !strings.Contains(shown, "| x     | w/o L<sub>eg</sub> | **2.5** |  10 |    +5.0 |\n") || !strings.Contains(more, "|   2 |   3 |   4 |             0.001 |") {
			t.Errorf("shown:\n%s\nfolded:\n%s", shown, more)
		}
		if strings.Contains(shown, "- two") != (notes == 3) || strings.Contains(more, "- two") != (notes == 4) || !strings.Contains(shown, "- "+report.SettingsNote) {
			t.Errorf("%d notes, shown:\n%s\nfolded:\n%s", notes, shown, more)
		}
		table.Notes = append(table.Notes, "four")
	}
	if text := tableText(NewTable(names[1:9]...)); strings.Contains(text, "<details>") || !strings.Contains(text, "|   d |") {
		t.Errorf("a narrow table:\n%s", text)
	}
	if got, want := formatted("w/o L_eg (M_intra), gamma1 in art_painting"), "w/o L<sub>eg</sub> (M<sub>intra</sub>), γ<sub>1</sub> in art_painting"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
