package run_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
	"github.com/ledg-go/ledg/datasets/regular"
)

// childEnv makes the test binary run a config in a directory and print a line
// for every event, so that a test can kill it at a chosen moment.
const childEnv = "LEDG_TEST_CHILD"

// childBackendEnv is what it computes with instead of Go.
const childBackendEnv = "LEDG_TEST_CHILD_BACKEND"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	raw, err := os.ReadFile(dir + ".json")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var c run.Config
	if err := json.Unmarshal(raw, &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	out := bufio.NewWriter(os.Stdout)
	_, err = run.Run(context.Background(), c, run.Options{Dir: dir, Resume: true, Backend: cmp.Or(os.Getenv(childBackendEnv), "go"), Observe: func(e run.Event) {
		if e.Done {
			fmt.Fprintf(out, "epoch %d done\n", e.Epoch)
		} else {
			fmt.Fprintf(out, "epoch %d step %d\n", e.Epoch, e.Step)
		}
		out.Flush()
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// edited checks that the run of a config, in o.Dir, does not go on once its config.json
// says something else.
func edited(t *testing.T, c run.Config, o run.Options) {
	t.Helper()
	path := filepath.Join(o.Dir, result.ConfigFile)
	was := fatal.Get(os.ReadFile(path))(t)
	for setting, value := range map[string]any{"seed": 7, "generalization.tau": 0.5, "optimizer.momentum": 0.5,
		"exploration.strategy": "entropy", "generalization.objective": "meanteacher"} {
		s := fatal.Get(config.Lookup(setting))(t)
		other := fatal.Get(s.With(c, value))(t)
		fatal.If(t, regular.WriteFile(path, func(w io.Writer) error { return result.WriteConfig(w, other) }))
		fatal.Says(t, fatal.Err(run.Run(t.Context(), other, o)), "the run was made with "+setting+" ")
	}
	fatal.If(t, os.WriteFile(path, was, 0o644))
}

var (
	timeFields = regexp.MustCompile(`"time":\{[^}]*\}`)
	// sealed is the digest of a checkpoint's content, and the padding behind its header.
	sealed = regexp.MustCompile(`"sha256":"[^"]*"|\]\}\} *`)
)

// outcome reads what a repeated run must reproduce to the byte.
func outcome(t *testing.T, dir string) map[string]string {
	t.Helper()
	fsys := os.DirFS(dir)
	if !result.Finished(fsys) {
		t.Fatalf("%s is not finished", dir)
	}
	r := fatal.Get(result.ReadResult(fsys, result.ResultFile))(t)
	untimed := fatal.Get(r.Untimed())(t)
	files := map[string]string{"result.json": string(untimed)}
	for _, name := range []string{result.QueriesFile, result.RecordsFile, result.ConfigFile, checkpoint.File} {
		b := fatal.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		files[name] = string(b)
	}
	files[result.RecordsFile] = timeFields.ReplaceAllString(files[result.RecordsFile], "")
	// The checkpoint counts the bytes of records.jsonl, in which times differ, and has the
	// config, in which people answer or do not.
	if i := strings.Index(files[checkpoint.File], `"written`); i > 0 {
		_, tensors, _ := strings.Cut(files[checkpoint.File][i:], "}")
		files[checkpoint.File] = sealed.ReplaceAllString(tensors, "")
	}
	return files
}

func TestKilledRunsEndAsIfTheyHadNot(t *testing.T) {
	exe := fatal.Get(os.Executable())(t)
	for _, run := range []struct {
		method string
		preset config.Preset
	}{{"ceg", config.Authors}, {"ceg", config.Paper}, {"ceg+meanteacher", config.Paper}, {"uniform+crossgrad", config.Paper}} {
		t.Run(fmt.Sprint(run.method, " ", run.preset), func(t *testing.T) {
			if run.preset != config.Authors {
				testall.Need(t, "a dozen runs are killed")
			}
			c := tiny(t, run.method, run.preset)
			raw := fatal.Get(json.Marshal(c))(t)
			// start runs the child on dir and kills it when a line of its output
			// matches; it returns false when the child has come to its end.
			start := func(dir, killAt string) bool {
				t.Helper()
				fatal.If(t, os.WriteFile(dir+".json", raw, 0o644))
				cmd := exec.Command(exe)
				cmd.Env = append(os.Environ(), childEnv+"="+dir)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				fatal.If(t, cmd.Start())
				killed := false
				for lines := bufio.NewScanner(out); lines.Scan(); {
					if killAt != "" && lines.Text() == killAt {
						killed = true
						cmd.Process.Kill()
						break
					}
				}
				err = cmd.Wait()
				if !killed && err != nil {
					t.Fatalf("%v: %s", err, stderr.String())
				}
				return killed
			}
			whole := filepath.Join(t.TempDir(), "whole")
			start(whole, "")
			want := outcome(t, whole)
			if !strings.Contains(want["queries.csv"], "\n1,") {
				t.Fatal("the run asks nothing")
			}

			for _, moments := range [][]string{
				{"epoch 0 step 1"},                                    // before the first epoch is recorded
				{"epoch 0 done", "epoch 1 step 20"},                   // around a checkpoint, and twice
				{"epoch 2 step 1", "epoch 3 step 29", "epoch 3 done"}, // in and after the last query
			} {
				dir := filepath.Join(t.TempDir(), "killed")
				kills := 0
				for _, m := range moments {
					if start(dir, m) {
						kills++
					}
				}
				if kills < len(moments) {
					t.Errorf("%q: killed %d times", moments, kills)
				}
				start(dir, "")
				got := outcome(t, dir)
				for name, w := range want {
					if got[name] != w {
						t.Errorf("killed at %q: %s differs from that of the run that was not", moments[:kills], name)
					}
				}
			}
		})
	}
}

func TestResumeRefusesAnotherConfigAndDamage(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Paper)
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	o := run.Options{Dir: dir, Backend: "go", Resume: true, Observe: func(e run.Event) {
		if e.Epoch == 1 {
			cancel()
		}
	}}
	if _, err := run.Run(ctx, c, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want the cancellation", err)
	}
	o.Observe = nil
	other := c
	other.Seed = 2
	if _, err := run.Run(t.Context(), other, o); !errors.Is(err, result.ErrForeign) {
		t.Errorf("another seed: got %v, want ErrForeign", err)
	}
	o.Resume = false
	if _, err := run.Run(t.Context(), c, o); !errors.Is(err, result.ErrUnfinished) {
		t.Errorf("without Resume: got %v, want ErrUnfinished", err)
	}
	o.Resume = true
	path := filepath.Join(dir, checkpoint.File)
	whole := fatal.Get(os.ReadFile(path))(t)
	fatal.If(t, os.WriteFile(path, whole[:len(whole)/2], 0o644))
	fatal.Says(t, fatal.Err(run.Run(t.Context(), c, o)), checkpoint.File)
	fatal.If(t, os.WriteFile(path, whole, 0o644))
	edited(t, c, o)
	r := fatal.Get(run.Run(t.Context(), c, o))(t)
	edited(t, c, o)
	again := fatal.Get(run.Run(t.Context(), c, o))(t)
	if a, b := r.Accuracy.LastEpoch, again.Accuracy.LastEpoch; a != b {
		t.Errorf("a finished run returns %v, it ended with %v", b, a)
	}
}
