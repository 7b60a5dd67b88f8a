package site_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// Every emoji occurs in all four styles, so a target's image can show an emoji that was labelled
// in another style. The test writes the accuracy on both kinds of target images, averaged over
// targets and pools, to the file that LEDG_COVERAGE names.
func TestPairedEmoji(t *testing.T) {
	testall.Need(t, "it trains three runs, and 72 with LEDG_COVERAGE")
	pools, targets, budgets := 1, 1, []string{"48"}
	if os.Getenv("LEDG_COVERAGE") != "" {
		pools, targets, budgets = 3, 4, []string{"48", "20%"}
	}
	root := filepath.Join("..", "..", "datasets", "emoji", "lite0.npz")
	all, classes, domains := features(t, root)
	arms := []struct {
		name, method, initial string
		preset                config.Preset
		epochs                int
	}{
		{"MaxHerding + FixMatch, upfront (preset ledg)", "fixmatch", "maxherding", config.Ledg, 20},
		{"MaxHerding + logistic regression, upfront", "logistic", "maxherding", config.Authors, 1},
		{"Random + logistic regression, upfront", "logistic", "uniform", config.Authors, 1},
	}
	var table strings.Builder
	table.WriteString("method,budget,all,labelled emoji,other emoji,share of labelled emoji,runs\n")
	for _, budget := range budgets {
		for _, arm := range arms {
			var sum [4]float64
			runs := 0
			for target, name := range domains[:targets] {
				for seed := range pools {
					c := configtest.New(t, "features", name, arm.method, arm.preset, "exploration.budget", budget,
						"exploration.initial", arm.initial, "schedule.epochs", arm.epochs, "schedule.timing", "once",
						"data.normalise", "root", "data.pool_share", 0.8, "seed", uint64(51+seed))
					o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go"}
					fatal.Get(run.Run(t.Context(), c, o))(t)
					right := hits(t, o.Dir, all, classes, target)
					for k, v := range right {
						sum[k] += v
					}
					runs++
				}
			}
			n := float64(runs)
			fmt.Fprintf(&table, "%q,%s,%.1f,%.1f,%.1f,%.1f,%d\n", arm.name, budget, 100*sum[0]/n, 100*sum[1]/n, 100*sum[2]/n, 100*sum[3]/n, runs)
			if sum[1] < sum[2]+0.1*n {
				t.Errorf("%s with %s: %.1f%% on labelled emoji, %.1f%% on others, want 10 points between them", arm.name, budget, 100*sum[1]/n, 100*sum[2]/n)
			}
		}
	}
	t.Logf("\n%s", table.String())
	if to := os.Getenv("LEDG_COVERAGE"); to != "" {
		if err := os.WriteFile(filepath.Clean(to), []byte(table.String()), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// hits returns the accuracy of the run in dir on all images of the target domain, on those of
// emoji that it queried in another style, and on the others, and the share of the former.
func hits(t *testing.T, dir string, all site.Part, classes []string, target int) [4]float64 {
	t.Helper()
	file := fatal.Get(os.Open(filepath.Join(dir, "queries.csv")))(t)
	defer file.Close()
	queries := fatal.Get(csv.NewReader(file).ReadAll())(t)
	labelled := map[string]bool{}
	for _, q := range queries[1:] {
		labelled[path.Base(q[1])] = true
	}
	p := fatal.Get(predict.OpenWith(run.Options{Dir: dir, Backend: "go"}))(t)
	defer p.Close()
	from := fatal.Get(p.Sources(t.Context(), 0))(t)
	var right, of [2]float64
	for i, d := range all.Domains {
		if d != target {
			continue
		}
		row := all.Take([]int{i})
		p.Model.Scaler.Apply(site.Row(row.Features, 0))
		z := site.Row(from.Own.Logits(row.Features), 0)
		best := 0
		for k := range classes {
			if z[k] > z[best] {
				best = k
			}
		}
		kind := 1
		if labelled[path.Base(all.IDs[i])] {
			kind = 0
		}
		if of[kind]++; best == all.Classes[i] {
			right[kind]++
		}
	}
	n := of[0] + of[1]
	return [4]float64{(right[0] + right[1]) / n, right[0] / of[0], right[1] / of[1], of[0] / n}
}
