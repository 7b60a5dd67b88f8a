package result

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Files in a run's folder that store results computed from the run's weights, so that figures
// and calibrations need no weights.
const (
	MapFile         = "tsne.csv"
	ScoresFile      = "scores.csv"
	CalibrationFile = "calibration.json"
)

var (
	mapHead    = []string{"id", "domain", "class", "x", "y"}
	scoresHead = []string{"id", "s_u", "s_r", "s_d"}
)

// MapPoint is an image's t-SNE coordinates: a line of tsne.csv.
type MapPoint struct {
	ID, Domain, Class string
	X, Y              float64
}

// WriteMap writes coordinates to a file, with three decimals.
func WriteMap(path string, points []MapPoint) error {
	rows := [][]string{mapHead}
	for _, p := range points {
		rows = append(rows, []string{p.ID, p.Domain, p.Class,
			strconv.FormatFloat(p.X, 'f', 3, 32), strconv.FormatFloat(p.Y, 'f', 3, 32)})
	}
	return writeCSV(path, rows)
}

// parseMap reads what WriteMap wrote, a file called name.
func parseMap(name string, data []byte) (points []MapPoint, err error) {
	err = parseCSV(name, data, mapHead, func(row []string) error {
		v, err := parseNumbers(row[3:])
		points = append(points, MapPoint{row[0], row[1], row[2], v[0], v[1]})
		return err
	})
	return points, err
}

// Candidate is a candidate of a query round, with its uncertainty, representativeness and
// diversity: a line of scores.csv. Score is by a strategy that the program registered, else nil.
type Candidate struct {
	ID         string
	Su, Sr, Sd float64
	Score      *float64
}

// WriteScores writes candidates to a file, with six digits. All or none have a Score.
func WriteScores(path string, list []Candidate) error {
	rows := [][]string{scoresHead}
	if len(list) > 0 && list[0].Score != nil {
		rows[0] = append(slices.Clone(scoresHead), scoreColumn)
	}
	for _, c := range list {
		values := []float64{c.Su, c.Sr, c.Sd}
		if c.Score != nil {
			values = append(values, *c.Score)
		}
		row := []string{c.ID}
		for _, v := range values {
			row = append(row, strconv.FormatFloat(v, 'g', 6, 64))
		}
		rows = append(rows, row)
	}
	return writeCSV(path, rows)
}

// parseScores reads what WriteScores wrote, a file called name.
func parseScores(name string, data []byte) (list []Candidate, err error) {
	err = parseCSV(name, data, withScore(scoresHead, data), func(row []string) error {
		v, err := parseNumbers(row[1:])
		c := Candidate{ID: row[0], Su: v[0], Sr: v[1], Sd: v[2]}
		if len(v) > 3 {
			c.Score = &v[3]
		}
		list = append(list, c)
		return err
	})
	return list, err
}

func writeCSV(path string, rows [][]string) error {
	return regular.WriteFile(path, func(out io.Writer) error { return csv.NewWriter(out).WriteAll(rows) })
}

// parseCSV calls each with the rows under the head of a file called name. Errors name file and
// line.
func parseCSV(name string, data []byte, head []string, each func(row []string) error) error {
	if !bytes.HasSuffix(data, []byte("\n")) {
		return fmt.Errorf("%s:%d: half-written line: it does not end in a newline", name, 1+bytes.Count(data, []byte("\n")))
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = len(head)
	for first := true; ; first = false {
		row, err := r.Read()
		var parse *csv.ParseError
		switch {
		case errors.As(err, &parse):
			return fmt.Errorf("%s:%d: %w", name, parse.Line, parse.Err)
		case first && !slices.Equal(row, head):
			return fmt.Errorf("%s:1: head is %q, want %q", name, row, head)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case first:
			continue
		}
		if err := each(row); err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

func parseNumbers(texts []string) ([]float64, error) {
	values := make([]float64, len(texts))
	for k, text := range texts {
		var err error
		if values[k], err = strconv.ParseFloat(text, 64); err != nil {
			return values, fmt.Errorf("%q, want a number", text)
		}
	}
	return values, nil
}
