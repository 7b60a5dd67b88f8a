package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/scripts/internal/cli/clitest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ledg is the path of the program, built once from this package.
var ledg string

func TestMain(m *testing.M) { clitest.Main(m, &ledg) }

// call runs the program in a directory and returns what came of it.
func call(t *testing.T, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return clitest.Call(t, ledg, dir, args...)
}

// works runs a command that has to end with status 0, and returns what it prints.
func works(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, status := call(t, dir, args...)
	if status != 0 {
		t.Fatalf("ledg %q: status %d, %s%s", args, status, stdout, stderr)
	}
	return stdout, stderr
}

// prints runs a command that has to end with status 0 and a text on stdout.
func prints(t *testing.T, want, dir string, args ...string) {
	t.Helper()
	if stdout, stderr := works(t, dir, args...); !strings.Contains(stdout, want) {
		t.Errorf("ledg %q: no %q in\n%s%s", args, want, stdout, stderr)
	}
}

// says runs a command that has to end with status 0 and a text on stderr.
func says(t *testing.T, want, dir string, args ...string) {
	t.Helper()
	if stdout, stderr := works(t, dir, args...); !strings.Contains(stderr, want) {
		t.Errorf("ledg %q: no %q in\n%s%s", args, want, stdout, stderr)
	}
}

// refused runs a command that has to end with a status and an error of one line, see checkError.
func refused(t *testing.T, want string, wantStatus int, dir string, args ...string) {
	t.Helper()
	stdout, stderr, status := call(t, dir, args...)
	checkError(t, want, wantStatus, stdout, stderr, status)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		fatal.If(t, os.WriteFile(path, []byte(got), 0o666))
	}
	want := fatal.Get(os.ReadFile(path))(t)
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// The tables of the runs in testdata were worked out by hand; see its README.
func TestGoldenOutput(t *testing.T) {
	four := []string{"ceg-photo-1", "uniform-photo-1", "ceg-photo-2", "uniform-photo-2"}
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"eval.txt", []string{"eval", "ceg-photo-1"}},
		{"eval.json", []string{"eval", "--json", "ceg-photo-1"}},
		{"eval.csv", []string{"eval", "--format", "csv", "uniform-photo-2"}},
		{"compare-two.txt", append([]string{"compare"}, four[:2]...)},
		{"compare-four.txt", append([]string{"compare", "--baseline", "uniform"}, four...)},
		{"compare-four.csv", append([]string{"compare", "--format", "csv"}, four...)},
		{"compare-four.md", append([]string{"compare", "--format", "markdown", "--rule", "best_source_val"}, four...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, status := call(t, filepath.Join("testdata", "runs"), tt.args...)
			if status != 0 || stderr != "" {
				t.Fatalf("status %d, stderr %q", status, stderr)
			}
			golden(t, tt.name, stdout)
		})
	}
}

// Whatever is wrong, stdout stays empty, stderr has one line, and the status
// tells a wrong command line (2) from a failed command (1).
func TestErrorsAreOneLine(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"figure", "epochs", "--dir", ".", "--out", "a.svg", "--band", "sem"}, 2, `--band: band "sem", want one of ci, sd, se, none`},
		{[]string{"compare", "--format", "csv", "--baseline", "ceg", "."}, 2, "--baseline and --rule do not apply to --format csv"},
		{[]string{"evil"}, 2, `unknown command "evil" for "ledg"; did you mean eval?`},
		{[]string{"eval"}, 2, "accepts 1 arg(s), received 0"},
		{[]string{"eval", "--nope", "a"}, 2, "unknown flag: --nope"},
		{[]string{"eval", "--format", "pdf", "a"}, 2, `unknown table format "pdf"`},
		{[]string{"compare", "--baseline", "badge", "ceg-photo-1"}, 2, `--baseline "badge": none of the runs is of this method`},
		{[]string{"compare", "--rule", "best", "--baseline", "ceg", "ceg-photo-1"}, 2, `--rule "best": want last_epoch`},
		{[]string{"compare", "ceg-photo-1", "ceg-photo-1"}, 1, "are both CEG (published schedule, preset paper) on photo, seed 1"},
		{[]string{"eval", "absent"}, 1, "absent: no such file or directory"},
		{[]string{"eval", "."}, 1, ".: it is not a run's directory: open config.json: no such file"},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			stdout, stderr, status := call(t, filepath.Join("testdata", "runs"), tt.args...)
			checkError(t, tt.want, tt.status, stdout, stderr, status)
		})
	}
}

// ofOneColour are lines on the pictures of tests, many of which have one colour.
var ofOneColour = regexp.MustCompile(`(?m)^.* nearly black or of one colour\n`)

