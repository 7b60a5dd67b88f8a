package run_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/plots/tsne"
)

// runOn runs a config on a backend and returns what a repeated run must reproduce.
func runOn(t *testing.T, c run.Config, o run.Options) map[string]string {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "run")
	}
	fatal.Get(run.Run(t.Context(), c, o))(t)
	return outcome(t, o.Dir)
}

// same fails the test where two outcomes differ.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

// On XLA, too, a run is a function of its config: it ends with the same bytes when it is repeated, killed and resumed,
// when other runs compute beside it on other devices of the same plugin, and when the plugin's file is deleted meanwhile.
func TestRunsOnXLAAreReproducible(t *testing.T) {
	spec := enginetest.XLA(t)
	c := tiny(t, "ceg", config.Authors)
	dir := filepath.Join(t.TempDir(), "whole")
	whole := runOn(t, c, run.Options{Dir: dir, Backend: spec})
	r := fatal.Get(result.ReadResult(os.DirFS(dir), result.ResultFile))(t)
	if e := r.Engines; len(e) != 1 || e[0].Backend != "xla:cpu" || len(e[0].PluginSHA256) != 64 || e[0].PluginAPI == "" || e[0].Hardware == "" || e[0].Software == "" {
		t.Errorf("the result names the engines %+v", e)
	}

	t.Run("killed", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "killed")
		raw := fatal.Get(json.Marshal(c))(t)
		fatal.If(t, os.WriteFile(dir+".json", raw, 0o644))
		for _, at := range []string{"epoch 1 step 2", "epoch 2 done", ""} {
			if err := killAt(dir, spec, at); err != nil {
				t.Fatalf("killed at %q: %v", at, err)
			}
		}
		same(t, "killed and resumed", outcome(t, dir), whole)
	})
	t.Run("plugin deleted", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), filepath.Base(os.Getenv(enginetest.XLAVariable)))
		fatal.If(t, copyFile(os.Getenv(enginetest.XLAVariable), file))
		deleted := false
		got := runOn(t, c, run.Options{Backend: "xla:" + file, Observe: func(e run.Event) {
			if e.Done && !deleted {
				deleted = true
				if err := os.Remove(file); err != nil {
					t.Error(err)
				}
			}
		}})
		if !deleted {
			t.Error("the plugin is still there")
		}
		same(t, "its plugin deleted", got, whole)
	})
}

// killAt runs the child on dir and kills it when it prints a line; without one it has to come to its end.
func killAt(dir, backend, line string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+dir, childBackendEnv+"="+backend)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	killed := false
	for lines := bufio.NewScanner(out); !killed && lines.Scan(); {
		if line != "" && lines.Text() == line {
			killed = true
			cmd.Process.Kill()
		}
	}
	err = cmd.Wait()
	switch {
	case line == "" && err != nil:
		return fmt.Errorf("%w: %s", err, stderr.String())
	case line != "" && !killed:
		return fmt.Errorf("it never came there: %v: %s", err, stderr.String())
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// What a run on XLA has learned can be embedded on XLA and on Go, to nearly the same features, and makes a map.
func TestEmbeddingOnXLA(t *testing.T) {
	spec := enginetest.XLA(t)
	dir := stopAfter(t, tiny(t, "ceg", config.Authors), run.Options{Backend: spec}, 1)
	e := fatal.Get(run.Embed(t.Context(), run.Options{Dir: dir, Backend: spec}))(t)
	other := fatal.Get(run.Embed(t.Context(), run.Options{Dir: dir, Backend: "go"}))(t)
	largest := float32(0)
	for i, v := range e.Features.Data {
		largest = max(largest, v)
		if d := v - other.Features.Data[i]; d > 1e-4 || d < -1e-4 {
			t.Fatalf("feature %d is %v on XLA, %v on Go", i, v, other.Features.Data[i])
		}
	}
	if largest == 0 {
		t.Error("all features are zero")
	}
	const rows = 200
	x := blas32.General{Rows: rows, Cols: e.Features.Cols, Stride: e.Features.Stride, Data: e.Features.Data}
	y := fatal.Get(tsne.Embed(t.Context(), x, 30, 1))(t)
	if y.Rows != rows || y.Cols != 2 {
		t.Errorf("the map is %dx%d", y.Rows, y.Cols)
	}
}

// A run in bfloat16 learns and is reproducible.
func TestBFloat16OnXLA(t *testing.T) {
	spec := enginetest.XLA(t)
	c := tiny(t, "uniform", config.Authors, "schedule.epochs", 2)
	c.Network.Precision = config.BFloat16
	first := runOn(t, c, run.Options{Backend: spec})
	same(t, "repeated", runOn(t, c, run.Options{Backend: spec}), first)
	c.Network.Precision = config.Float32
	if runOn(t, c, run.Options{Backend: spec})[checkpoint.File] == first[checkpoint.File] {
		t.Error("bfloat16 has the weights of float32")
	}
}
