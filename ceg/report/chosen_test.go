package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The row that is chosen target by target, of recorded runs; the numbers were also computed
// from the records by a program of other code.
func TestChosen(t *testing.T) {
	for _, test := range []struct {
		name  string
		plans []string
		want  []string
		note  string
	}{
		{"of one seed", []string{"features-candidates-pacs"},
			[]string{chosenName, "65.72", "59.17", "90.66", "52.55", "67.02", "1"},
			"on art_painting MaxHerding + CEG loss, upfront, root ema (81.27, n = 1), on cartoon MaxHerding + CEG loss, upfront, root ema (81.34, n = 1), on photo k-means + CEG loss, upfront, root ema (77.94, n = 1), on sketch k-means + CEG loss, upfront, ema (84.90, n = 1)"},
		{"rows of fewer seeds do not compete", []string{"features-training-pacs", "features-ablation-pacs"}, // with three seeds w/o average has more on art_painting, logistic on sketch
			[]string{chosenName, "66.18 ± 0.57", "59.37 ± 0.33", "91.70 ± 0.75", "50.57 ± 2.44", "66.95 ± 0.65", "5"},
			"on art_painting MaxHerding + CEG loss, upfront (preset ledg settings) (81.14, n = 5), on cartoon MaxHerding + CEG loss, upfront (preset ledg settings) (81.88, n = 5), on photo MaxHerding + CEG loss, upfront (preset ledg settings) (77.79, n = 5), on sketch MaxHerding + CEG loss, upfront (preset ledg settings) (84.06, n = 5)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := fatal.Get(Open("../../notebooks/results/pacs-features", test.plans...))(t)
			tables := fatal.Get(f.Table(allMethods, TableOptions{Chosen: true}))(t)
			last := tables[0].Rows[len(tables[0].Rows)-1]
			if got := texts(last); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if notes := strings.Join(tables[0].Notes, "\n"); !strings.Contains(notes, ": "+test.note+".") {
				t.Errorf("got the notes %s\nwant one with %s", notes, test.note)
			}
		})
	}
}

// texts are the cells of a row without what says which is the best.
func texts(row []result.Cell) (list []string) {
	for _, c := range row {
		list = append(list, c.Text)
	}
	return list
}
