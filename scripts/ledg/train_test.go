package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// tiny is a run of a second or two, of CEG unless the flags name another method.
func tiny(out string, more ...string) []string {
	if !slices.ContainsFunc(more, func(arg string) bool {
		return slices.Contains([]string{"--preset", "--method", "--strategy", "--objective", "--initial", "--timing", "--protocol", "--config"}, arg)
	}) {
		more = append([]string{"--method", "ceg"}, more...)
	}
	return append([]string{"train", "--target", "sketch", "--width", "4", "--image-size", "16", "--epochs", "3", "--set", "data.pool_share=0.4",
		"--backend", "go", "--out", out}, more...)
}

// untimed reads the run's result.json without its timing.
func untimed(t *testing.T, dir string) string {
	t.Helper()
	r := fatal.Get(result.ReadResult(os.DirFS(dir), result.ResultFile))(t)
	data := fatal.Get(r.Untimed())(t)
	return string(data)
}

// One run from the command line, what it prints, and what later commands make of
// its folder.
func TestTrain(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "run")
	args := tiny(out, "--json", "--cache", filepath.Join(dir, "cache"))
	stdout, stderr, status := call(t, dir, args...)
	if status != 0 {
		t.Fatalf("status %d, stderr\n%s", status, stderr)
	}
	var r result.Result
	if err := result.Decode([]byte(stdout), &r); err != nil || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("stdout is not one line with a result: %v\n%s", err, stdout)
	}
	if r.Method != "ceg" || r.Dataset != "glyphs" || r.Target != "sketch" || r.Preset != "authors" || r.Seed != 1 || r.Epochs != 3 || r.Labels < r.Budget-1 {
		t.Errorf("the result is %+v", r)
	}
	for _, epoch := range []string{"epoch 1/3  loss ", "epoch 3/3  loss "} {
		if strings.Count(stderr, epoch) != 1 {
			t.Errorf("stderr has no line with %q:\n%s", epoch, stderr)
		}
	}
	if strings.Contains(stderr, "\r") {
		t.Errorf("stderr has a progress bar though it is no terminal: %q", stderr)
	}

	// Finished: resuming gives the result again, anything else refuses.
	again, _, status := call(t, dir, append(slices.Clone(args), "--resume", "--quiet")...)
	if status != 0 || again != stdout {
		t.Errorf("--resume of a finished run: status %d, stdout\n%s\nwant\n%s", status, again, stdout)
	}
	refused(t, "the directory holds a finished run: ledg eval "+out+" shows it", 1, dir, args...)
	refused(t, "--seed: the run has 1, the command has 2, and a run continues with its own settings: begin a new run with another --out", 2, dir, append(slices.Clone(args), "--resume", "--seed", "2")...)

	// Its config makes the same run again.
	same := filepath.Join(dir, "same")
	_, stderr, status = call(t, dir, "train", "--config", filepath.Join(out, "config.json"), "--backend", "go", "--out", same, "--quiet")
	if status != 0 || stderr != "" || untimed(t, same) != untimed(t, out) {
		t.Errorf("made again: status %d, stderr %q, result\n%s\nwant\n%s", status, stderr, untimed(t, same), untimed(t, out))
	}

	// Without --json the table of ledg eval comes out.
	other := filepath.Join(dir, "uniform")
	stdout, stderr, status = call(t, dir, tiny(other, "--method", "uniform-ce", "--quiet", "--cache", filepath.Join(dir, "cache"))...)
	table, _, _ := call(t, dir, "eval", other)
	if status != 0 || stderr != "" || stdout != table {
		t.Errorf("status %d, stderr %q, stdout\n%s\nwant\n%s", status, stderr, stdout, table)
	}
	prints(t, "Random + cross-entropy, upfront", dir, "compare", out, other)
	// Equal seeds start from equal labels, whatever the method.
	if a, b := firstLabels(t, out), firstLabels(t, other); !slices.Equal(a, b) {
		t.Errorf("starting labels differ:\n%q\n%q", a, b)
	}
}

