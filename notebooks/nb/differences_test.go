package nb

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
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
	if _, err := differences(f, o, "3%"); err == nil {
		t.Error("a budget without runs has differences")
	}
}
