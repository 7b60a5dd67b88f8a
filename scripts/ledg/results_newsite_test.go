package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/zst"
)

var (
	budgetOfRun       = regexp.MustCompile(`-ledg-(.*)-s\d+-`)
	newSiteBudgets    = []string{"21", "1%", "5%", "20%"}
	newSiteTargets    = []string{"art_painting", "cartoon", "photo", "sketch"}
	newSiteSelections = []struct{ record, row string }{
		{"maxherding 35", "MaxHerding, 35"}, {"random 35", "random, 35"},
	}
)

// siteGains are gains in pp over seeds, by selection, budget and target.
type siteGains map[string][]float64

// newSiteGains reads the records of adapting to a new domain of PACS.
func newSiteGains(t *testing.T) siteGains {
	t.Helper()
	gains := siteGains{}
	for line := range bytes.Lines(zst.Read(t, filepath.Join(resultsDir, "new-site", "pacs.jsonl.zst"))) {
		var r struct {
			Run, Target string
			Adapted     map[string]struct{ Before, After float64 }
		}
		fatal.If(t, json.Unmarshal(line, &r))
		budget := strings.Replace(budgetOfRun.FindStringSubmatch(r.Run)[1], "pct", "%", 1)
		for name, a := range r.Adapted {
			key := name + " " + budget + " " + r.Target
			gains[key] = append(gains[key], 100*(a.After-a.Before))
		}
	}
	return gains
}

// over is the mean over ten seeds.
func (g siteGains) over(t *testing.T, selection, budget, target string) result.Summary {
	t.Helper()
	over, err := result.Summarize(g[selection+" "+budget+" "+target])
	if err != nil || over.N != 10 {
		t.Fatalf("%s, %s, %s: %d seeds, %v", selection, budget, target, over.N, err)
	}
	return over
}

// The table of gains on a new domain by MaxHerding is what its records say: means over seeds on each target,
// then the mean and its interval over targets.
func TestNewSiteTable(t *testing.T) {
	page := fatal.Get(os.ReadFile(filepath.Join(resultsDir, "new-site.md")))(t)
	gains := newSiteGains(t)
	for _, selection := range newSiteSelections[:1] {
		for _, budget := range newSiteBudgets {
			row := "| " + selection.row + " | " + budget + " |"
			var means []float64
			favour := 0
			for _, target := range newSiteTargets {
				over := gains.over(t, selection.record, budget, target)
				if over.Mean > 0 {
					favour++
				}
				means = append(means, over.Mean)
				row += fmt.Sprintf(" %+.1f |", over.Mean)
			}
			over := fatal.Get(result.Summarize(means))(t)
			row += fmt.Sprintf(" %d of 4 | %+.1f (%.1f to %.1f) |", favour, over.Mean, over.Low, over.High)
			if !strings.Contains(string(page), row+"\n") {
				t.Errorf("the page does not have\n%s", row)
			}
		}
	}
}

// The page on photographs has the primary comparison of the other files of features as their records have it.
func TestPhotographsRepeats(t *testing.T) {
	page := resultsFile(t, "photographs.md")
	for dir, row := range map[string]string{"lite2": "Lite2", "capped-lite0": "Lite0, capped", "capped-lite2": "Lite2, capped"} {
		out, _ := works(t, "", "table", "targets", "--dir", filepath.Join(resultsDir, "natural-shares", dir), "--baseline", "logistic MaxHerding",
			"--method", "logistic MaxHerding", "--method", "fixmatch recipe, preset ledg", "--format", "csv")
		row = "| " + row + " |"
		for _, mean := range regexp.MustCompile(`"([+-][^"]*), n = 6\)`).FindAllStringSubmatch(out, -1) {
			row += " " + mean[1] + ") |"
		}
		if strings.Count(row, "|") != 6 || !strings.Contains(page, row+"\n") {
			t.Errorf("%s: the page does not have\n%s", dir, row)
		}
	}
}
