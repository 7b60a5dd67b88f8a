package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/scripts/internal/cli/clitest"
)

// program is the path of the program, built once from this package.
var program string

func TestMain(m *testing.M) { clitest.Main(m, &program) }

// A benchmark ends on the first signal, between two steps.
func TestEndsOnASignal(t *testing.T) {
	cmd := exec.Command(program, "--width", "4", "--size", "16", "--steps", "1000000", "--backend", "go")
	pipe := fatal.Get(cmd.StderrPipe())(t)
	fatal.If(t, cmd.Start())
	defer cmd.Process.Kill()
	errs := bufio.NewReader(pipe)
	if line, err := errs.ReadString('\n'); err != nil || !strings.HasPrefix(line, "backend go") {
		t.Fatalf("stderr %q, error %v", line, err)
	}
	var rest string
	ended := make(chan error, 1)
	go func() {
		all, _ := io.ReadAll(errs)
		rest = string(all)
		ended <- cmd.Wait()
	}()
	fatal.If(t, cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("runs on 30 s after SIGTERM")
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.HasSuffix("\n"+rest, "\nbench: context canceled\n") {
		t.Errorf("status %d, stderr %q", code, rest)
	}
}

// The digest is equal for equal steps, on any number of threads.
func TestDigest(t *testing.T) {
	digest := func(threads int, args ...string) string {
		t.Helper()
		t.Setenv("GOMAXPROCS", strconv.Itoa(threads))
		args = append([]string{"--width", "32", "--size", "32", "--per-domain", "3", "--steps", "1", "--warmup", "1", "--backend", "go"}, args...)
		out, errs, status := clitest.Call(t, program, t.TempDir(), args...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
		var r Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || r.Threads != threads || len(r.Digest) != 64 {
			t.Fatalf("%d threads: got %s, error %v", threads, out, err)
		}
		return r.Digest
	}
	one := digest(1)
	for _, threads := range []int{2, 5} {
		if got := digest(threads); got != one {
			t.Errorf("%d threads: digest %s, one thread has %s", threads, got, one)
		}
	}
	if digest(2, "--steps", "2") == one {
		t.Error("another step has the same digest")
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--precision half", "want tf32, float32 or bfloat16"},
	} {
		_, errs, status := clitest.Call(t, program, t.TempDir(), strings.Fields(tt.args)...)
		if status != 2 || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: status %d, %q; want 2, %q", tt.args, status, errs, tt.want)
		}
	}
	_, errs, status := clitest.Call(t, program, t.TempDir(), "--backend", "go", "--precision", "bfloat16")
	if want := "precision bfloat16 needs XLA"; status != 1 || !strings.Contains(errs, want) {
		t.Errorf("bfloat16 on Go: status %d, %q; want 1, %q", status, errs, want)
	}
}

// Every backbone of images can be timed.
func TestNetworks(t *testing.T) {
	for _, net := range config.NetworkNames(false) {
		out, errs, status := clitest.Call(t, program, t.TempDir(), "--net", net, "--width", "8", "--size", "32", "--per-domain", "8", "--steps", "1", "--warmup", "1", "--backend", "go")
		if status != 0 || !strings.Contains(out, `"steps":1,`) {
			t.Errorf("%s: status %d, %q, %s", net, status, out, errs)
		}
	}
}

// Features of a network of ours and of one from a file are timed.
func TestFeatures(t *testing.T) {
	for _, net := range []string{"smallcnn", "../../../ceg/nets/onnx/imported/testdata/train/resnet.onnx"} {
		out, errs, status := clitest.Call(t, program, t.TempDir(), "features", "--net", absolute(t, net), "--size", "32", "--seconds", "0.01", "--backend", "go")
		if status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
		var l featuresLine
		fatal.If(t, json.Unmarshal([]byte(out), &l))
		if !l.Features || l.Size != 32 || l.Net != filepath.Base(net) || l.Backend != "go" {
			t.Errorf("got %+v", l)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--net NETWORK is missing"},
		{[]string{"--net", "nothing.onnx"}, "nothing.onnx"},
		{[]string{"--net", "smallcnn", "--seconds", "0"}, "--seconds 0: want more than 0"},
	} {
		if _, errs, status := clitest.Call(t, program, t.TempDir(), append([]string{"features", "--backend", "go"}, c.args...)...); status != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d: %s", c.args, status, errs)
		}
	}
}

// The table of measurements has medians over rounds, with ratios of one round.
func TestTable(t *testing.T) {
	const step = `{"round":%d,"backend":"%s","net":"smallcnn","width":64,"size":32,"per_domain":4,"step_seconds_median":%g,"peak_memory_bytes":5e8,"threads":2}`
	const image = `{"round":%d,"backend":"%s","features":true,"net":"vit.onnx","size":224,"step_seconds_median":%g,"peak_memory_bytes":1e9,"version":"v1","threads":2}`
	for _, tt := range []struct {
		line string
		all  [][3]any // round, engine, seconds
		want string
	}{
		{step, [][3]any{{1, "go", 2.}, {1, "pytorch", 1.}, {2, "go", 2.}, {2, "pytorch", 1.2}, {3, "pytorch", 9.}, {4, "go", 2.5}, {4, "pytorch", 2.}},
			"| smallcnn --width 64 --size 32 --per-domain 4 | 2 (2, 2.5) | **0.60 (0.50, 0.80)** | 0.50 GB | 1.6 (1, 9) | 0.50 GB |"},
		{image, [][3]any{{1, "python", 0.1}, {1, "xla:cpu", 0.125}, {2, "python", 0.2}, {2, "xla:cpu", 0.125}},
			"| vit.onnx --size 224 | 125 (125, 125) | **1.20 (0.80, 1.60)** | 1.00 GB | 150 (100, 200) | 1.00 GB |"},
	} {
		var text strings.Builder
		for _, m := range tt.all {
			fmt.Fprintf(&text, tt.line+"\n", m[:]...)
		}
		file := filepath.Join(t.TempDir(), "speed.jsonl")
		fatal.If(t, os.WriteFile(file, []byte(text.String()), 0o666))
		out := fatal.Get(exec.Command("python3", "../yardstick/table.py", file).Output())(t)
		if !strings.Contains(string(out), tt.want) {
			t.Errorf("got\n%s\nwant\n%s", out, tt.want)
		}
	}
}

// absolute is the path of a file, or a name as it is.
func absolute(t *testing.T, name string) string {
	t.Helper()
	if filepath.Ext(name) == "" {
		return name
	}
	return fatal.Get(filepath.Abs(name))(t)
}
