package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// resultsFile returns the text of a file in notebooks/results.
func resultsFile(t *testing.T, name string) string {
	t.Helper()
	data := fatal.Get(os.ReadFile(filepath.Join(resultsDir, name)))(t)
	return string(data)
}

// The tables of coverage.md are coverage.csv and coverage-fixmatch.csv, and its findings are the
// ranges of printed intervals.
func TestCoverageTable(t *testing.T) {
	page := strings.ReplaceAll(resultsFile(t, "coverage.md"), "\n", " ")
	share := map[string]string{} // by interval, file and data
	var names []string
	for name, want := range map[string]string{"coverage.csv": "in %.0f to %.0f%% of 200 simulated pools", "coverage-fixmatch.csv": "it is %.1f to %.1f%% on emoji and PACS"} {
		low, high := 100.0, 0.0
		for _, r := range recordsOf(t, name) {
			share[r[1]+" "+name+" "+r[0]] = r[2]
			if !slices.Contains(names, r[1]) {
				names = append(names, r[1])
			}
			if !strings.Contains(r[1], "withdrawn") {
				low, high = min(low, numeral(t, r[2])), max(high, numeral(t, r[2]))
			}
		}
		if want = fmt.Sprintf(want, low, high); !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, name := range names {
		var row strings.Builder
		fmt.Fprintf(&row, "| %s |", strings.Replace(name, "withdrawn: ", "", 1))
		for _, of := range []string{"coverage.csv emoji", "coverage.csv pacs", "coverage.csv glyphs", "coverage-fixmatch.csv emoji", "coverage-fixmatch.csv pacs"} {
			fmt.Fprintf(&row, " %s |", share[name+" "+of])
		}
		if !strings.Contains(page, row.String()) {
			t.Errorf("the page does not have\n%s", row.String())
		}
	}
	if len(names) != 12 {
		t.Errorf("%d intervals", len(names))
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

// The second table of calibration.md is calibration-folds.csv.
func TestCalibrationFoldsTable(t *testing.T) {
	page, runs := resultsFile(t, "calibration.md"), map[string]string{}
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

// The tables of strangers.md are strangers.csv.
func TestStrangersTable(t *testing.T) {
	page, cells := resultsFile(t, "strangers.md"), map[string][]string{}
	for _, r := range recordsOf(t, "strangers.csv") {
		cells[r[2]] = append(cells[r[2]], r[3])
		if r[1] == "false" && slices.Contains([]string{"label", "label, or blank", "pool"}, r[2]) {
			for i, name := range []string{"strangers", "fresh images of the sites (false alarms)", "blank images", "noise", "patterns", "glyphs",
				"known classes of a new site (false alarms)", "strangers, threshold 10%", "fresh images, threshold 10%"} {
				cells[name] = append(cells[name], r[4+i])
			}
		}
	}
	for name, list := range cells {
		if row := "| " + name + " | " + strings.Join(list, " | ") + " |\n"; !strings.Contains(page, row) {
			t.Errorf("the page does not have\n%s", row)
		}
	}
	if len(cells) != 15 {
		t.Errorf("%d rows", len(cells))
	}
}

// The table of sensitivity.md is what its records say.
func TestSensitivityTable(t *testing.T) {
	f, err := report.Open(filepath.Join(resultsDir, "sensitivity"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Sensitivity(report.FigureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string][]float64{} // the seeds' accuracies
	for i, name := range []string{"delta", "T"} {
		s := d.Sweeps[i]
		if s.XLabel != report.ParameterLabel(name) {
			t.Fatalf("sweep %d is of %s, want %s", i, s.XLabel, name)
		}
		for _, p := range s.Curves[0].Points {
			settings[fmt.Sprintf("%s %g", name, p.X)] = p.Values
		}
	}
	var pairs []float64 // means
	for _, c := range d.Surfaces[0].Cells {
		settings[fmt.Sprintf("gamma %g %g", c.X, c.Y)] = c.Values
		if c.X != 3 || c.Y != 1 {
			pairs = append(pairs, mean(t, c.Values).Mean)
		}
	}
	usual := settings["delta 0.3"]
	if len(settings) != 7+6+25 || !slices.Equal(usual, settings["T 0.5"]) || !slices.Equal(usual, settings["gamma 3 1"]) {
		t.Fatalf("%d settings, the usual one %v, %v and %v", len(settings), usual, settings["T 0.5"], settings["gamma 3 1"])
	}
	minus := func(name string) result.Difference {
		d, err := result.Paired(trials(settings[name]), trials(usual))
		if err != nil || d.N != 3 {
			t.Fatalf("%s: %d seeds, %v", name, d.N, err)
		}
		return d
	}
	apart := func(v []float64) float64 { return slices.Max(v) - slices.Min(v) }
	others, err := f.Targets(report.FigureOptions{Methods: []string{"uniform-ce", "bvsb-ce", "badge-ce"}})
	if err != nil {
		t.Fatal(err)
	}
	var ce []float64 // means
	for _, c := range others.Groups[0].Curves {
		ce = append(ce, mean(t, c.Points[0].Values).Mean)
	}
	for name, v := range settings {
		if v := mean(t, v); v.Mean <= slices.Max(ce) {
			t.Errorf("%s: %.1f, not above cross-entropy's %v", name, v.Mean, ce)
		}
		if !slices.Equal(settings[name], usual) && minus(name).ExcludesZero() {
			t.Errorf("%s is significantly different, the page says that none is", name)
		}
	}
	m := mean(t, usual)
	d0, d7, d1 := minus("delta 0"), minus("delta 0.7"), minus("delta 1")
	if slices.Min(pairs) < slices.Min(usual) || slices.Max(pairs) > slices.Max(usual) {
		t.Errorf("pairs %v are outside the usual seeds' range %v", pairs, usual)
	}
	seeds := []float64{apart(settings["delta 0.7"]), apart(settings["delta 1"])}
	both := fmt.Sprintf("seeds %.0f to %.0f pp apart", slices.Min(seeds), slices.Max(seeds))
	for _, row := range []string{
		fmt.Sprintf("| usual | %.1f to %.1f%% over seeds, %.1f ± %.1f | 3 |", slices.Min(usual), slices.Max(usual), m.Mean, m.SD),
		fmt.Sprintf("| %d other pairs of gamma1 and gamma2 | %.1f to %.1f%% | 3 each |", len(pairs), slices.Min(pairs), slices.Max(pairs)),
		fmt.Sprintf("| delta = 0 (without L_eg) | %+.1f pp (%.1f to %.1f) | 3 |", d0.Mean, d0.Low, d0.High),
		fmt.Sprintf("| delta = 0.7 | %+.1f pp; %s | 3 |", d7.Mean, both),
		fmt.Sprintf("| delta = 1 | %+.1f pp (%.1f to %.1f); %s | 3 |", d1.Mean, d1.Low, d1.High, both),
		fmt.Sprintf("| T = 0.7, 0.9, 1 | %+.1f, %+.1f, %+.1f pp | 3 each |", minus("T 0.7").Mean, minus("T 0.9").Mean, minus("T 1").Mean),
		fmt.Sprintf("| Random, BvSB, BADGE + cross-entropy | %.1f, %.1f, %.1f%% | 3 each | every setting's mean is above |", ce[0], ce[1], ce[2]),
	} {
		if !strings.Contains(resultsFile(t, "sensitivity.md"), row) {
			t.Errorf("the page does not have\n%s", row)
		}
	}
}

func mean(t *testing.T, values []float64) result.Summary {
	t.Helper()
	s, err := result.Summarize(values)
	if err != nil || s.N != 3 {
		t.Fatalf("%v: %v", values, err)
	}
	return s
}

// trials keys values by their place.
func trials(values []float64) (list []result.Trial) {
	for i, v := range values {
		list = append(list, result.Trial{Key: fmt.Sprint(i), Value: v})
	}
	return list
}
