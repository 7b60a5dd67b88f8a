package labels

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	query(t, l, 0, "1", "2", "3", "4")
	must[[]Event](t)(l.Append(labelled("2", "dog", "ann"), Event{Kind: Unsure, ID: "3", Class: "cat"}, Event{Kind: Bad, ID: "1"}, Event{Kind: None, ID: "4"}))
	list := must[[]datasets.Label](t)(ReadFile(l.Path()))
	if len(list) != 3 || list[0] != (datasets.Label{ID: "2", Class: "dog", Where: l.Path() + ":5"}) || list[2].Class != datasets.NoneOfThese {
		t.Errorf("labels %+v", list)
	}
	twice := append([]datasets.Label{{ID: "2", Class: "dog"}}, list[2], list[1], list[0])
	if a := Digest(list); a != Digest(twice) || a == Digest(list[:1]) || len(a) != 64 {
		t.Errorf("digest %s", a)
	}
	path := filepath.Join(dir, "other.jsonl")
	fatal.If(t, os.WriteFile(path, []byte(`{"id":"1","label":"cat"}`), 0o666))
	if list := must[[]datasets.Label](t)(ReadFile(path)); len(list) != 1 {
		t.Errorf("labels %+v", list)
	}
	fatal.If(t, os.WriteFile(l.Path(), []byte(`{"n":1,"event":"odd"}`+"\n"), 0o666))
	_, err := ReadFile(l.Path())
	wantError(t, err, File+":1:")
	_, err = ReadFile(filepath.Join(dir, "none.jsonl"))
	wantError(t, err, "none.jsonl")
}
