package report

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// twoPresets is a folder of uniform queries under two presets and two kinds of budget.
func twoPresets(t *testing.T) *Folder {
	t.Helper()
	dir := t.TempDir()
	block := func(p config.Preset) study.Block {
		return study.Block{Methods: []string{"uniform"}, Preset: p, Budgets: []string{"21", "5%"}}
	}
	s := study.Study{Name: "two", Block: study.Block{Dataset: "glyphs", Targets: []string{"photo", "sketch"}, Seeds: []uint64{1, 2}},
		Runs: []study.Block{block(config.Authors), block(config.Ledg)}}
	fatal.Get(s.Run(context.Background(), study.Options{Dir: dir, Runner: studytest.Fake{}.Run}))(t)
	return fatal.Get(Open(dir))(t)
}

// The preset ledg is compared with authors in one table, by names that tell them apart.
func TestPresetsInOneTable(t *testing.T) {
	f := twoPresets(t)
	text := func(o TableOptions) string {
		tables, err := f.Table("methods", o)
		if err != nil || len(tables) != 1 {
			t.Fatalf("%d tables, %v", len(tables), err)
		}
		var b bytes.Buffer
		fatal.If(t, tables[0].Write(&b, result.Text))
		return b.String()
	}
	both := text(TableOptions{Baseline: "uniform"})
	if !strings.Contains(both, "\nRandom + CEG loss, upfront (preset ledg settings)  ") || !strings.Contains(both, "\nRandom + CEG loss (published schedule)   ") || !strings.Contains(both, "accuracy on the target domain") {
		t.Error(both)
	}
	if one := text(TableOptions{Preset: "ledg"}); strings.Contains(one, "preset authors") {
		t.Error(one)
	}
	if val := text(TableOptions{SourceVal: true}); !strings.Contains(val, "accuracy on source validation") || val == both {
		t.Error(val)
	}
}

// Budgets in numbers of labels and in shares share an axis of labels, at the numbers that
// results have: 20 in all of studytest's.
func TestBudgetsOfTwoKinds(t *testing.T) {
	d := fatal.Get(twoPresets(t).Budget(FigureOptions{Preset: "authors"}))(t)
	p := d.Targets[0].Curves[0].Points
	if d.XLabel != "Labelled images" || len(p) != 2 || p[0].X != 20 || p[1].X != 20 {
		t.Errorf("axis %q, points %+v", d.XLabel, p)
	}
}
