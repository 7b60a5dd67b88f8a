package main

import (
	"debug/buildinfo"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/clothes"
	"github.com/ledg-go/ledg/datasets/emoji"
)

// The program prints the licence of every module that is linked, at its version.
func TestNotice(t *testing.T) {
	printed, stderr, status := call(t, t.TempDir(), "version", "--licences")
	if status != 0 {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	info := fatal.Get(buildinfo.ReadFile(ledg))(t)
	for _, m := range info.Deps {
		if !strings.Contains(printed, "\n"+m.Path+" "+m.Version+" ") {
			t.Errorf("it lacks %s %s", m.Path, m.Version)
		}
	}
	for data, text := range map[string]string{"emoji": emoji.Licences, "clothes": clothes.Licences} {
		if !strings.Contains(printed, text) {
			t.Errorf("it lacks datasets/%s/LICENCES", data)
		}
	}
	for _, licence := range []string{"CC-BY-4.0", "FTL", "OFL-1.1", "The FreeType Project"} {
		if !strings.Contains(printed, licence) {
			t.Errorf("it lacks %s", licence)
		}
	}
}