// The weights that a run started from are in its tables, by name and digest, and
// it can only be made again with them.
func TestTrainFromWeights(t *testing.T) {
	dir := t.TempDir()
	ledg := func(args ...string) string {
		t.Helper()
		stdout, stderr, status := call(t, dir, args...)
		if status != 0 {
			t.Fatalf("%v: status %d, stderr %s", args, status, stderr)
		}
		return stdout
	}
	more := []string{"--method", "uniform-ce", "--quiet", "--cache", "cache"}
	ledg(tiny("a", more...)...)
	exported := ledg("export", "a", "--out", "w.safetensors")
	ledg(tiny("b", append(more, "--weights", "w.safetensors")...)...)
	_, sum, _ := strings.Cut(strings.TrimSpace(exported), "sha256 ")
	want := "w.safetensors (sha256 " + sum[:12] + ")"
	if table := ledg("eval", "b"); !strings.Contains(table, "The network started from "+want+".\n") {
		t.Errorf("eval does not name the weights %s:\n%s", want, table)
	}
	if table := ledg("compare", "b"); !strings.Contains(table, ", weights "+want+",") {
		t.Errorf("compare does not name the weights %s:\n%s", want, table)
	}
	both := ledg("compare", "a", "b", "--baseline", "uniform-ce, weights none")
	for _, name := range []string{"Random + cross-entropy, upfront, weights none ", "Random + cross-entropy, upfront, weights " + want} {
		if !strings.Contains(both, name) {
			t.Errorf("compare does not tell %q apart:\n%s", name, both)
		}
	}
	again := []string{"train", "--config", "b/config.json", "--backend", "go", "--quiet", "--cache", "cache", "--out", "c"}
	refused(t, "--weights: the run began with w.safetensors (glyphs (", 2, dir, again...)
	ledg(append(again, "--weights", "w.safetensors")...)
	if got, want := untimed(t, filepath.Join(dir, "c")), untimed(t, filepath.Join(dir, "b")); got != want {
		t.Errorf("made again from the weights:\n%s\nwant\n%s", got, want)
	}
}

// firstLabels returns the IDs of a run's round 0.
func firstLabels(t *testing.T, dir string) []string {
	t.Helper()
	queries := fatal.Get(result.ReadQueries(os.DirFS(dir), result.QueriesFile))(t)
	var ids []string
	for _, q := range queries {
		if q.Round == 0 {
			ids = append(ids, q.ID)
		}
	}
	if len(ids) == 0 {
		t.Fatalf("%s has no starting labels", dir)
	}
	return ids
}

// A run that is interrupted with Ctrl-C says how to go on, and going on gives
// what an undisturbed run gives.
func TestTrainInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows cannot send an interrupt to one process")
	}
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	whole, halved := filepath.Join(dir, "whole"), filepath.Join(dir, "halved")
	works(t, dir, tiny(whole, "--epochs", "6", "--quiet", "--cache", cache)...)

	cmd := exec.Command(ledg, tiny(halved, "--epochs", "6", "--cache", cache)...)
	cmd.Dir = dir
	pipe := fatal.Get(cmd.StderrPipe())(t)
	fatal.If(t, cmd.Start())
	var last string
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		last = lines.Text()
		if strings.HasPrefix(last, "epoch 2/6") {
			fatal.If(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 1 || last != "ledg: interrupted; ledg train --resume --out "+halved+" continues the run" {
		t.Fatalf("status %d, last line %q", status, last)
	}
	if _, err := os.Stat(filepath.Join(halved, result.DoneFile)); err == nil {
		t.Fatal("an interrupted run counts as finished")
	}
	refused(t, "the directory holds an unfinished run: --resume continues it", 1, dir, tiny(halved, "--epochs", "6", "--cache", cache)...)

	works(t, dir, tiny(halved, "--epochs", "6", "--cache", cache, "--resume", "--json")...)
	if got, want := untimed(t, halved), untimed(t, whole); got != want {
		t.Errorf("the resumed run's result is\n%s\nwant\n%s", got, want)
	}
	for _, name := range []string{result.QueriesFile, result.ConfigFile} {
		a, errA := os.ReadFile(filepath.Join(whole, name))
		b, errB := os.ReadFile(filepath.Join(halved, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs after resuming (%v, %v)", name, errA, errB)
		}
	}
}

func TestTrainErrors(t *testing.T) {
	dir := t.TempDir()
	root := photoFolder(t)
	fatal.If(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	fatal.If(t, os.Mkdir(filepath.Join(dir, "thesis"), 0o777))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "thesis", "main.tex"), nil, 0o666))
	fatal.If(t, os.Mkdir(filepath.Join(dir, "future"), 0o777))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "future", "config.json"), []byte(`{"format": 9}`), 0o666))
	config, _ := filepath.Abs(filepath.Join("..", "..", "notebooks", "results", "glyphs", "glyphs-sketch-ceg-authors-5pct-s1-e12e2afbff", "config.json"))
	weights, _ := filepath.Abs(filepath.Join("..", "..", "ceg", "nets", "weights", "testdata", "tiny.safetensors"))
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"no target", []string{"train"}, 2, "--target: missing: the domain that is held out"},
		{"no number", tiny("x", "--seed", "one"), 2, "--seed: one, want a whole number"},
		{"config and settings", []string{"train", "--config", config, "--seed", "2"}, 2, "a run continues with its own settings"},
		{"no config", []string{"train", "--config", "x/config.json"}, 1, "--config x/config.json: open config.json: no such file"},
		{"other weights", []string{"train", "--config", config, "--weights", weights}, 2, "--weights: the run began with none, these are tiny.safetensors"},
		{"unknown target", []string{"train", "--target", "oil"}, 2, `--target: data set glyphs has no domain "oil"; it has cartoon, photo, print, sketch`},
		{"unknown method", tiny("x", "--method", "cge"), 2, `--method: "cge": no such method; did you mean ceg?`},
		{"unknown backend", tiny("x", "--backend", "tpu"), 2, "tpu"},
		{"no epochs", tiny("x", "--epochs", "0"), 2, "--epochs: 0, want at least 1"},
		{"width of imagenet", tiny("x", "--net", "resnet18", "--weights", "imagenet"), 2, `--width 4 and --weights "imagenet" contradict each other`},
		{"config and precision", []string{"train", "--config", config, "--precision", "bfloat16"}, 2, "has tf32, and a run continues with"},
		{"budget above the pool", tiny("x", "--budget", "5000"), 2, "--budget: budget 5000 is more than the pool of 648"},
		{"root of glyphs", tiny("x", "--root", root), 2, "glyphs is drawn, not read"},
		{"no root", tiny("x", "--dataset", "folder"), 2, "--root is missing"},
		{"no classes", []string{"train", "--dataset", "folder", "--root", root, "--layout", "{site}/**/{name}"}, 2, "for example: ledg train --dataset folder --root photos --classes cat,dog"},
		{"out is a file", tiny("file"), 1, "file"},
		{"out is something else", tiny("thesis"), 1, "thesis has main.tex but no config.json; choose another --out"},
		{"out is of another version", tiny("future", "--resume"), 1, "config.json: it has format 9; this version of ledg reads format 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, tt.want, tt.status, dir, append(tt.args, "--quiet")...)
		})
	}
}

