package exchange

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// csvColumns are the columns of a CSV file. Reading needs only id and label.
var csvColumns = []string{"id", "label", "annotator", "seconds", "flag", "at", "domain", "round", "sha256", "predicted", "probability"}

// flags are the values of the flag column, for events other than a plain label.
var flags = map[string]labels.Kind{"": labels.Answered, "skipped": labels.Skipped, "unsure": labels.Unsure, "bad": labels.Bad,
	string(labels.Bad): labels.Bad, "corrected": labels.Corrected}

func writeCSV(w io.Writer, items []Item, o Options) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvColumns); err != nil {
		return err
	}
	for _, v := range items {
		sum, err := o.digest(v)
		if err != nil {
			return err
		}
		row := []string{v.ID, v.Class, v.By, "", "", "", v.Domain, "", sum, "", ""}
		if v.Seconds > 0 {
			row[3] = strconv.FormatFloat(v.Seconds, 'f', -1, 64)
		}
		switch v.Status {
		case labels.IsUnsure:
			row[4] = "unsure"
		case labels.IsBad:
			row[4] = "bad"
		case labels.IsSkipped:
			row[4] = "skipped"
		default:
			if v.Kind == labels.Corrected {
				row[4] = "corrected"
			}
		}
		if !v.At.IsZero() {
			row[5] = v.At.Format(time.RFC3339Nano)
		}
		if v.Round != labels.NoRound {
			row[7] = strconv.Itoa(v.Round)
		}
		if a := v.Asking; a != nil && a.Predicted != "" {
			row[9], row[10] = a.Predicted, strconv.FormatFloat(a.Probability, 'g', 6, 64)
		}
		for i, cell := range row {
			row[i] = datasets.Guard(cell)
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// readCSV reads our own CSV file, or any other with the columns id and label.
func readCSV(path string) ([]Answer, error) {
	var list []Answer
	err := eachRow(path, func(where string, head, row []string) error {
		cell := func(name string) string {
			if i := slices.Index(head, name); i >= 0 {
				return datasets.Unguard(row[i])
			}
			return ""
		}
		if !slices.Contains(head, "id") || !slices.Contains(head, "label") {
			return fmt.Errorf("the columns are %q, want id and label among them", head)
		}
		a := Answer{ID: row[slices.Index(head, "id")], Digest: cell("sha256"), Class: cell("label"), By: cell("annotator"), Where: where}
		kind, ok := flags[cell("flag")]
		if !ok {
			return fmt.Errorf("flag %q, want one of skipped, unsure, bad, corrected, or none", cell("flag"))
		}
		if a.ID == "" && a.Digest == "" {
			return errors.New("it has neither an id nor a sha256")
		}
		a.Kind = kind
		switch {
		case (kind == labels.Answered || kind == labels.Corrected) && a.Class == "" || kind == labels.Skipped && a.By == "":
			return nil // an unlabelled query
		case kind == labels.Skipped || kind == labels.Bad:
			a.Class = ""
		}
		var err error
		if text := cell("seconds"); text != "" {
			if a.Seconds, err = strconv.ParseFloat(text, 64); err != nil || !(a.Seconds >= 0 && a.Seconds < math.MaxInt32) {
				return fmt.Errorf("seconds is %q, want a number", text)
			}
		}
		if text := cell("at"); text != "" {
			if a.At, err = parseTime(text); err != nil {
				return err
			}
		}
		list, err = add(list, a)
		return err
	})
	return list, err
}

// parseTime reads a time as tools write it.
func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("the time is %q, want one such as 2006-01-02T15:04:05Z", text)
}

// eachRow calls f with the head and each row of a CSV file, with commas, semicolons or
// tabs. Errors name the line.
func eachRow(path string, f func(where string, head, row []string) error) error {
	file, err := regular.Open(path, maxFile)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(regular.Lines(file, maxLine), 1<<16)
	if mark, _ := r.Peek(3); string(mark) == "\ufeff" {
		r.Discard(3)
	}
	first, _ := r.Peek(r.Size())
	first, _, _ = bytes.Cut(first, []byte("\n"))
	c := csv.NewReader(r)
	for _, comma := range []rune{'\t', ';'} {
		if !bytes.ContainsRune(first, ',') && bytes.ContainsRune(first, comma) {
			c.Comma = comma
		}
	}
	head, err := c.Read()
	for err == nil {
		var row []string
		if row, err = c.Read(); err == nil {
			line, _ := c.FieldPos(0)
			where := fmt.Sprintf("%s:%d", path, line)
			if err := f(where, head, row); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
		}
	}
	var parse *csv.ParseError
	switch {
	case head == nil && errors.Is(err, io.EOF):
		return fmt.Errorf("%s: it is empty", path)
	case errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &parse):
		return fmt.Errorf("%s:%d: %w", path, parse.Line, parse.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
