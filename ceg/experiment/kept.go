package experiment

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// The files in a run's directory that keep what figures have computed with the
// run's weights, so that they can be drawn again without them.
const (
	mapFile    = "tsne.csv"
	scoresFile = "scores.csv"
)

var (
	mapHead    = []string{"id", "domain", "class", "x", "y"}
	scoresHead = []string{"id", "s_u", "s_r", "s_d"}
)

// writeMap writes a line for every image of a map [n, 2]. Three decimals are
// finer than a figure shows.
func writeMap(path string, e *ceg.Embedding, m active.Matrix) error {
	rows := [][]string{mapHead}
	for i, id := range e.IDs {
		row := []string{id, e.DomainNames[e.Domains[i]], e.ClassNames[e.Classes[i]]}
		for _, v := range m.Data[i*m.Stride : i*m.Stride+2] {
			row = append(row, strconv.FormatFloat(float64(v), 'f', 3, 32))
		}
		rows = append(rows, row)
	}
	return writeCSV(path, rows)
}

// readMap reads what writeMap wrote. Classes and domains are in the order of the
// alphabet.
func readMap(path string) (ids []string, d plots.EmbeddingData, err error) {
	rows, err := readCSV(path, mapHead)
	if err != nil {
		return nil, d, err
	}
	names := func(column int) (names []string, index []int) {
		for _, row := range rows {
			names = append(names, row[column])
		}
		slices.Sort(names)
		names = slices.Compact(names)
		for _, row := range rows {
			i, _ := slices.BinarySearch(names, row[column])
			index = append(index, i)
		}
		return names, index
	}
	d.DomainNames, d.Domains = names(1)
	d.ClassNames, d.Classes = names(2)
	d.Points = active.Matrix{Rows: len(rows), Cols: 2, Stride: 2}
	for i, row := range rows {
		ids = append(ids, row[0])
		for _, text := range row[3:] {
			v, err := parseNumber(path, i, text)
			if err != nil {
				return nil, d, err
			}
			d.Points.Data = append(d.Points.Data, float32(v))
		}
	}
	return ids, d, nil
}

// writeScores writes a line for every candidate, with six digits, which is finer
// than a figure shows.
func writeScores(path string, s candidateScores) error {
	rows := [][]string{scoresHead}
	for i, id := range s.ids {
		row := []string{id}
		for _, values := range s.values {
			row = append(row, strconv.FormatFloat(values[i], 'g', 6, 64))
		}
		rows = append(rows, row)
	}
	return writeCSV(path, rows)
}

// readScores reads what writeScores wrote.
func readScores(path string) (s candidateScores, err error) {
	rows, err := readCSV(path, scoresHead)
	if err != nil {
		return s, err
	}
	for i, row := range rows {
		s.ids = append(s.ids, row[0])
		for k, text := range row[1:] {
			v, err := parseNumber(path, i, text)
			if err != nil {
				return s, err
			}
			s.values[k] = append(s.values[k], v)
		}
	}
	return s, nil
}

func writeCSV(path string, rows [][]string) error {
	return result.WriteFile(path, func(out io.Writer) error { return csv.NewWriter(out).WriteAll(rows) })
}

// readCSV returns the rows under the head.
func readCSV(path string, head []string) ([][]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = len(head)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], head) {
		return nil, fmt.Errorf("%s does not begin with %s", path, strings.Join(head, ","))
	}
	return rows[1:], nil
}

// parseNumber parses a field of row i under the head.
func parseNumber(path string, i int, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%s:%d: %q, want a number", path, i+2, text)
	}
	return v, nil
}
