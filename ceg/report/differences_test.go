package report

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// As good as with twice the labels: between 10 and 40 labels half of the logarithm is 20.
func TestSavings(t *testing.T) {
	curve := func(accuracies ...float64) (c plots.Curve) {
		for i, a := range accuracies {
			c.Points = append(c.Points, plots.Point{X: 10 * math.Pow(4, float64(i)), Values: []float64{a - 1, a + 1}})
		}
		return c
	}
	got := Savings(curve(40, 60, 99), curve(30, 50, 70))
	for i, want := range []Saving{{10, 40, 20}, {40, 60, 80}, {160, 99, math.Inf(1)}} {
		if s := got[i]; s.Budget != want.Budget || s.Accuracy != want.Accuracy || s.Worth != want.Worth && math.Abs(s.Worth-want.Worth) > 1e-9 {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	if s := Savings(curve(10), curve(30, 50)); !math.IsInf(s[0].Worth, -1) {
		t.Errorf("worse than the least of the other's is %+v", s)
	}
}

// The differences are those that `ledg table budgets` prints of the same records, with the same
// correction.
func TestDifferences(t *testing.T) {
	f, err := Open(filepath.Join("..", "..", "notebooks", "results", "paper-emoji"))
	if err != nil {
		t.Fatal(err)
	}
	o := TableOptions{Baseline: "ceg", Methods: []string{"ceg", "fixmatch", "uniform"}}
	got, err := f.Differences(o, "1%", "2.5%", "5%", "10%", "20%")
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
	if one := differenceCell(result.Difference{Summary: result.Summary{N: 1, Mean: 0.2, Low: math.NaN()}}, 100, math.NaN(), ""); one.Text != "+20.0" || one.Bold {
		t.Errorf("of one seed: %+v", one)
	}
	if _, err := f.Differences(o, "3%"); err == nil {
		t.Error("a budget without runs has differences")
	}
}
