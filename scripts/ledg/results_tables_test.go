package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// resultsFile returns the text of a file in notebooks/results.
func resultsFile(t *testing.T, name string) string {
	t.Helper()
	data := fatal.Get(os.ReadFile(filepath.Join(resultsDir, name)))(t)
	return string(data)
}

// The table of intervals is that of the printed ones of coverage.csv and coverage-fixmatch.csv, and its
// findings are their ranges.
func TestCoverageTable(t *testing.T) {
	page := strings.ReplaceAll(resultsFile(t, "new-site.md"), "\n", " ")
	share := map[string]string{} // by interval, file and data
	var names []string
	for name, want := range map[string]string{"coverage.csv": "in %.0f to %.0f%% of 200 simulated pools", "coverage-fixmatch.csv": "it is %.1f to %.1f%% on emoji and PACS"} {
		low, high := 100.0, 0.0
		for _, r := range recordsOf(t, name) {
			if strings.Contains(r[1], "withdrawn") {
				continue
			}
			share[r[1]+" "+name+" "+r[0]] = r[2]
			if !slices.Contains(names, r[1]) {
				names = append(names, r[1])
			}
			low, high = min(low, numeral(t, r[2])), max(high, numeral(t, r[2]))
		}
		if want = fmt.Sprintf(want, low, high); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, name := range names {
		var row strings.Builder
		fmt.Fprintf(&row, "| %s |", name)
		for _, of := range []string{"coverage.csv emoji", "coverage.csv pacs", "coverage.csv glyphs", "coverage-fixmatch.csv emoji", "coverage-fixmatch.csv pacs"} {
			fmt.Fprintf(&row, " %s |", share[name+" "+of])
		}
		if !strings.Contains(page, row.String()) {
			t.Errorf("the page does not have\n%s", row.String())
		}
	}
	if len(names) != 6 {
		t.Errorf("%d intervals", len(names))
	}
}

// recordsOf reads a CSV file beside the results pages, without its header.
func recordsOf(t *testing.T, name string) [][]string {
	t.Helper()
	rows := fatal.Get(csv.NewReader(strings.NewReader(resultsFile(t, name))).ReadAll())(t)
	return rows[1:]
}

// The table of calibration is calibration-folds.csv.
func TestCalibrationFoldsTable(t *testing.T) {
	page, runs := resultsFile(t, "new-site.md"), map[string]string{}
	cells := map[string][]string{}
	for _, r := range recordsOf(t, "calibration-folds.csv") {
		key := strings.Replace(r[0], "pacs", "PACS", 1) + " | " + strings.NewReplacer("sources", "the sources", "site", "a new site").Replace(r[1])
		if cells[key] == nil {
			cells[key] = []string{r[3]}
		}
		cells[key], runs[r[7]] = append(cells[key], r[5]), key
		if r[2] != "none" && numeral(t, r[5]) > numeral(t, cells[key][1])*0.7 {
			t.Errorf("%s: the temperature of %s leaves %s%% of %s%%", key, r[2], r[5], cells[key][1])
		}
	}
	for key, list := range cells {
		if row := "| " + key + " | " + strings.Join(list, " | ") + " |\n"; !strings.Contains(page, row) {
			t.Errorf("the page does not have\n%s", row)
		}
	}
	if len(cells) != 4 || len(runs) != 1 || runs["40"] == "" {
		t.Errorf("%d rows, of runs %v", len(cells), runs)
	}
}

// The table of unknown classes is strangers.csv's rows of the score in use.
func TestStrangersTable(t *testing.T) {
	page, rows := resultsFile(t, "new-site.md"), 0
	for _, r := range recordsOf(t, "strangers.csv") {
		if r[2] != "label, or blank" {
			continue
		}
		cells := []string{strings.Replace(r[0], "pacs", "PACS", 1), map[string]string{"true": "yes", "false": "no"}[r[1]], r[3], r[4], r[5], r[10]}
		if row := "| " + strings.Join(cells, " | ") + " |\n"; !strings.Contains(page, row) {
			t.Errorf("the page does not have\n%s", row)
		}
		rows++
	}
	if rows != 4 {
		t.Errorf("%d rows", rows)
	}
}
