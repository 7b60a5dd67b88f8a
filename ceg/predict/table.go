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

	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/regular"
)

var tableHead = []string{"path", "class", "probability", "second", "margin", "entropy", "distance", "nearest"}

// newColumn flags images that look like nothing labelled; older tables lack it.
const newColumn = "looks_new"

// calibratedColumn says whether the probabilities are calibrated; older tables lack it.
const calibratedColumn = "calibrated"

// writeTable writes the predictions, and counts those that look new.
func writeTable(path string, t *table, looksNew *int) error {
	each := func(f func(p Prediction) error) error {
		return t.images(func(p Prediction, _ []byte) error {
			if p.LooksNew {
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
		head := append(slices.Clone(tableHead), newColumn, calibratedColumn)
		if t.sets {
			head = append(head, "set", "abstained")
		}
		rows.Write(head) // its error stays for Error
		number := func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
		if err := each(func(p Prediction) error {
			row := []string{p.Path, p.Class, number(p.Probability), p.Second, number(p.Margin), number(p.Entropy), number(p.Distance), p.Nearest, strconv.FormatBool(p.LooksNew), strconv.FormatBool(p.Calibrated)}
			if t.sets {
				row = append(row, p.Set, strconv.FormatBool(p.Abstained))
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
func writeFailed(path string, t *table, first *[]string) error {
	if t.failed == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	return regular.WriteFile(path, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		rows.Write([]string{"path", "reason"})
		err := t.each(func(e entry, _ []byte) error {
			if e.Error == "" {
				return nil
			}
			if len(*first) < fewFailed {
				*first = append(*first, e.Path+": "+e.Error)
			}
			return rows.Write([]string{e.Path, e.Error})
		})
		rows.Flush()
		return errors.Join(err, rows.Error())
	})
}

// embedding is a row of embeddings as Parquet.
type embedding struct {
	Path     string    `parquet:"path"`
	Features []float32 `parquet:"features"`
}

// maxTable is the longest table that is read, maxLine its longest line, in bytes.
const maxTable, maxLine = 8 << 30, 1 << 20

// ReadTable reads the predictions of a table of [Predictor.Files], one at a time.
func ReadTable(path string, each func(p Prediction) error) error {
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
	return readCSV(r, each)
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
	for _, c := range p.Root().Columns() {
		if err := arrays.CheckPages(p, c); err != nil {
			return err
		}
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

func readCSV(f io.Reader, each func(p Prediction) error) error {
	r := csv.NewReader(f)
	r.ReuseRecord = true
	flagged, calibrated := false, -1
	if first, err := r.Read(); err != nil {
		return err
	} else if flagged = slices.Contains(first, newColumn); len(first) > len(tableHead) && flagged != (first[len(tableHead)] == newColumn) {
		return fmt.Errorf("column %s is not after %s", newColumn, tableHead[len(tableHead)-1])
	} else if len(first) < len(tableHead) {
		return fmt.Errorf("the table has %d columns, want at least %d", len(first), len(tableHead))
	} else {
		calibrated = slices.Index(first, calibratedColumn)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var bad error
		number := func(i int) float32 {
			v, err := strconv.ParseFloat(row[i], 32)
			bad = errors.Join(bad, err)
			return float32(v)
		}
		p := Prediction{Path: row[0], Class: row[1], Probability: number(2), Second: row[3],
			Margin: number(4), Entropy: number(5), Distance: number(6), Nearest: row[7]}
		p.LooksNew = flagged && row[len(tableHead)] == "true"
		p.Calibrated = calibrated >= 0 && row[calibrated] == "true"
		if bad != nil {
			return bad
		}
		if err := each(p); err != nil {
			return err
		}
	}
}
