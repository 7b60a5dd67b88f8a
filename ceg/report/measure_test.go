package report

import (
	"bytes"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What is counted by class is shown by class; runs that do not count say so, and their
// other tables are the same.
func TestTablesByClass(t *testing.T) {
	f, old := handFolderOf(t, studytest.Fake{ByClass: true}), handFolder(t)
	for _, tt := range []struct {
		file, table string
		format      result.TableFormat
		o           TableOptions
	}{
		{"macro-f1.txt", "methods", result.Text, TableOptions{Measure: "macro-f1", Baseline: "uniform-ce"}},
		{"mean-recall.txt", "budgets", result.Text, TableOptions{Measure: "mean-recall"}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			tt.o.Long = tt.format == result.CSV
			tables := fatal.Get(f.Table(tt.table, tt.o))(t)
			var b bytes.Buffer
			for _, table := range tables {
				fatal.If(t, table.Write(&b, tt.format))
			}
			golden(t, tt.file, b.Bytes())
			fatal.Says(t, fatal.Err(old.Table(tt.table, tt.o)), "count")
		})
	}
	if a, b := tableText(t, f, "table3"), tableText(t, old, "table3"); a != b {
		t.Errorf("counts by class change table3:\n%s\nwant\n%s", a, b)
	}
	fatal.Says(t, fatal.Err(f.Table("methods", TableOptions{Measure: "luck"})), `no measure "luck"`)
}
