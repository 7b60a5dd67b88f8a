package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func TestMethodsListsAll(t *testing.T) {
	var out, errs bytes.Buffer
	if status := cli.Run(t.Context(), newRootCommand(), []string{"methods"}, &out, &errs); status != 0 {
		t.Fatal(errs.String())
	}
	known := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); len(f) > 3 {
			known[f[0]] = true
		}
	}
	for _, m := range active.Registry() {
		if m.Line == "" || m.Citation == "" || !known[m.Name] {
			t.Errorf("nothing is said of strategy %s", m.Name)
		}
		if s := m.New(active.Options{}); s.Name() != m.Name {
			t.Errorf("strategy %s is called %s", m.Name, s.Name())
		}
	}
	for _, m := range objective.Methods() {
		if m.Line == "" || m.Citation == "" || !known[m.Name] {
			t.Errorf("nothing is said of objective %s", m.Name)
		}
	}
}

// TestPairsNameMethods checks that a strategy and an objective by flags are the
// method of the short form.
func TestPairsNameMethods(t *testing.T) {
	for _, c := range []struct{ strategy, objective, method string }{
		{"badge", "ceg", "badge"},
		{"badge", "erm", "badge-ce"},
		{"badge", "fixmatch", "badge+fixmatch"},
		{"ceg", "meanteacher", "ceg+meanteacher"},
	} {
		name := pairFlags{c.strategy, c.objective}.method("uniform", func(string) bool { return true })
		if name != c.method {
			t.Errorf("%s with %s is %s, want %s", c.strategy, c.objective, name, c.method)
		}
		config, err := ceg.NewConfig("glyphs", "sketch", name, ceg.Paper)
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Objective().Name; got != c.objective || config.Exploration.Strategy != c.strategy {
			t.Errorf("%s trains for %s and asks by %s", name, got, config.Exploration.Strategy)
		}
		// A strategy that looks at domains needs the domain head.
		if needs := c.strategy == "ceg"; config.Generalization.DomainLoss != needs && c.objective != "ceg" {
			t.Errorf("%s: domain head %v", name, config.Generalization.DomainLoss)
		}
	}
	if _, err := ceg.NewConfig("glyphs", "sketch", "ceg+nothing", ceg.Paper); err == nil || !strings.Contains(err.Error(), "STRATEGY+OBJECTIVE") {
		t.Errorf("error %v", err)
	}
}
