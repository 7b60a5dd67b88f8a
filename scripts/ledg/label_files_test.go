package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A folder that nobody has labelled goes out as a list of questions, comes back with the
// answers of two annotators, and goes out as class folders, which are a data set.
func TestLabelExportImport(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	unlabelled(t, filepath.Join(dir, "photos"))
	data := []string{"--dataset", "folder", "--root", "photos", "--classes", "cat,dog"}
	run := func(args ...string) string {
		t.Helper()
		stdout, stderr, status := call(t, dir, append([]string{"label"}, args...)...)
		if status != 0 {
			t.Fatalf("%v: status %d, %s%s", args, status, stdout, stderr)
		}
		return stdout
	}
	if got := run(append([]string{"export", "--format", "csv", "--out", "questions.csv"}, data...)...); got != "questions.csv: 6 images, 0 of them with a label\n" {
		t.Error(got)
	}
	questions, err := os.ReadFile(filepath.Join(dir, "questions.csv"))
	if err != nil || strings.Count(string(questions), "\n") != 7 {
		t.Fatalf("%v:\n%s", err, questions)
	}
	put := func(name, text string) {
		fatal.If(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	put("ann.csv", "id,label,annotator,at\nday/0.png,cat,ann,2026-01-01T00:00:00Z\nday/1.png,cat,ann,2026-01-01T00:00:01Z\nnight/0.png,dog,ann,2026-01-01T00:00:02Z\n")
	put("bob.csv", "id,label,annotator,at\nday/0.png,cat,bob,2026-01-02T00:00:00Z\nday/1.png,dog,bob,2026-01-02T00:00:01Z\nnight/0.png,dog,bob,2026-01-02T00:00:02Z\nnight/1.png,dog,bob,2026-01-02T00:00:03Z\n")
	args := append([]string{"import", "--format", "csv", "ann.csv", "bob.csv"}, data...)
	want := `7 labels read, 7 of them new; 0 known already, 0 older than their annotators' newest labels
labels.jsonl: 4 images with a label, 0 open, 0 skipped, 0 unsure, 0 bad, 0 disputed
ann and bob: 2 of 3 equal, Cohen's kappa 0.400
annotators differ about 1 image; the rule newest decides:
  day/1.png: bob says dog, ann says cat; it is dog
`
	if got := run(args...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	before := fatal.Get(os.ReadFile(filepath.Join(dir, "photos", labels.File)))(t)
	if got := run(args...); !strings.HasPrefix(got, "7 labels read, 0 of them new; 7 known already") {
		t.Error(got)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "photos", labels.File)); string(after) != string(before) {
		t.Error("the second import has changed the ledger")
	}
	if got := run(append(args, "--disagreement", "ask")...); !strings.Contains(got, "3 images with a label, 0 open, 0 skipped, 0 unsure, 0 bad, 1 disputed") {
		t.Error(got)
	}
	if got := run(append([]string{"export", "--format", "folder", "--which", "labelled", "--out", "labelled"}, data...)...); got != "labelled: 3 images, 3 of them with a label\n" {
		t.Error(got)
	}
	for _, name := range []string{"day/cat/0.png", "night/dog/0.png", "night/dog/1.png"} {
		if _, err := os.Stat(filepath.Join(dir, "labelled", name)); err != nil {
			t.Error(err)
		}
	}

	put("bad.csv", "id,label\nday/0.png,cat\nday/1.png,cow\n")
	put("out.csv", "id,label\n../../etc/passwd,cat\n")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{append([]string{"import", "--format", "csv", "--strict", "ann.csv", "bad.csv"}, data...), 1, `bad.csv:3: class "cow" is none of cat, dog`},
		{append([]string{"import", "--format", "csv", "out.csv"}, data...), 1, `out.csv:2: "../../etc/passwd" is no image of the data set`},
		{append([]string{"import", "--format", "labelstudio", "ann.csv"}, data...), 1, "as Label Studio exports them as JSON"},
		{append([]string{"import", "--format", "csv"}, data...), 2, "no file to import"},
		{append([]string{"import", "--format", "csv", "questions.csv"}, data...), 1, "questions.csv: there is no label in it; looked for rows with a class in the column label"},
		{append([]string{"export", "--format", "coco", "--out", "x"}, data...), 2, "--format coco is only imported"},
		{append([]string{"import", "--format", "excel", "ann.csv"}, data...), 2, `there is no format "excel"; choose one of csv`},
		{append([]string{"import", "ann.csv"}, data...), 2, "--format is missing"},
		{append([]string{"import", "--format", "csv", "--disagreement", "loudest", "ann.csv"}, data...), 2, "--disagreement: there is no rule"},
		{append([]string{"export", "--format", "csv", "--out", "questions.csv"}, data...), 1, "questions.csv: it exists already"},
		{append([]string{"export", "--format", "csv"}, data...), 2, "--out is missing"},
		{append([]string{"export", "--format", "csv", "--out", "x", "--which", "some"}, data...), 2, `--which "some"`},
		{[]string{"export", "--format", "csv", "--out", "x"}, 2, "no input: give a run's folder"},
		{[]string{"export", "--format", "csv", "--out", "x", "--dataset", "folder", "--root", "photos"}, 2, "--classes is missing"},
		{[]string{"export", "nowhere", "--format", "csv", "--out", "x"}, 1, "nowhere"},
	} {
		refused(t, c.want, c.status, dir, append([]string{"label"}, c.args...)...)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "photos", labels.File)); strings.Count(string(after), "\n") != strings.Count(string(before), "\n")+1 {
		t.Error("a refused import has changed the ledger")
	}
	stdout, stderr, status := call(t, dir, append([]string{"label", "import", "--format", "csv", "bad.csv", "out.csv", "--by", "cyd"}, data...)...)
	if status != 0 || !strings.HasPrefix(stdout, "1 labels read, 1 of them new") || !strings.HasSuffix(stderr, "left out (--strict stops instead): 2 labels\n"+
		"  bad.csv:3: class \"cow\" is none of cat, dog\n  out.csv:2: \"../../etc/passwd\" is no image of the data set\n") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}
