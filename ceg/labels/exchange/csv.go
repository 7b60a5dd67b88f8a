package exchange

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/sheet"
)

// csvColumns are the columns of a CSV file. Reading needs only id and label.
var csvColumns = []string{"id", "label", "annotator", "seconds", "flag", "at", "domain", "round", "sha256", "predicted", "probability"}

// flags are the values of the flag column, for events other than a plain label.
var flags = map[string]labels.Kind{"": labels.Labelled, "skipped": labels.Skipped, "unsure": labels.Unsure, "bad": labels.Bad,
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
		case labels.IsNone:
			row[1] = string(labels.None)
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
		if a := v.QueryInfo; a != nil && a.Predicted != "" {
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

// readCSV reads our own CSV file, or any other with columns of images and classes.
func (im *Import) readCSV(path string) error {
	if datasets.IsCamtrap(path) && im.o.Columns.ID == "" {
		t, err := datasets.ReadTable(path, im.o.Columns)
		if im.Notes = append(im.Notes, t.Note); err != nil {
			return err
		}
		for _, l := range t.Labels {
			if l.Class == "" {
				continue
			}
			if err := im.add(Label{ID: l.ID, Path: filepath.ToSlash(l.ID), Kind: labels.Labelled, Class: l.Class, Where: l.Where}); err != nil {
				return err
			}
		}
		return nil
	}
	c, err := datasets.ReadColumns(path, im.o.Columns, "annotator", "seconds", "flag", "at", "sha256")
	if err == nil && !c.HasClass() {
		err = fmt.Errorf("%s: %s; want a column label (or class), or --class-column", path, c.Note)
	}
	if err != nil {
		return err
	}
	nothing := 0
	err = sheet.Read(path, maxFile, maxLine, func([]string) error { return nil }, func(r sheet.Row) error {
		l := c.Label(r)
		if datasets.Missing(l.Class) && !slices.Contains(im.o.Classes, l.Class) {
			if l.Class != "" {
				nothing++
			}
			l.Class = ""
		}
		a, ok, err := csvLabel(r, l)
		if err != nil {
			return im.leave(r.Where, err)
		}
		if !ok {
			return nil
		}
		switch {
		case strings.EqualFold(filepath.Base(path), "metadata.csv") && filepath.IsAbs(a.ID): // from the table's folder
			a.Path, a.ID = filepath.ToSlash(a.ID), ""
		case strings.Contains(a.ID, "://"):
			a.Path = StudioPath(a.ID)
		case !strings.ContainsAny(a.ID, `/\`): // the name of a file alone
			a.Path = strings.TrimSpace(a.ID)
		}
		return im.add(a)
	})
	if im.Notes = append(im.Notes, c.Note); nothing > 0 {
		im.Notes = append(im.Notes, fmt.Sprintf("%s: %d of its cells for classes have a missing value: no label", path, nothing))
	}
	return err
}

// csvLabel reads a row, with l as its image and class. ok is false for an unlabelled query.
func csvLabel(r sheet.Row, l datasets.Label) (a Label, ok bool, err error) {
	if r.Err != nil {
		return a, false, r.Err
	}
	cell := func(names ...string) string { return datasets.Unguard(r.Cell(names...)) }
	a = Label{ID: l.ID, Digest: cell("sha256"), Class: l.Class, By: cell("annotator"), Where: r.Where}
	a.Kind, ok = flags[strings.ToLower(cell("flag"))]
	if !ok {
		return a, false, fmt.Errorf("flag %q, want one of skipped, unsure, bad, corrected, or none", cell("flag"))
	}
	if strings.TrimSpace(a.ID) == "" && a.Digest == "" {
		return a, false, errors.New("it has neither an id nor a sha256")
	}
	switch {
	case (a.Kind == labels.Labelled || a.Kind == labels.Corrected) && a.Class == "" || a.Kind == labels.Skipped && a.By == "":
		return a, false, nil
	case a.Kind == labels.Skipped || a.Kind == labels.Bad:
		a.Class = ""
	}
	if text := cell("seconds"); text != "" {
		if a.Seconds, err = strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64); err != nil || !(a.Seconds >= 0 && a.Seconds < math.MaxInt32) {
			return a, false, fmt.Errorf("seconds is %q, want a number", text)
		}
	}
	a.At, err = parseTime(cell("at"))
	return a, err == nil, err
}

// parseTime reads a time as tools write it; an empty text is the zero time.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("the time is %q, want one such as 2006-01-02T15:04:05Z", text)
}
