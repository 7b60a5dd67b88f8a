package result

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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

// RoundMapFile returns the name of the [MapFile] by the features that a query round selected by; round
// 0 is before training.
func RoundMapFile(round int) string { return fmt.Sprintf("tsne-round-%d.csv", round) }

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
func parseMap(name string, data []byte) ([]MapPoint, error) {
	rows, err := parseCSV(name, data, mapHead)
	if err != nil {
		return nil, err
	}
	points := make([]MapPoint, len(rows))
	for i, row := range rows {
		v, err := parseNumbers(name, i, row[3:])
		if err != nil {
			return nil, err
		}
		points[i] = MapPoint{row[0], row[1], row[2], v[0], v[1]}
	}
	return points, nil
}

// Candidate is a candidate of a query round, with its uncertainty, representativeness and
// diversity: a line of scores.csv.
type Candidate struct {
	ID         string
	Su, Sr, Sd float64
}

// WriteScores writes candidates to a file, with six digits.
func WriteScores(path string, list []Candidate) error {
	rows := [][]string{scoresHead}
	for _, c := range list {
		row := []string{c.ID}
		for _, v := range []float64{c.Su, c.Sr, c.Sd} {
			row = append(row, strconv.FormatFloat(v, 'g', 6, 64))
		}
		rows = append(rows, row)
	}
	return writeCSV(path, rows)
}

// parseScores reads what WriteScores wrote, a file called name.
func parseScores(name string, data []byte) ([]Candidate, error) {
	rows, err := parseCSV(name, data, scoresHead)
	if err != nil {
		return nil, err
	}
	list := make([]Candidate, len(rows))
	for i, row := range rows {
		v, err := parseNumbers(name, i, row[1:])
		if err != nil {
			return nil, err
		}
		list[i] = Candidate{row[0], v[0], v[1], v[2]}
	}
	return list, nil
}

func writeCSV(path string, rows [][]string) error {
	return regular.WriteFile(path, func(out io.Writer) error { return csv.NewWriter(out).WriteAll(rows) })
}

// parseCSV returns the rows under the head of a file called name.
func parseCSV(name string, data []byte, head []string) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = len(head)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], head) {
		return nil, fmt.Errorf("%s does not begin with %s", name, strings.Join(head, ","))
	}
	return rows[1:], nil
}

// parseNumbers parses fields of row i under the head.
func parseNumbers(name string, i int, texts []string) ([]float64, error) {
	values := make([]float64, len(texts))
	for k, text := range texts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %q, want a number", name, i+2, text)
		}
		values[k] = v
	}
	return values, nil
}
