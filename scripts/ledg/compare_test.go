package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Of the same runs, ledg compare says what ledg table says: averages over targets
// seed by seed, and differences of these paired by seed.
func TestCompareAgreesWithTable(t *testing.T) {
	study := filepath.Join("..", "..", "notebooks", "results", "glyphs")
	stdout, stderr, status := call(t, ".", "table", "methods", "--dir", study, "--plan", "table3-glyphs", "--baseline", "uniform-ce", "--format", "csv")
	if status != 0 {
		t.Fatalf("table: %d, %s", status, stderr)
	}
	rows := fatal.Get(csv.NewReader(strings.NewReader(stdout)).ReadAll())(t)
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	table := map[string][]string{} // by method and target
	for _, row := range rows[1:] {
		table[column(row, "row")+" "+column(row, "target")] = row
	}

	f := fatal.Get(report.Open(study, "table3-glyphs"))(t)
	args := []string{"compare", "--baseline", "uniform-ce"}
	for _, r := range f.Runs {
		s := fatal.Get(f.State(r))(t)
		if s == result.Complete && r.Variant == "" && (r.Method == "ceg" || r.Method == "uniform-ce") && r.Budget == "5%" {
			args = append(args, filepath.Join(study, r.Dir))
		}
	}
	if len(args) < 3+2*4*2 {
		t.Fatalf("%d runs to compare", len(args)-3)
	}
	stdout, stderr, status = call(t, ".", args...)
	if status != 0 {
		t.Fatalf("compare: %d, %s", status, stderr)
	}
	percent := func(text, format string) string {
		v := fatal.Get(strconv.ParseFloat(text, 64))(t)
		return fmt.Sprintf(format, v)
	}
	for _, target := range []string{"cartoon", "photo", "print", "sketch", "average"} {
		row := table["ceg "+target]
		want := []string{target, "CEG", "(published", "schedule)", column(row, "n"), percent(column(row, "mean"), "%.2f"), percent(column(row, "sd"), "%.2f")}
		line := lineWith(stdout, target, "CEG")
		if fields := strings.Fields(line); len(fields) < len(want) || !slices.Equal(fields[:len(want)], want) {
			t.Errorf("compare says %q, the table %q", line, want)
		}
		if target != "average" {
			continue
		}
		difference := fmt.Sprintf("%s (%s to %s, n = %s)", percent(column(row, "difference"), "%+.2f"),
			percent(column(row, "difference_low"), "%+.2f"), percent(column(row, "difference_high"), "%+.2f"), column(row, "difference_n"))
		if !strings.Contains(line, difference) {
			t.Errorf("compare says %q, the table's difference is %s", line, difference)
		}
	}
}

// lineWith returns the line of a table that begins with two words.
func lineWith(text, first, second string) string {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == first && f[1] == second {
			return line
		}
	}
	return ""
}
