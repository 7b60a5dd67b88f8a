package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// From one run of a folder to others: more labels, another class, another domain, more
// epochs, corrected labels, an image that is gone; and what is refused.
func TestExtendCommand(t *testing.T) {
	dir := t.TempDir()
	root := flat(t)
	ledg := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		stdout, stderr, status := call(t, dir, args...)
		if status != want {
			t.Fatalf("%v: status %d, want %d; stdout %s, stderr %s", args, status, want, stdout, stderr)
		}
		return stdout, stderr
	}
	has := func(text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	res := func(run string) result.Result {
		t.Helper()
		return fatal.Get(result.ReadResult(os.DirFS(filepath.Join(dir, run)), result.ResultFile))(t)
	}
	ledg(3, "train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--target", "none", "--oracle", "ask", "--method", "uniform-ce",
		"--budget", "6", "--epochs", "1", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", "cache", "--out", "my run", "--quiet")
	_, stderr, status := call(t, dir, "extend", "my run", "--budget", "8")
	checkError(t, "my run has no labels to begin with", 1, "", stderr, status)
	labelAll(t, filepath.Join(dir, "my run"))
	stdout, stderr := ledg(3, "extend", "my run", "--budget", "8", "--quiet")
	has(stdout, "my run-2 begins with 6 labels of my run, which is unfinished (ann 6); 2 of the budget of 8 are left to query")
	has(stderr, "2 of the 2 labels before training are needed: give them in a browser with ledg label 'my run-2'")
	labelAll(t, filepath.Join(dir, "my run-2"))
	ledg(0, "train", "--resume", "--out", "my run-2", "--quiet")
	if r := res("my run-2"); r.Labels != 8 || r.Unqueried != 6 {
		t.Errorf("%+v", r)
	}

	// Corrections after the end are reported, and count in the next run.
	_, stderr = ledg(0, "train", "--resume", "--out", "my run-2")
	if strings.Contains(stderr, "have come or changed") {
		t.Error(stderr)
	}
	l := fatal.Get(labels.Open(filepath.Join(dir, "my run-2"), nil, labels.Options{}))(t)
	var first labels.Label
	l.View(func(s *labels.State) { first = s.Labels()[0] })
	fatal.Get(l.Append(labels.Event{Kind: labels.Corrected, ID: first.ID, Class: map[string]string{"cat": "dog", "dog": "cat"}[first.Class], By: "ben"}))(t)
	l.Close()
	_, stderr = ledg(0, "train", "--resume", "--out", "my run-2")
	has(stderr, "labels of 1 images have come or changed since the run ended, and it has not trained with them: ledg extend 'my run-2' makes another that does")

	// Another class, which nobody has used yet, and more epochs.
	stdout, _ = ledg(0, "extend", "my run-2", "--classes", "+cow", "--epochs", "2", "--out", "cows", "--quiet")
	has(stdout, "cows begins with 8 labels of my run-2 (ann 7, ben 1); 0 of the budget of 8 are left to query")
	if r := res("cows"); strings.Join(r.Classes, ",") != "cat,dog,cow" || r.Epochs != 2 || r.Labels != 8 {
		t.Errorf("%+v", r)
	}
	// Another domain gets a label at least, and a labelled image that is gone is named.
	more := filepath.Join(dir, "more")
	fatal.If(t, os.CopyFS(more, os.DirFS(root)))
	fatal.If(t, os.CopyFS(filepath.Join(more, "dusk"), os.DirFS(filepath.Join(root, "day"))))
	s, _ := fatal.Get2(labels.Read(os.DirFS(filepath.Join(dir, "cows")), labels.File, nil, labels.Options{}))(t)
	gone := s.Labels()[0].ID
	fatal.If(t, os.Remove(filepath.Join(more, gone)))
	stdout, stderr = ledg(3, "extend", "cows", "--root", more, "--out", "dusk", "--quiet")
	has(stdout, "dusk begins with 7 labels of cows (ann 7); 1 of the budget of 8 are left to query\n1 label dropped, of images that no longer exist: "+gone)
	has(stderr, "1 of the 1 labels before training are needed")
	l = fatal.Get(labels.Open(filepath.Join(dir, "dusk"), nil, labels.Options{}))(t)
	l.View(func(s *labels.State) {
		if open := s.OpenImages(-1); len(open) != 1 || open[0].Domain != "dusk" {
			t.Errorf("asked for %+v, want one of dusk", open)
		}
	})
	l.Close()

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--budget", "7"}, "--budget: 7 is 7 labels, and cows has 8 already"},
		{[]string{"--classes", "cat,cow"}, "--classes: cows has labels of the class dog, which is none of cat, cow"},
		{[]string{"--classes", "+dog"}, "--classes: +dog: the run has that class already"},
		{[]string{"--epochs", "0"}, `argument "0" for "--epochs" flag: want at least 1`},
		{[]string{"--out", "my run"}, "--out my run: the run exists: ledg train --resume --out 'my run' continues it"},
		{[]string{"--target", "noon"}, `--target: data set folder has no site "noon"`},
	} {
		refused(t, c.want, 2, dir, append([]string{"extend", "cows"}, c.args...)...)
	}
}

// A file of corrected labels takes the place of the one that the run was given.
func TestExtendWithCorrectedLabels(t *testing.T) {
	dir := t.TempDir()
	root := flat(t)
	var all []string
	for _, domain := range []string{"dawn", "day"} {
		for _, name := range []string{"cat 0", "dog 1", "cat 2", "dog 3", "cat 4", "dog 5"} {
			all = append(all, domain+"/"+name+".png,"+name[:3])
		}
	}
	write := func(lines []string) {
		t.Helper()
		fatal.If(t, os.WriteFile(filepath.Join(dir, "l.csv"), []byte("id,label\n"+strings.Join(lines, "\n")+"\n"), 0o666))
	}
	write(all)
	works(t, dir, "train", "--dataset", "folder", "--root", root, "--labels", "l.csv", "--target", "night", "--method", "uniform-ce",
		"--budget", "8", "--epochs", "1", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", "cache", "--out", "run", "--quiet")
	r := fatal.Get(result.OpenRun(filepath.Join(dir, "run")))(t)
	queries := fatal.Get(r.Queries())(t)
	q := queries[0]
	other := map[string]string{"cat": "dog", "dog": "cat"}[q.Class]
	for i, line := range all {
		if strings.HasPrefix(line, q.ID+",") {
			all[i] = q.ID + "," + other
		}
	}
	write(all)
	stdout, stderr, status := call(t, dir, "extend", "run", "--labels", "l.csv", "--quiet")
	if status != 0 || !strings.Contains(stdout, "run-2 begins with 8 labels of run (simulated 8)") || !strings.Contains(stdout, "1 label corrected by the data set") {
		t.Fatalf("status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	r = fatal.Get(result.OpenRun(filepath.Join(dir, "run-2")))(t)
	if queries, err := r.Queries(); err != nil || len(queries) != 8 || queries[0].ID != q.ID || queries[0].Class != other {
		t.Errorf("%v, %v: want %s to be %s", queries, err, q.ID, other)
	}
}
