package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/internal/fatal"
)

// resultsFile returns the text of a file in notebooks/results.
func resultsFile(t *testing.T, name string) string {
	t.Helper()
	data := fatal.Get(os.ReadFile(filepath.Join(resultsDir, name)))(t)
	return string(data)
}

// The numbers of files beside the results pages stand in tables of their pages.
func TestTablesOfFiles(t *testing.T) {
	for _, c := range []struct {
		file, page string
		columns    []int
	}{
		{"coverage.csv", "coverage.md", []int{2}}, {"coverage-fixmatch.csv", "coverage.md", []int{2}},
		{"calibration-folds.csv", "calibration.md", []int{3, 5}}, {"strangers.csv", "strangers.md", []int{3}},
	} {
		var cells []string
		for _, line := range tableLines(resultsFile(t, c.page)) {
			for cell := range strings.SplitSeq(bold.ReplaceAllString(line, ""), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
		}
		rows := recordsOf(t, c.file)
		for _, r := range rows {
			for _, k := range c.columns {
				if !slices.Contains(cells, r[k]) {
					t.Errorf("%s: no table has %s of %s, %q", c.page, r[k], c.file, r)
				}
			}
		}
		if len(rows) < 12 {
			t.Errorf("%s has %d rows", c.file, len(rows))
		}
	}
}

// recordsOf reads a CSV file beside the results pages, without its header.
func recordsOf(t *testing.T, name string) [][]string {
	t.Helper()
	rows := fatal.Get(csv.NewReader(strings.NewReader(resultsFile(t, name))).ReadAll())(t)
	return rows[1:]
}

// The accuracies of calibration.md are those of its runs; what it finds follows from its table.
func TestCalibrationTable(t *testing.T) {
	favour := map[string]int{}
	rows := tableOf(t, "calibration.md", "data, target")
	for _, r := range rows {
		data, target, _ := strings.Cut(r[0], ", ")
		dir := map[string]string{"PACS": "pacs/left-out", "glyphs": "glyphs-left-out"}[data]
		run := fatal.Get(result.OpenRun(filepath.Join(resultsDir, dir, strings.ReplaceAll(target, " ", "_"))))(t)
		if got := fmt.Sprintf("%.2f", 100*run.Result.Accuracy.LastEpoch.TargetAccuracy); got != r[1] || run.Config.Seed != 1 {
			t.Errorf("%s: accuracy %s, the page has %s", r[0], got, r[1])
		}
		better := numeral(t, r[6]) < numeral(t, r[4])
		if better {
			favour[data]++
		}
		if (r[7] == "yes") != better {
			t.Errorf("%s: in favour %q with errors %s and %s", r[0], r[7], r[4], r[6])
		}
		if numeral(t, r[4]) >= numeral(t, r[2]) {
			t.Errorf("%s: the sources' temperature does not lower the error", r[0])
		}
	}
	want := fmt.Sprintf("**On %d of 4 targets of PACS and %d of 4 of glyphs", favour["PACS"], favour["glyphs"])
	if len(rows) != 8 || !strings.Contains(resultsFile(t, "calibration.md"), want) {
		t.Errorf("%d rows; the page does not say %q", len(rows), want)
	}
}
