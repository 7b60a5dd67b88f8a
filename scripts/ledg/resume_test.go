package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The command that ledg prints goes on with the weights, the cache and the backend that
// the run was given, wherever it is called, and what it cannot change it refuses.
func TestResumeRemembers(t *testing.T) {
	dir := t.TempDir()
	root := flat(t)
	ledg := func(args ...string) {
		t.Helper()
		works(t, dir, args...)
	}
	ledg(tiny("a", "--method", "uniform-ce", "--epochs", "1", "--quiet", "--cache", "cache")...)
	ledg("export", "a", "--out", "w.safetensors")
	begin := []string{"train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--target", "none", "--oracle", "ask",
		"--budget", "6", "--epochs", "1", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", "cache", "--weights", "w.safetensors", "--out", "run"}
	if _, stderr, status := call(t, dir, begin...); status != 3 || !strings.Contains(stderr, "then ledg train --resume --out run continues") {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	labelAll(t, filepath.Join(dir, "run"))
	again := []string{"train", "--resume", "--out", filepath.Join(dir, "run")}
	for _, c := range []struct{ flags, want string }{
		{"--budget 9", "--budget: the run has 6, the command has 9, and a run continues with its own settings: ledg extend " + filepath.Join(dir, "run") + " --budget 9 makes a new run with its labels"},
		{"--epochs 7", "--epochs: the run has 1, the command has 7,"},
		{"--classes cat,dog,cow", `--classes: the run has ["cat","dog"], the command has ["cat","dog","cow"],`},
		{"--target night", "--target: the run has none, the command has night, and a run continues with its own settings: begin a new run"},
		{"--weights none", "--weights: the run has w.safetensors (glyphs"},
	} {
		refused(t, c.want, 2, dir, append(slices.Clone(again), strings.Fields(c.flags)...)...)
	}
	fatal.If(t, os.Rename(filepath.Join(dir, "w.safetensors"), filepath.Join(dir, "v.safetensors")))
	refused(t, "--weights: the run began with w.safetensors", 2, dir, again...)
	fatal.If(t, os.Rename(filepath.Join(dir, "v.safetensors"), filepath.Join(dir, "w.safetensors")))
	if stdout, stderr, status := call(t, t.TempDir(), again...); status != 0 || strings.Contains(stderr, "backend go") {
		t.Errorf("status %d, stdout %s, stderr %s: what computes is said once, when a run begins", status, stdout, stderr)
	}
	if p, err := result.ReadPlace(filepath.Join(dir, "run")); err != nil || p.Backend != "go" || p.Weights != filepath.Join(dir, "w.safetensors") || p.CacheDir != filepath.Join(dir, "cache") {
		t.Errorf("%+v, %v", p, err)
	}
}

// A run keeps the labels that it was given: their file may change or disappear, which is reported
// only when training continues.
func TestSpecifiedLabelsAreCopied(t *testing.T) {
	dir := t.TempDir()
	root, list, out := flat(t), filepath.Join(dir, "a list.csv"), filepath.Join(dir, "run")
	lines := "id,label\ndawn/cat 0.png,cat\nday/dog 1.png,dog\nnight/cat 2.png,cat\nnight/dog 3.png,dog\n"
	write := func(text string) {
		t.Helper()
		fatal.If(t, os.WriteFile(list, []byte(text), 0o666))
	}
	write(lines)
	begin := []string{"train", "--dataset", "folder", "--root", root, "--labels", list, "--target", "none", "--oracle", "ask", "--method", "uniform-ce",
		"--budget", "4", "--epochs", "1", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", filepath.Join(dir, "cache"), "--out", out, "--quiet"}
	works(t, dir, begin...)
	write(strings.Replace(lines, "dawn/cat 0.png,cat", "dawn/cat 0.png,dog", 1))
	use := func() {
		t.Helper()
		for _, args := range [][]string{
			{"predict", out, "--images", filepath.Join(root, "dawn"), "--out", filepath.Join(t.TempDir(), "p.csv"), "--quiet"},
			{"export", out, "--out", filepath.Join(t.TempDir(), "m.onnx")},
		} {
			works(t, dir, args...)
		}
	}
	use()
	stdout, stderr, status := call(t, dir, "train", "--resume", "--out", out, "--quiet")
	checkError(t, list+" has other labels than the run used: their digest was", 2, stdout, stderr, status)
	if want := shell.Line("ledg", "extend", out, "--labels", list) + " trains a new run with the current labels"; !strings.Contains(stderr, want) {
		t.Errorf("stderr has no %q: %s", want, stderr)
	}
	refused(t, "--labels: the run has ", 2, dir, "train", "--resume", "--out", out, "--quiet", "--labels", list)
	fatal.If(t, os.Remove(list))
	use()
	works(t, dir, "train", "--resume", "--out", out, "--quiet")
}

// Without the images that it was trained on a run predicts what it does with them, and is
// exported.
func TestUseWithoutTheImages(t *testing.T) {
	dir := t.TempDir()
	root, out := flat(t), filepath.Join(dir, "run")
	for _, domain := range []string{"dawn", "day", "night"} { // where all images have a class some are for validation
		for i := range 12 {
			class := []string{"cat", "dog"}[i%2]
			fatal.If(t, os.MkdirAll(filepath.Join(root, domain, class), 0o777))
			name := fmt.Sprintf("%s %d.png", class, i)
			fatal.If(t, os.Rename(filepath.Join(root, domain, name), filepath.Join(root, domain, class, name)))
			for k := 0; k < 21 && domain != "night"; k++ { // as many as a temperature needs
				fatal.If(t, os.Link(filepath.Join(root, domain, class, name), filepath.Join(root, domain, class, fmt.Sprint(k, " ", name))))
			}
		}
	}
	images := filepath.Join(dir, "new")
	fatal.If(t, os.CopyFS(images, os.DirFS(filepath.Join(root, "night"))))
	works(t, dir, "train", "--dataset", "folder", "--root", root, "--target", "night", "--method", "uniform-ce",
		"--budget", "8", "--epochs", "2", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", filepath.Join(dir, "cache"), "--out", out, "--quiet")
	use := func(more ...string) string {
		t.Helper()
		ledg := func(args ...string) {
			works(t, dir, append(args, more...)...)
		}
		csv := filepath.Join(t.TempDir(), "p.csv")
		ledg("predict", out, "--images", images, "--out", csv, "--quiet")
		ledg("export", out, "--out", filepath.Join(t.TempDir(), "m.onnx"))
		ledg("export", out, "--out", filepath.Join(t.TempDir(), "m.safetensors"))
		b := fatal.Get(os.ReadFile(csv))(t)
		return string(b)
	}
	prediction := use("--root", root)
	if strings.Count(prediction, "\n") != 13 {
		t.Fatal(prediction)
	}
	fatal.If(t, os.RemoveAll(root))
	again := use()
	for i, line := range strings.Split(prediction, "\n") {
		a, b := strings.Split(line, ","), strings.Split(strings.Split(again, "\n")[i], ",")
		for k := range a {
			x, err1 := strconv.ParseFloat(a[k], 64)
			y, err2 := strconv.ParseFloat(b[k], 64)
			if a[k] != b[k] && (err1 != nil || err2 != nil || math.Abs(x-y) > 1e-5) {
				t.Errorf("predicted with the images\n%s\nwithout\n%s", line, strings.Join(b, ","))
			}
		}
	}
}

// A run of people without a target and without validation images has a report, too.
func TestReportOfNothingMeasured(t *testing.T) {
	dir := t.TempDir()
	root := flat(t)
	begin := []string{"train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--target", "none", "--oracle", "ask", "--method", "uniform-ce",
		"--budget", "6", "--epochs", "1", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", "cache", "--out", "mine", "--quiet"}
	if _, stderr, status := call(t, dir, begin...); status != 3 {
		t.Fatalf("status %d, stderr %s", status, stderr)
	}
	refused(t, "mine is unfinished, so there is nothing to report: ledg train --resume --out mine continues it", 1, dir, "report", "mine", "--out", "mine.html")
	refused(t, "mine is not trained yet: ledg train --resume --out mine continues it", 1, dir, "predict", "mine", "--images", root, "--out", "p.csv")
	labelAll(t, filepath.Join(dir, "mine"))
	for _, args := range [][]string{{"train", "--resume", "--out", "mine", "--quiet"}, {"report", "mine", "--out", "mine.html"}} {
		works(t, dir, args...)
	}
	html := fatal.Get(os.ReadFile(filepath.Join(dir, "mine.html")))(t)
	for _, want := range []string{"Its accuracy is unknown", "Least confident predictions", "<span>ledg</span> <span>extend</span> <span>mine</span>"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("no %q", want)
		}
	}
}
