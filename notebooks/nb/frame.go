package nb

import (
	"io"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Rows are the values of runs as tidy rows, for pandas, R and DuckDB.
type Rows struct{ *result.Table }

// Frame returns the values of runs as tidy rows: run, method, preset, data set, target, seed,
// budget, labels, epoch, domain, split, metric, value, and every setting that is not at its default
// in all runs. Each argument is a run or a folder of runs.
//
//	nb.Frame(dirs...).CSV("runs.csv")
func Frame(dirs ...string) Rows { return Rows{Must(report.Frame(dirs...))} }

// CSV writes the rows to a CSV file, numbers in full precision.
func (r Rows) CSV(file string) {
	Check(regular.WriteFile(file, func(w io.Writer) error { return r.Write(w, result.CSV) }))
}
