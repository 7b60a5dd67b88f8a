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

// mapFile is the name of the file in a run's directory that keeps its map.
const mapFile = "tsne.csv"

var mapHead = []string{"id", "domain", "class", "x", "y"}

// writeMap writes a line for every image of a map [n, 2]. Three decimals are
// finer than a figure shows.
func writeMap(path string, e *ceg.Embedding, m active.Matrix) error {
	return result.WriteFile(path, func(out io.Writer) error {
		w := csv.NewWriter(out)
		w.Write(mapHead)
		for i, id := range e.IDs {
			row := []string{id, e.DomainNames[e.Domains[i]], e.ClassNames[e.Classes[i]]}
			for _, v := range m.Data[i*m.Stride : i*m.Stride+2] {
				row = append(row, strconv.FormatFloat(float64(v), 'f', 3, 32))
			}
			w.Write(row)
		}
		w.Flush()
		return w.Error()
	})
}

// readMap reads what writeMap wrote. Classes and domains are in the order of the
// alphabet.
func readMap(path string) (ids []string, d plots.EmbeddingData, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, d, err
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = len(mapHead)
	rows, err := r.ReadAll()
	if err != nil {
		return nil, d, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], mapHead) {
		return nil, d, fmt.Errorf("%s does not begin with %s", path, strings.Join(mapHead, ","))
	}
	rows = rows[1:]
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
			v, err := strconv.ParseFloat(text, 32)
			if err != nil {
				return nil, d, fmt.Errorf("%s:%d: coordinate %q, want a number", path, i+2, text)
			}
			d.Points.Data = append(d.Points.Data, float32(v))
		}
	}
	return ids, d, nil
}
