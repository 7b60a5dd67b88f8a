package nb

import (
	"io"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Rows are the values of runs as tidy rows, for pandas, R and DuckDB.
type Rows struct{ *report.Frame }

// Frame returns the values of runs as tidy rows: run, method, preset, data set, target, seed,
// budget, labels, epoch, domain, split, metric, value, and every setting that is not at its default
// in all runs. Each argument is a run or a folder of runs.
//
//	nb.Frame(dirs...).CSV("runs.csv")
func Frame(dirs ...string) Rows { return Rows{Must(report.NewFrame(dirs...))} }

// CSV writes the rows to a CSV file, numbers in full precision.
func (r Rows) CSV(file string) { r.write(file, r.WriteCSV) }

// Parquet writes the rows to a Parquet file.
func (r Rows) Parquet(file string) { r.write(file, r.WriteParquet) }

func (r Rows) write(file string, f func(io.Writer) error) { Check(regular.WriteFile(file, f)) }
