package run_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// initialLabels runs a config and returns its queries, in rounds, by domain, and its messages.
func initialLabels(t *testing.T, c run.Config) (first []string, perDomain []map[string]int, messages string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	fatal.Get(run.Run(t.Context(), c, run.Options{Dir: dir, Backend: "go", Observe: func(e run.Event) { messages += e.Message + "\n" }}))(t)
	queries := fatal.Get(result.ReadQueries(os.DirFS(dir), result.QueriesFile))(t)
	for _, q := range queries {
		for len(perDomain) <= q.Round {
			perDomain = append(perDomain, map[string]int{})
		}
		perDomain[q.Round][q.Domain]++
		if q.Round == 0 {
			first = append(first, q.ID)
		}
	}
	return first, perDomain, messages
}

func TestInitialLabelsByAStrategy(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Authors, "schedule.timing", config.Once, "schedule.epochs", 1)
	random, _, messages := initialLabels(t, c)
	if strings.Contains(messages, "random weights") {
		t.Errorf("of uniform labels it says\n%s", messages)
	}
	seen := [][]string{random}
	for _, name := range []string{"kmeans", "maxherding"} {
		c.Exploration.Initial = name
		first, perDomain, messages := initialLabels(t, c)
		if len(first) != len(random) || len(perDomain[0]) != 3 {
			t.Errorf("%s: %d initial labels in %v, want %d in three domains", name, len(first), perDomain[0], len(random))
		}
		if slices.ContainsFunc(seen, func(s []string) bool { return slices.Equal(s, first) }) {
			t.Errorf("%s: starts from the labels of another", name)
		}
		seen = append(seen, first)
		if want := "initial labels by " + name + ": the network starts from random weights"; !strings.Contains(messages, want) {
			t.Errorf("%s: it does not say %q but\n%s", name, want, messages)
		}
	}
}

func TestQueriesAreDividedAmongDomains(t *testing.T) {
	for method, d := range map[string]active.Division{"ceg": active.Balanced, "bvsb-ce": active.ByStratum} {
		c := tiny(t, method, config.Authors, "schedule.epochs", 2)
		c.Exploration.Domains = d
		_, perDomain, _ := initialLabels(t, c)
		for round, count := range perDomain {
			of := slices.Sorted(maps.Values(count))
			if len(of) != 3 || of[2]-of[0] > 1 { // the domains of glyphs are of one size
				t.Errorf("%s: round %d asks %v", d, round, count)
			}
		}
	}
}

func TestInitialSettingsAreChecked(t *testing.T) {
	for _, s := range []struct {
		initial, want string
		domains       active.Division
	}{
		{"badge", `exploration.initial: "badge", want one of uniform, coreset, kmeans`, ""},
		{"", `exploration.domains: "half", want one of pooled, stratified`, "half"},
	} {
		c := tiny(t, "ceg", config.Authors)
		c.Exploration.Initial, c.Exploration.Domains = s.initial, s.domains
		fatal.Says(t, c.Validate(), s.want)
	}
}
