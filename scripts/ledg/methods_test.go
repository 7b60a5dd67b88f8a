package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
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
	for _, m := range config.Objectives() {
		if m.Line == "" || m.Citation == "" || !known[m.Name] {
			t.Errorf("nothing is said of objective %s", m.Name)
		}
	}
	for _, s := range config.Schedules() {
		name, short := config.ScheduleName(s)
		if line := strings.Join([]string{string(s), name, short}, " "); !strings.Contains(strings.Join(strings.Fields(out.String()), " "), line) {
			t.Errorf("no line %q in\n%s", line, out.String())
		}
	}
	for _, want := range []string{
		"Random + cross-entropy, upfront                Rand+CE/up\n",
		"CEG (published schedule)                       CEG/pub\n",
		"MaxHerding + FixMatch, upfront (preset ledg)   MaxH+FM/up/ledg\n",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}
