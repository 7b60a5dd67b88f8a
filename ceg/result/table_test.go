package result

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A table that holds what usually breaks one: signs that the formats use
// themselves, runes of several bytes, an empty cell, a bracket at a row's start.
func awkward() *Table {
	t := &Table{
		Title:   "Accuracy on glyphs_32 (%)",
		Columns: []Column{{Name: "method"}, {Name: "n", Right: true}, {Name: "last epoch", Right: true}, {Name: "note"}},
		Notes:   []string{"95% Student-t interval; n is the number of seeds.", "γ1 = 3\nand γ2 = 1"},
	}
	t.AddRow("ceg", "3", "71.0 ± 2.0", "a|b & c")
	t.AddRow("[uniform]", "12", "60.0 ± 1.5", "")
	t.Rows[0][2].Bold = true
	return t
}

func TestTableGolden(t *testing.T) {
	for _, format := range []TableFormat{Text, Markdown, CSV, LaTeX, HTML} {
		var b strings.Builder
		fatal.If(t, awkward().Write(&b, format))
		path := filepath.Join("testdata", "table."+format.String())
		if *update {
			fatal.If(t, os.WriteFile(path, []byte(b.String()), 0o666))
		}
		want := fatal.Get(os.ReadFile(path))(t)
		if b.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", path, b.String(), want)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	table := awkward()
	table.AddRow("short")
	var b strings.Builder
	if err := table.Write(&b, Text); err == nil || b.Len() > 0 {
		t.Errorf("a row with a missing cell: error %v, wrote %q", err, b.String())
	}
	if err := awkward().Write(&b, TableFormat(9)); err == nil || b.Len() > 0 {
		t.Errorf("an unknown format: error %v, wrote %q", err, b.String())
	}
	if err := awkward().Write(full{}, CSV); !errors.Is(err, errFull) {
		t.Errorf("a full disk: error %v", err)
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestParseTableFormat(t *testing.T) {
	for _, f := range []TableFormat{Text, Markdown, CSV, LaTeX, HTML} {
		if got, err := ParseTableFormat(f.String()); err != nil || got != f {
			t.Errorf("ParseTableFormat(%q) = %v, %v", f, got, err)
		}
	}
	if f, err := ParseTableFormat("word"); err == nil {
		t.Errorf("word is %v", f)
	}
}
