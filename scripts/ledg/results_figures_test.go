package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/plots"
)

var resultsDir = filepath.Join("..", "..", "notebooks", "results")

// Four figures of results pages are of no study. They are what their records give, or the table of
// their page where no record exists. -update writes them; LEDG_FIGURES names another folder for it.
func TestFiguresOfPages(t *testing.T) {
	for name, draw := range map[string]func(*testing.T) *plots.Grid{
		"new-site": newSiteFigure, "coverage": coverageFigure, "calibration": calibrationFigure, "networks": networksFigure,
	} {
		svg := fatal.Get(draw(t).Encode("svg"))(t)
		if len(svg) > 150_000 {
			t.Errorf("%s.svg: %d bytes, want at most 150 kB", name, len(svg))
		}
		path := filepath.Join(resultsDir, "figures", name+".svg")
		if out := os.Getenv("LEDG_FIGURES"); out != "" || *update {
			if out != "" {
				path = filepath.Join(out, name+".svg")
			}
			fatal.If(t, os.WriteFile(path, svg, 0o666))
			continue
		}
		if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, svg) {
			t.Errorf("%s: not the figure of its records (%v); scripts/figures.sh draws it", path, err)
		}
	}
}

// groupsOf collects values for plots.Dots: groups and curves in the order in which they first occur.
type groupsOf []plots.Target

func (g *groupsOf) add(group, curve string, values ...float64) {
	i := len(*g) - 1
	if i < 0 || (*g)[i].Name != group {
		*g = append(*g, plots.Target{Name: group})
		i++
	}
	(*g)[i].Curves = append((*g)[i].Curves, plots.Curve{Name: curve, Points: []plots.Point{{Values: values}}})
}

func dotsOf(t *testing.T, d plots.DotsData, note string) *plots.Grid {
	t.Helper()
	theme := plots.Print()
	theme.Text = true
	g := fatal.Get(plots.Dots(theme, d))(t)
	g.Note = note
	return g
}

// newSiteFigure draws gains on a new domain, a dot per target.
func newSiteFigure(t *testing.T) *plots.Grid {
	gains := newSiteGains(t)
	var groups groupsOf
	for _, budget := range newSiteBudgets {
		for _, s := range newSiteSelections {
			var means []float64
			for _, target := range newSiteTargets {
				means = append(means, gains.over(t, s.record, budget, target).Mean)
			}
			groups.add(budget, s.row+" labels", means...)
		}
	}
	return dotsOf(t, plots.DotsData{Title: "Features of PACS, by the model's own labels", Groups: groups, ValueLabel: "Gain (pp)"},
		"Mean over 4 targets. Small dots: the targets, each the mean of n = 10 seeds.")
}

// coverageFigure draws coverage.csv: intervals that are printed above, others below.
func coverageFigure(t *testing.T) *plots.Grid {
	f := fatal.Get(os.Open(filepath.Join(resultsDir, "coverage.csv")))(t)
	defer f.Close()
	rows := fatal.Get(csv.NewReader(f).ReadAll())(t)
	shorter := strings.NewReplacer(" images", "", ", each class, withdrawn: Wilson's", ",\nclass, Wilson", "withdrawn: ", "", " of a site", "", " on a site", "",
		", each ", ",\n", "cross-validation, ", "folds,\n", "left-out sites pooled, as a new site", "left-out\npooled", "range over left-out sites, as a new site", "left-out\nrange")
	var printed, withdrawn groupsOf
	for _, first := range rows[1:] {
		if first[0] != rows[1][0] {
			break
		}
		for _, data := range []string{"emoji", "pacs", "glyphs"} {
			for _, r := range rows[1:] {
				if r[0] != data || r[1] != first[1] {
					continue
				}
				to := &printed
				if strings.Contains(r[1], "withdrawn") {
					to = &withdrawn
				}
				to.add(shorter.Replace(r[1]), strings.Replace(data, "pacs", "PACS", 1), numeral(t, r[2]))
			}
		}
	}
	const note = "Of 200 simulated pools; aim: 95%."
	g := dotsOf(t, plots.DotsData{Title: "Printed intervals", Groups: printed, ValueLabel: "Coverage (%)"}, note)
	h := dotsOf(t, plots.DotsData{Title: "Withdrawn intervals", Groups: withdrawn, ValueLabel: "Coverage (%)"}, note)
	g.Panels = append(g.Panels, h.Panels...)
	for _, p := range g.Panels {
		p.Plot.Y.Min, p.Plot.Y.Max = 30, 101
	}
	return g
}

// calibrationFigure draws the table of calibration.md, whose errors have no record.
func calibrationFigure(t *testing.T) *plots.Grid {
	var groups groupsOf
	for _, r := range tableOf(t, "calibration.md", "data, target") {
		name := strings.Replace(r[0], ", ", "\n", 1)
		groups.add(name, "no temperature", numeral(t, r[2]))
		groups.add(name, "temperature of the sources", numeral(t, r[4]))
		groups.add(name, "temperature of left-out sources", numeral(t, r[6]))
	}
	return dotsOf(t, plots.DotsData{Title: "Calibration on the target", Groups: groups, ValueLabel: "Expected calibration error (%)"},
		"n = 1: no interval. Lower is better.")
}

// networksFigure draws the table of networks.md, which has no record.
func networksFigure(t *testing.T) *plots.Grid {
	var groups groupsOf
	for _, r := range tableOf(t, "networks.md", "network") {
		name := strings.NewReplacer(`\_`, "_").Replace(r[0])
		if a, b, ok := strings.Cut(name, "_"); ok {
			name = a + "\n" + b
		}
		groups.add(name, "onnxruntime", numeral(t, r[3]))
	}
	g := dotsOf(t, plots.DotsData{Title: "Features at 224 px, two threads", Groups: groups, ValueLabel: "Speed / ONNX Runtime's in Python"},
		"One measurement each (n = 1), no interval. Higher is faster; 1 is ONNX Runtime in Python.")
	g.Panels[0].Plot.Y.Min, g.Panels[0].Plot.Y.Max = 0, 1.2
	return g
}

var bold = regexp.MustCompile(`\*\*`)

// tableOf returns the cells of the table on a results page whose first column has this name.
func tableOf(t *testing.T, page, column string) (rows [][]string) {
	t.Helper()
	data := fatal.Get(os.ReadFile(filepath.Join(resultsDir, page)))(t)
	_, table, ok := strings.Cut(string(data), "\n| "+column+" |")
	table, _, _ = strings.Cut(table, "\n\n")
	for i, line := range strings.Split(table, "\n") {
		if i < 2 {
			continue
		}
		cells := strings.Split(strings.Trim(bold.ReplaceAllString(line, ""), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if !ok || len(rows) == 0 {
		t.Fatalf("%s has no table with the first column %q", page, column)
	}
	return rows
}

func numeral(t *testing.T, s string) float64 {
	t.Helper()
	return fatal.Get(strconv.ParseFloat(s, 64))(t)
}
