package main

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// NOTICE names every module that is linked, at its version, with its licence.
func TestNotice(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(ledg)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if !strings.Contains(string(data), "\n"+m.Path+" "+m.Version+" ") {
			t.Errorf("NOTICE lacks %s %s", m.Path, m.Version)
		}
	}
	for _, licence := range []string{"CC-BY-4.0", "FTL", "OFL-1.1", "The FreeType Project"} {
		if !strings.Contains(string(data), licence) {
			t.Errorf("NOTICE lacks %s", licence)
		}
	}
}