func checkError(t *testing.T, want string, wantStatus int, stdout, stderr string, status int) {
	t.Helper()
	stderr = ofOneColour.ReplaceAllString(stderr, "")
	if status != wantStatus {
		t.Errorf("status is %d, want %d", status, wantStatus)
	}
	if stdout != "" {
		t.Errorf("stdout is %q", stdout)
	}
	if !strings.HasPrefix(stderr, "ledg: ") || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		t.Errorf("stderr is not one line that begins with ledg: %q", stderr)
	}
	if !strings.Contains(stderr, want) {
		t.Errorf("stderr is %q, want %q in it", stderr, want)
	}
}

// copyRun copies the run ceg-photo-1 to a new directory, as if written by hand.
func copyRun(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	fatal.If(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "runs", "ceg-photo-1"))))
	return dir
}

// Eval believes nothing: every file is checked against the others.
func TestEvalFindsWhatDoesNotFit(t *testing.T) {
	replace := func(name, from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			data := fatal.Get(os.ReadFile(path))(t)
			changed := strings.Replace(string(data), from, to, 1)
			if changed == string(data) {
				t.Fatalf("%s has no %q", name, from)
			}
			fatal.If(t, os.WriteFile(path, []byte(changed), 0o666))
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			fatal.If(t, os.Remove(filepath.Join(dir, name)))
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*testing.T, string)
		want   string
	}{
		{"another version", replace("config.json", `"format": 1`, `"format": 9`), "config.json: it has format 9; this version of ledg reads format 1"},
		{"an older version", replace("result.json", `"format": 1`, `"format": 3`), "result.json: it has format 3; this version of ledg reads format 1"},
		{"other records", replace("records.jsonl", "[33,50]", "[34,50]"), "result.json: accuracy.last_epoch.target is 33/50, the records give 34/50"},
		{"torn records", replace("records.jsonl", `"query":0}}`+"\n{\"epoch\":3", `"query":0}}{"epoch":3`), "records.jsonl:3: "},
		{"missing records", remove("records.jsonl"), "open records.jsonl: no such file"},
		{"missing result", remove("result.json"), "open result.json: no such file"},
		{"missing queries", remove("queries.csv"), "open queries.csv: no such file"},
		{"a label too few", replace("queries.csv", "2,print/8,print,seven,0.5,0.75,0.25,1,1,1,5\n", ""), "queries.csv: 7 labels, want the 8 of result.json"},
		{"a label twice", replace("queries.csv", "print/8", "print/7"), "queries.csv: print/7 was queried twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := copyRun(t)
			tt.change(t, dir)
			stdout, stderr, status := call(t, ".", "eval", dir)
			checkError(t, tt.want, 1, stdout, stderr, status)
			if !strings.Contains(stderr, dir) {
				t.Errorf("stderr %q does not name the directory", stderr)
			}
		})
	}
}

func TestEvalUnfinished(t *testing.T) {
	dir := copyRun(t)
	records := filepath.Join(dir, "records.jsonl")
	data := fatal.Get(os.ReadFile(records))(t)
	lines := bytes.SplitAfter(data, []byte("\n"))
	torn := append(bytes.Join(lines[:2], nil), lines[2][:30]...)
	fatal.If(t, errors.Join(os.WriteFile(records, torn, 0o666), os.Remove(filepath.Join(dir, "done"))))
	stdout, stderr, status := call(t, ".", "eval", dir)
	if status != 0 || stderr != "" || !strings.Contains(stdout, "The run is unfinished: 2 epochs are recorded.") {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, stderr, stdout)
	}
	stdout, stderr, status = call(t, ".", "compare", dir)
	checkError(t, "the run is unfinished: 2 epochs are recorded", 1, stdout, stderr, status)
	fatal.If(t, os.WriteFile(records, lines[0][:30], 0o666))
	stdout, stderr, status = call(t, ".", "eval", dir)
	checkError(t, "no epoch is recorded yet", 1, stdout, stderr, status)
}

func TestVersion(t *testing.T) {
	stdout, stderr, status := call(t, ".", "version")
	if status != 0 || stderr != "" || !strings.HasPrefix(stdout, "ledg ") || !strings.Contains(stdout, "\ngo       go1.") {
		t.Errorf("status %d, stderr %q, stdout %q", status, stderr, stdout)
	}
}

// Nothing is written to standard error without a home folder, by no library either.
func TestNoHome(t *testing.T) {
	for _, env := range [][]string{{}, {"HOME="}} {
		cmd := exec.Command(ledg, "version")
		cmd.Env = env
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if out, err := cmd.Output(); err != nil || !bytes.HasPrefix(out, []byte("ledg ")) || errs.Len() > 0 {
			t.Errorf("environment %q: %v, stdout %q, stderr %q", env, err, out, errs.String())
		}
	}
}