// With --strict a truncated image stops a run with its name, and leaves a folder in which the
// same command begins once the image is whole.
func TestTrainTruncatedImage(t *testing.T) {
	dir, root := t.TempDir(), photoFolder(t)
	broken := filepath.Join(root, "day", "dog", "2.png")
	image := fatal.Get(os.ReadFile(broken))(t)
	fatal.If(t, os.Truncate(broken, 40))
	args := []string{"train", "--dataset", "folder", "--root", root, "--target", "night", "--budget", "3", "--epochs", "1",
		"--width", "4", "--image-size", "16", "--backend", "go", "--out", "run", "--cache", "cache", "--quiet", "--json", "--strict"}
	refused(t, "day/dog/2.png", 1, dir, args...)
	fatal.If(t, os.WriteFile(broken, image, 0o666))
	stdout, stderr, status := call(t, dir, args...)
	var r result.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 || r.Labels != 3 {
		t.Errorf("status %d, stderr %q, stdout %q, %v", status, stderr, stdout, err)
	}
}

// Without a target there is an estimate all the same: of the labels, each domain left out.
func TestTrainEstimates(t *testing.T) {
	dir := t.TempDir()
	file := embeddingtest.Glyphs(t, 3)
	stdout, stderr, status := call(t, dir, "train", "--preset", "ledg", "--dataset", "features", "--root", file, "--target", "none", "--budget", "60", "--epochs", "2", "--out", "run", "--backend", "go", "--quiet")
	if status != 0 || !strings.Contains(stdout, "Estimated accuracy, from 60 labels, by the run's training (fixmatch) repeated without the tested images") || !strings.Contains(stdout, "each of the 4 sites left out in turn") || strings.Contains(stdout, "95%") || !strings.Contains(stdout, "chosen by maxherding and are no random sample") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	// Nothing is said of a target, and the cross-validated labels calibrate the run.
	if c, err := calibration.Read(filepath.Join(dir, "run")); err != nil || !c.CrossValidated || c.Source.Images != 60 || strings.Contains(stdout, "oracle") || strings.Contains(stdout, "target accuracy") || strings.Contains(stdout, "no target domain") || strings.Contains(stdout, "agrees") {
		t.Errorf("%+v, %v\n%s", c, err, stdout)
	}
	if stdout, stderr, status := call(t, dir, "compare", "run"); status != 0 || strings.Contains(stdout, "oracle") || !strings.HasPrefix(stdout, "Accuracy on source validation images, %") {
		t.Errorf("compare: status %d: %s%s", status, stdout, stderr)
	}
	stdout, stderr, status = call(t, dir, "train", "--preset", "ledg", "--dataset", "features", "--root", file, "--target", "photo", "--budget", "60", "--epochs", "2", "--out", "other", "--backend", "go", "--quiet")
	if status != 0 || strings.Contains(stdout, "Estimated") {
		t.Errorf("with a target, status %d: %s%s", status, stdout, stderr)
	}
}
