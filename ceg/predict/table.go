package predict

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/sheet"
)

var tableHead = []string{"path", "class", "probability", "second", "margin", "entropy", "distance", "nearest", "looks_new", "calibrated"}

func writeTable(path string, j *journal, looksNew *int) error {
	each := func(f func(p Prediction) error) error {
		return j.images(func(p Prediction) error {
			if p.New() {
				*looksNew++
			}
			return f(p)
		})
	}
	return regular.WriteFile(path, func(w io.Writer) error {
		switch filepath.Ext(path) {
		case ".parquet":
			rows := parquet.NewGenericWriter[Prediction](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetGroup))
			return errors.Join(each(func(p Prediction) error {
				_, err := rows.Write([]Prediction{p})
				return err
			}), rows.Close())
		case ".jsonl":
			e := json.NewEncoder(w)
			e.SetEscapeHTML(false)
			return each(func(p Prediction) error { return e.Encode(p) })
		}
		rows := csv.NewWriter(w)
		head := tableHead
		if j.sets {
			head = append(slices.Clone(head), "set", "abstained")
		}
		rows.Write(head) // its error stays for Error
		number := func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
		if err := each(func(p Prediction) error {
			looksNew := "" // not known
			if p.LooksNew != nil {
				looksNew = strconv.FormatBool(*p.LooksNew)
			}
			distance := number(p.Distance)
			if p.Nearest == "" {
				distance = "" // nothing was labelled
			}
			row := []string{datasets.Guard(p.Path), datasets.Guard(p.Class), number(p.Probability), datasets.Guard(p.Second), number(p.Margin), number(p.Entropy), distance, datasets.Guard(p.Nearest), looksNew, strconv.FormatBool(p.Calibrated)}
			if j.sets {
				row = append(row, datasets.Guard(p.Set), strconv.FormatBool(p.Abstained))
			}
			return rows.Write(row)
		}); err != nil {
			return err
		}
		rows.Flush()
		return rows.Error()
	})
}

// parquetGroup is the number of rows that a Parquet file is written in: those that
// are in memory at a time.
const parquetGroup = 1 << 14

// fewFailed is how many of the failed files a Summary names.
const fewFailed = 5

// writeFailed lists the files that could not be read; without one it removes an
// older list.
func writeFailed(path string, j *journal, first *[]string) error {
	if j.failed == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	return regular.WriteFile(path, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		rows.Write([]string{"path", "reason"})
		err := j.each(func(e entry) error {
			if e.Error == "" {
				return nil
			}
			if len(*first) < fewFailed {
				*first = append(*first, e.Path+": "+e.Error)
			}
			return rows.Write([]string{datasets.Guard(e.Path), datasets.Guard(e.Error)})
		})
		rows.Flush()
		return errors.Join(err, rows.Error())
	})
}

// maxTable is the longest table that is read, maxLine its longest line, in bytes.
const maxTable, maxLine = 8 << 30, 1 << 20

// ReadTable reads the predictions of a table of [Predictor.Files], one at a time, or of another CSV file
// with columns of images and classes.
func ReadTable(path string, each func(p Prediction) error) error {
	if err := foreign.Check(path, foreign.Parquet); err != nil {
		return err
	}
	f, err := regular.Open(path, maxTable)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReader(regular.Lines(f, maxLine))
	switch filepath.Ext(path) {
	case ".parquet":
		return readParquet(f, each)
	case ".jsonl":
		d := json.NewDecoder(r)
		for d.More() {
			var p Prediction
			if err := d.Decode(&p); err != nil {
				return err
			}
			if err := each(p); err != nil {
				return err
			}
		}
		return nil
	}
	return readCSV(path, each)
}

// readParquet reads a table that may be damaged.
func readParquet(f *os.File, each func(p Prediction) error) (err error) {
	defer arrays.Recovered(&err)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p, err := arrays.OpenParquet(f, info.Size())
	if err != nil {
		return err
	}
	r := parquet.NewGenericReader[Prediction](p)
	defer r.Close()
	rows := make([]Prediction, 8) // whose texts may be as long as a page
	for {
		n, err := r.Read(rows)
		for _, p := range rows[:n] {
			if err := each(p); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readCSV reads a table by the names of its columns: our own, or another one with columns of images
// and classes.
func readCSV(path string, each func(p Prediction) error) error {
	var at []int // of tableHead, -1 for none
	var columns *datasets.Columns
	return sheet.Read(path, maxTable, maxLine, func(head []string) (err error) {
		for _, name := range tableHead {
			at = append(at, sheet.Column(head, name))
		}
		if at[0] < 0 || at[1] < 0 || at[2] < 0 {
			columns, err = datasets.ReadColumns(path, datasets.ColumnNames{})
			at[2] = sheet.Column(head, "probability", "confidence", "score")
		}
		if columns != nil && !columns.HasClass() {
			err = fmt.Errorf("%s; want a column class", columns.Note)
		}
		return err
	}, func(r sheet.Row) error {
		if r.Err != nil {
			return fmt.Errorf("%s: %w", r.Where, r.Err)
		}
		var bad error
		cell := func(i int) string {
			if at[i] < 0 {
				return ""
			}
			return datasets.Unguard(r.At(at[i]))
		}
		number := func(i int) float32 {
			text := cell(i)
			if text == "" && (columns != nil || tableHead[i] == "distance") {
				return 0
			}
			v, err := strconv.ParseFloat(text, 32)
			if err != nil && at[i] >= 0 {
				bad = fmt.Errorf("%s: %s is %q, want a number", r.Where, tableHead[i], text)
			}
			return float32(v)
		}
		p := Prediction{Path: cell(0), Class: cell(1), Probability: number(2), Second: cell(3), Margin: number(4), Entropy: number(5),
			Distance: number(6), Nearest: cell(7), Calibrated: cell(9) == "true"}
		if text := cell(8); text != "" {
			looksNew := text == "true"
			p.LooksNew = &looksNew
		}
		if columns != nil {
			l := columns.Label(r)
			p.Path, p.Class = datasets.Unguard(l.ID), l.Class
		}
		if bad != nil {
			return bad
		}
		return each(p)
	})
}
