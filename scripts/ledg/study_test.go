package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
)

const tinyStudy = `
name: tiny
dataset: glyphs
preset: authors
targets: [photo]
seeds: [1]
set: {schedule.epochs: 3, data.image_size: 16, network.width: 4}
runs:
  - methods: [uniform-ce, bvsb-ce]
  - methods: [uniform-ce]
    budgets: [100000]
`

var numbers = regexp.MustCompile(`\d+\.\d+% in [0-9hm]+s|ETA \S+|-[0-9a-f]{10}\b`)

// A study from the command line: it runs the possible runs, reports failures, does not repeat
// finished runs, and is the source of tables and figures.
func TestStudy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(tinyStudy), 0o666); err != nil {
		t.Fatal(err)
	}
	run := []string{"study", "run", "tiny.yaml", "--backend", "go", "--cache", "cache"}
	stdout, stderr, status := call(t, dir, append(run, "--dry-run")...)
	if status != 0 || stderr != "" || !regexp.MustCompile(`\nall +3 +(0 +){5}3\n$`).MatchString(stdout) {
		t.Errorf("dry run: status %d, stderr %q, stdout\n%s", status, stderr, stdout)
	}
	stdout, stderr, status = call(t, dir, run...)
	got := numbers.ReplaceAllString(stderr, "*")
	want := `glyphs photo, Random + cross-entropy (published schedule), 5%, seed 1: *; 1 of 3 runs, *
glyphs photo, BvSB + cross-entropy (published schedule), 5%, seed 1: *; 2 of 3 runs, *
glyphs photo, Random + cross-entropy (published schedule), 100000, seed 1: failed: exploration.budget: budget 100000 is more than the pool of 1620; 2 of 3 runs, 1 failed
ledg: 1 of 3 runs failed: ledg study status runs/tiny shows why, and the same command tries again
`
	if status != 1 || got != want {
		t.Errorf("status %d, stderr\n%s\nwant\n%s", status, got, want)
	}
	golden(t, "study-status.txt", numbers.ReplaceAllString(stdout, "*"))

	// Again: only the failed run is tried.
	again, stderr, status := call(t, dir, run...)
	if status != 1 || again != stdout || strings.Count(stderr, "\n") != 2 || !strings.Contains(stderr, "failed: exploration.budget") {
		t.Errorf("again: status %d, stderr\n%s\nstdout\n%s", status, stderr, again)
	}
	if shown, stderr, status := call(t, dir, "study", "status", "runs/tiny"); status != 0 || stderr != "" || shown != stdout {
		t.Errorf("status %d, stderr %q, stdout\n%s\nwant\n%s", status, stderr, shown, stdout)
	}
	stdout, stderr, status = call(t, dir, "table", "table3", "--dir", "runs/tiny", "--format", "csv")
	if status != 0 || stderr != "" || strings.Count(stdout, "\n") != 3 || !strings.Contains(stdout, "\ntable3,glyphs,authors,5%,last_epoch,BvSB,bvsb-ce,,photo,1,") {
		t.Errorf("table: status %d, stderr %q, stdout\n%s", status, stderr, stdout)
	}
	for _, args := range [][]string{{"a.svg", "epochs"}, {"a.png", "queried", "--count", "3", "--theme", "dark"}, {"a.html", "scores"}} {
		args = append([]string{"figure", "--dir", "runs/tiny", "--method", "bvsb-ce", "--out"}, args...)
		stdout, stderr, status = call(t, dir, args...)
		if data, err := os.ReadFile(filepath.Join(dir, args[6])); err != nil || len(data) < 1000 || status != 0 || ofCommit(stdout)+stderr != "" {
			t.Errorf("%v: status %d, stdout %q, stderr %q, %d bytes, %v", args, status, stdout, stderr, len(data), err)
		}
	}
	bvsb, _ := filepath.Glob(filepath.Join(dir, "runs", "tiny", "*-bvsb-ce-*"))
	stdout, stderr, status = call(t, dir, "figure", "queried", "--run", bvsb[0], "--count", "3", "--theme", "dark", "--out", "b.png")
	a, _ := os.ReadFile(filepath.Join(dir, "a.png"))
	if b, err := os.ReadFile(filepath.Join(dir, "b.png")); err != nil || !bytes.Equal(a, b) || status != 0 || ofCommit(stdout)+stderr != "" {
		t.Errorf("queried of the run: status %d, stdout %q, stderr %q, %d bytes, want %d, %v", status, stdout, stderr, len(b), len(a), err)
	}
}

func TestStudyErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tiny.yaml": tinyStudy, "bad.yaml": "name: bad\ndataset: glyphs\nmethods: [ceg]\nset:\n  generalization.delta: high\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"study", "run"}, 2, "accepts 1 arg(s), received 0"},
		{[]string{"study", "go"}, 2, `unknown command "go"`},
		{[]string{"study", "run", "absent.yaml"}, 1, "absent.yaml: no such file"},
		{[]string{"study", "run", "bad.yaml"}, 1, `bad.yaml:5: set.generalization.delta: "high", want a number`},
		{[]string{"study", "run", "tiny.yaml", "--jobs", "0"}, 2, `argument "0" for "--jobs" flag: want at least 1`},
		{[]string{"study", "run", "tiny.yaml", "--shard", "3/3"}, 2, `invalid argument "3/3" for "--shard" flag: want I/N with I from 0 to N-1`},
		{[]string{"study", "run", "tiny.yaml", "--shard", "3"}, 2, `invalid argument "3" for "--shard" flag: want I/N with I from 0 to N-1`},
		{[]string{"study", "run", "tiny.yaml", "--root", "cats=/x"}, 2, `there is no data set "cats"; there are`},
		{[]string{"study", "status", "empty"}, 1, "empty is not a study's folder: it has no *.study.json"},
		{[]string{"study", "status", "absent"}, 1, "absent: no such file"},
		{[]string{"table", "table3"}, 2, `required flag(s) "dir" not set`},
		{[]string{"table", "table9", "--dir", "empty"}, 2, `there is no table "table9"; there are table1,`},
		{[]string{"table", "findings", "--dir", "empty", "--method", "ceg"}, 2, "--method does not apply to the table findings"},
		{[]string{"table", "findings", "--dir", "empty"}, 1, "findings.yaml: no such file"},
		{[]string{"figure", "queried", "--out", "x.svg"}, 2, "at least one of the flags in the group [dir run] is required"},
		{[]string{"figure", "budget", "--run", "empty", "--out", "x.svg"}, 2, `there is no figure of one run "budget"; there are epochs`},
		{[]string{"figure", "queried", "--run", "empty", "--out", "x.svg"}, 1, "empty: it is not a run's directory: open config.json: no such file"},
		{[]string{"figure", "pie", "--dir", "empty", "--out", "x.svg"}, 2, `there is no figure "pie"; there are sensitivity`},
		{[]string{"figure", "epochs", "--dir", "empty", "--out", "x.jpg"}, 2, `--out x.jpg: there is no format of figures ".jpg"; there are .svg, .pdf, .png`},
		{[]string{"figure", "epochs", "--dir", "empty", "--out", "x.html"}, 2, `--out x.html: there is no format of figures ".html"; there are .svg, .pdf, .png`},
		{[]string{"figure", "tsne", "--dir", "empty", "--out", "x.jpg"}, 2, `there are .svg, .pdf, .png, .html`},
		{[]string{"figure", "epochs", "--dir", "empty", "--out", "x.svg", "--theme", "blue"}, 2, `no theme "blue"`},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			stdout, stderr, status := call(t, dir, tt.args...)
			checkError(t, tt.want, tt.status, stdout, stderr, status)
		})
	}
}

// An interrupt ends a study in an orderly way; the same command continues.
func TestStudyInterrupted(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(tinyStudy, "schedule.epochs: 3", "schedule.epochs: 1000", 1)
	if err := os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(ledg, "study", "run", "tiny.yaml", "--backend", "go", "--cache", "cache")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := false; !begun; time.Sleep(20 * time.Millisecond) {
		found, _ := filepath.Glob(filepath.Join(dir, "runs", "tiny", "*", result.RecordsFile))
		begun = len(found) > 0
	}
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	checkError(t, "interrupted with 0 runs finished and 3 left; the same command continues", 1, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode())
	shown, _, _ := call(t, dir, "study", "status", "runs/tiny")
	if !strings.Contains(shown, "glyphs    authors  Random + cross-entropy (published schedule)  5%         1         0       0          0        0            1            0") {
		t.Errorf("status is\n%s", shown)
	}
}

func TestStudyProgress(t *testing.T) {
	var b bytes.Buffer
	p := newStudyProgress(&b)
	p.width = func() int { return 60 }
	run := study.Job{PlannedRun: result.PlannedRun{Dataset: "glyphs", Target: "photo", Method: "ceg", Budget: "5%", Seed: 2, Dir: "d"},
		Config: config.Must(config.Spec{Dataset: "glyphs", Target: "photo", Method: "ceg", Preset: config.Authors})}
	progress := study.Progress{Total: 3, Finished: 1, Failed: 1, Share: 0.5, ETA: 90 * time.Minute, Known: true}
	for _, e := range []study.Event{
		{Kind: study.Started},
		{Kind: study.Training, Training: ceg.Event{Epoch: 4, Epochs: 20, Step: 1, Steps: 2}},
		{Kind: study.Training, Training: ceg.Event{Epoch: 5, Epochs: 20, Step: 1, Steps: 2}}, // too soon
		{Kind: study.Training, Training: ceg.Event{Message: "nothing of interest"}},
		{Kind: study.Busy, Err: result.ErrLocked},
		{Kind: study.Busy, Err: result.ErrLocked},
		{Kind: study.Finished},
	} {
		e.Run, e.Progress = run, progress
		p.observe(e)
	}
	want := "\r\x1b[K 50%  1 of 3 runs, 1 failed, ETA 1h30m; glyphs photo, CEG (" +
		"\r\x1b[Kglyphs photo, CEG (published schedule), 5%, seed 2: another process is working on it\n" +
		"glyphs photo, CEG (published schedule), 5%, seed 2: finished in 0s; 1 of 3 runs, 1 failed, ETA 1h30m\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	for blind, want := range map[bool]string{false: ": 62.50% by", true: ": finished by"} {
		b.Reset()
		q := newStudyProgress(&b)
		q.blind = blind
		r := new(result.Result)
		r.Accuracy.LastEpoch.TargetAccuracy, r.Accuracy.LastEpoch.Target.Total = 0.625, 8
		q.observe(study.Event{Kind: study.Finished, Run: run, Progress: progress, Result: r})
		if got := b.String(); !strings.Contains(got, want) {
			t.Errorf("blind %v: %q, want %q in it", blind, got, want)
		}
	}
}

// ofCommit is what a figure prints but for the note that this test was built with uncommitted changes.
func ofCommit(stdout string) string {
	if strings.HasPrefix(stdout, "Computed by a build with uncommitted changes: ") && strings.Count(stdout, "\n") == 1 {
		return ""
	}
	return stdout
}
