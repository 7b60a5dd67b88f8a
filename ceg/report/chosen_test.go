package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/study/studytest"
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
			f, err := Open("../../notebooks/results/pacs-features", test.plans...)
			if err != nil {
				t.Fatal(err)
			}
			tables, err := f.Table(allMethods, TableOptions{Chosen: true})
			if err != nil {
				t.Fatal(err)
			}
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

// What is chosen from two plans, and from one of them alone, of numbers made by hand: on photo
// both choose ce's a, on sketch all choose ceg's b, and ce's own choice is b. The averages are
// 60, 62, 67 and 55, 58, 60; their differences 5, 4 and 7 have the mean 16/3, the deviation
// 1.528, t = 6.047 and, with two degrees of freedom, p = 1 - t/sqrt(t^2+2) = 0.026; of the 8
// ways to give them signs 2 have a mean as far from 0.
func TestChosenAgainst(t *testing.T) {
	val := map[string]int{"photo ceg a": 6, "photo ceg b": 5, "photo uniform-ce a": 7, "photo uniform-ce b": 4,
		"sketch ceg a": 3, "sketch ceg b": 8, "sketch uniform-ce a": 5, "sketch uniform-ce b": 6}
	right := map[string][3]int{"photo uniform-ce a": {50, 52, 54}, "sketch ceg b": {70, 72, 80}, "sketch uniform-ce b": {60, 64, 66}}
	of := func(c ceg.Config) string { return c.Data.Target + " " + c.Method }
	fake := studytest.Fake{
		Val:   func(c ceg.Config, _ int) int { return val[of(c)] },
		Right: func(c ceg.Config, _ int) int { return right[of(c)][c.Seed-1] },
	}
	dir := t.TempDir()
	for _, plan := range [][2]string{{"one", "ceg"}, {"two", "uniform-ce"}} {
		name, method := plan[0], plan[1]
		s := parse(t, fmt.Sprintf(`{name: %s, dataset: glyphs, targets: [photo, sketch], seeds: [1, 2, 3], methods: [%s], set: {schedule.epochs: 2},
			variants: [{name: a, set: {generalization.tau: 0.9}}, {name: b, set: {generalization.tau: 0.8}}]}`, name, method))
		if name == "two" {
			fake.Commit = "aaaaaaaaaaaaaaaa"
		}
		if _, err := s.Run(context.Background(), study.Options{Dir: dir, Runner: fake.Run, MixCommits: true}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := f.Table(allMethods, TableOptions{Chosen: true, Against: "two"})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{chosenName, "52.00 ± 2.00", "74.00 ± 5.29", "63.00 ± 3.61", "3", "+5.33 (+1.54 to +9.13, n = 3)", "1 of 2", "0.026, 0.250, 0.026"},
		{chosenName + " of two", "52.00 ± 2.00", "63.33 ± 3.06", "57.67 ± 2.52", "3", "", "", ""},
	}
	if len(tables[0].Rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(tables[0].Rows), len(want))
	}
	for i, row := range tables[0].Rows {
		if got := texts(row); !slices.Equal(got, want[i]) {
			t.Errorf("got %q, want %q", got, want[i])
		}
	}
	notes := strings.Join(tables[0].Notes, "\n")
	for _, want := range []string{
		chosenName + ": for each target, the row with the highest mean accuracy on the validation images of its sources: on photo Random + cross-entropy, upfront, a (70.00, n = 3), on sketch Random + CEG loss, upfront, b (80.00, n = 3).",
		chosenName + " of two: for each target, the row with the highest mean accuracy on the validation images of its sources: on photo Random + cross-entropy, upfront, a (70.00, n = 3), on sketch Random + cross-entropy, upfront, b (60.00, n = 3).",
		"Computed by several commits of ledg: aaaaaaaaaaaa and unknown: " + chosenName + "; aaaaaaaaaaaa: " + chosenName + " of two.",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("got the notes %s\nwant one with %s", notes, want)
		}
	}
	if strings.Contains(notes, "rows of the paper") {
		t.Errorf("the notes take a choice for a row of the paper: %s", notes)
	}
	for _, wrong := range []struct {
		table string
		o     TableOptions
		want  string
	}{
		{allMethods, TableOptions{Against: "two"}, "against it compares what is chosen"},
		{allMethods, TableOptions{Chosen: true, Against: "two", Baseline: "ceg a"}, "not with a baseline"},
		{allBudgets, TableOptions{Chosen: true, Against: "two"}, "or the table budgets"},
		{allMethods, TableOptions{Chosen: true, Against: "three"}, `against "three": no such plan is read, only one, two`},
	} {
		if _, err := f.Table(wrong.table, wrong.o); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%+v: %v, want %s", wrong.o, err, wrong.want)
		}
	}
}

// texts are the cells of a row without what says which is the best.
func texts(row []result.Cell) (list []string) {
	for _, c := range row {
		list = append(list, c.Text)
	}
	return list
}
