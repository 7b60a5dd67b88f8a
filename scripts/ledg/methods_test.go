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
}
