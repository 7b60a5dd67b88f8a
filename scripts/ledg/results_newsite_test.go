package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
)

var budgetOfRun = regexp.MustCompile(`-ledg-(.*)-s\d+-`)

// The table of gains on a new domain is what its records say: means over seeds on each target,
// then the mean and its interval over targets.
func TestNewSiteTable(t *testing.T) {
	dir := filepath.Join("..", "..", "notebooks", "results")
	page, err := os.ReadFile(filepath.Join(dir, "new-site.md"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "new-site", "pacs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	gains := map[string][]float64{} // by selection, budget and target
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var r struct {
			Run, Target string
			Adapted     map[string]struct{ Before, After float64 }
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		budget := strings.Replace(budgetOfRun.FindStringSubmatch(r.Run)[1], "pct", "%", 1)
		for name, a := range r.Adapted {
			key := name + " " + budget + " " + r.Target
			gains[key] = append(gains[key], 100*(a.After-a.Before))
		}
	}
	for _, selection := range []struct{ record, row string }{
		{"maxherding 35", "MaxHerding, 35"}, {"random 35", "random, 35"}, {"maxherding 7", "MaxHerding, 7"},
	} {
		for _, budget := range []string{"21", "1%", "5%", "20%"} {
			row := "| " + selection.row + " | " + budget + " |"
			var means []float64
			favour := 0
			for _, target := range []string{"art_painting", "cartoon", "photo", "sketch"} {
				over, err := result.Summarize(gains[selection.record+" "+budget+" "+target])
				if err != nil || over.N != 10 {
					t.Fatalf("%s%s: %d seeds, %v", row, target, over.N, err)
				}
				if over.Mean > 0 {
					favour++
				}
				means = append(means, over.Mean)
				row += fmt.Sprintf(" %+.1f |", over.Mean)
			}
			over, err := result.Summarize(means)
			if err != nil {
				t.Fatal(err)
			}
			row += fmt.Sprintf(" %d of 4 | %+.1f (%.1f to %.1f) |", favour, over.Mean, over.Low, over.High)
			if !strings.Contains(string(page), row+"\n") {
				t.Errorf("the page does not have\n%s", row)
			}
		}
	}
}
