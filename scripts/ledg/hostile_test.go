//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// within runs the program for at most ten seconds, and checks that it takes less than 2 GB and
// reports the error in one line of at most 3,000 bytes.
func within(t *testing.T, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, ledg, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Errorf("ledg %q: it hangs: %s", args, errs.String())
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" && usage.Maxrss > 2<<20 {
		t.Errorf("ledg %q: it takes %d KB", args, usage.Maxrss)
	}
	status = cmd.ProcessState.ExitCode()
	if text := errs.String(); strings.Contains(text, "goroutine ") || status != 0 && (len(text) > 3000 || strings.Count(text, "\n") != 1) {
		t.Errorf("ledg %q: status %d, %d bytes: %.3000s", args, status, len(text), text)
	}
	return out.String(), errs.String(), status
}

// What needs more memory than there is says so in a line, before it takes any.
func TestNeedsTooMuch(t *testing.T) {
	dir := t.TempDir()
	needs := regexp.MustCompile(`^ledg: .* needs about \d+\.\d GB of memory or more, and \d+\.\d GB are free`)
	for _, args := range [][]string{
		{"train", "--width", "8192", "--image-size", "4096"},
		{"train", "--net", "resnet18", "--width", "8192"},
		{"train", "--set", "schedule.per_domain=65536", "--image-size", "4096"},
		{"embed", "--weights", "none", "--net", "smallcnn", "--width", "8192", "--size", "4096", "--out", "x.safetensors"},
	} {
		if args[0] == "train" {
			args = append(args, "--target", "photo", "--out", "run")
		}
		_, errs, status := within(t, dir, append(args, "--backend", "go")...)
		if status != 1 {
			t.Errorf("%q: status %d, want 1", args, status)
		}
		if !needs.MatchString(errs) {
			t.Errorf("%q says %q, want what it needs and what is free", args, errs)
		}
	}
	for _, args := range [][]string{
		{"embed", "--weights", "none", "--net", "resnet18", "--width", "9007199254740992", "--out", "x.safetensors"},
		{"embed", "--weights", "none", "--net", "resnet18", "--size", "2147483648", "--out", "x.safetensors"},
	} {
		if _, errs, status := within(t, dir, args...); status != 2 || !strings.Contains(errs, "and at most") {
			t.Errorf("%q: status %d, %s", args, status, errs)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// Small networks that are built to crash, to take all memory or never to end give features or one
// line, on both engines and in training, in time.
func TestHostileNetworks(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.onnx")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d networks, %v", len(files), err)
	}
	root, dir := photoFolder(t), t.TempDir()
	backends := []string{"go"}
	t.Run("onnxruntime", func(t *testing.T) { backends = append(backends, enginetest.Runtime(t)) })
	for _, file := range files {
		path := fatal.Get(filepath.Abs(file))(t)
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, backend := range backends {
				_, errs, status := within(t, dir, "embed", "--dataset", "folder", "--root", root, "--net", path, "--preprocess", "vit", "--size", "32", "--backend", backend, "--quiet", "--out", "x.safetensors")
				if status != 0 && (status != 1 || !strings.HasPrefix(errs, "ledg: "+path+": ")) {
					t.Errorf("%s: status %d, %s", backend, status, errs)
				}
			}
			_, errs, status := within(t, dir, "train", "--dataset", "folder", "--root", root, "--target", "none", "--net", path, "--image-size", "32", "--budget", "4", "--epochs", "1", "--backend", "go", "--out", "run")
			if status != 0 && !strings.Contains(errs, path+": ") {
				t.Errorf("training: status %d, %s", status, errs)
			}
			os.Remove(filepath.Join(dir, "x.safetensors"))
			os.RemoveAll(filepath.Join(dir, "run"))
		})
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// One signal ends a network that does not end.
func TestInterruptedNetwork(t *testing.T) {
	backend := enginetest.Runtime(t)
	path, err := filepath.Abs("testdata/hostile/loop-inf.onnx")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(ledg, "embed", "--dataset", "folder", "--root", photoFolder(t), "--net", path, "--preprocess", "vit", "--size", "32", "--backend", backend, "--quiet", "--out", filepath.Join(t.TempDir(), "x.safetensors"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	fatal.If(t, cmd.Start())
	time.Sleep(2 * time.Second)
	start := time.Now()
	fatal.If(t, cmd.Process.Signal(os.Interrupt))
	err = cmd.Wait()
	if took := time.Since(start); err == nil || took > 3*time.Second || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("%v after %v, stderr %s", err, took, errs.String())
	}
}

// Pipes that nobody writes into, devices without end and files that are mostly holes are
// errors of one line, in whatever place they are given.
func TestNoRegularFiles(t *testing.T) {
	dir := t.TempDir()
	root := photoFolder(t)
	pipe, huge := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	put := func(path, head string, size int64) {
		if err := errors.Join(os.WriteFile(path, []byte(head), 0o666), os.Truncate(path, size)); err != nil {
			t.Skip(err)
		}
	}
	put(huge, "", 10<<30)
	for _, end := range []string{".csv", ".jsonl", ".npz", ".json"} {
		fatal.If(t, os.Symlink(pipe, pipe+end))
		put(huge+end, map[string]string{".csv": "id,label\n", ".jsonl": `{"id":"`, ".npz": "PK\x03\x04", ".json": "[{"}[end], 10<<30)
	}
	places := map[string][]string{
		"classes":     {"data", "check", "--dataset", "folder", "--root", root, "--classes"},
		"labels":      {"data", "check", "--dataset", "folder", "--root", root, "--labels"},
		"csv":         {"label", "import", "--format", "csv", "--dataset", "folder", "--root", root, "--classes", "cat,dog"},
		"studio":      {"label", "import", "--format", "labelstudio", "--dataset", "folder", "--root", root, "--classes", "cat,dog"},
		"cvat":        {"label", "import", "--format", "cvat", "--dataset", "folder", "--root", root, "--classes", "cat,dog"},
		"predictions": {"label", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--predictions"},
		"weights":     {"train", "--target", "photo", "--out", filepath.Join(dir, "run"), "--weights"},
		"pool":        {"query", "-n", "1", "--pool"},
		"config":      {"train", "--config"},
		"study":       {"study", "run", "--dry-run"},
		"features":    {"data", "check", "--dataset", "features", "--root"},
	}
	refused := regexp.MustCompile(`want a regular file|too large|is neither a|not a valid zip|is an archive of NumPy arrays`)
	for name, args := range places {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{pipe, "/dev/zero", huge, pipe + ".csv", pipe + ".jsonl", huge + ".csv", huge + ".jsonl", pipe + ".npz", huge + ".npz", huge + ".json"} {
				if _, errs, status := within(t, dir, append(args[:len(args):len(args)], path)...); status == 0 || !refused.MatchString(errs) {
					t.Errorf("%s: status %d, %s", path, status, errs)
				}
			}
		})
	}
	t.Run("images", func(t *testing.T) {
		day := filepath.Join(root, "day", "cat")
		fatal.If(t, syscall.Mkfifo(filepath.Join(day, "pipe.png"), 0o666))
		out, errs, status := within(t, dir, "data", "check", "--dataset", "folder", "--root", root)
		if status != 0 || !strings.Contains(out, "it is a pipe") {
			t.Errorf("a pipe: status %d, %s%s", status, out, errs)
		}
		put(filepath.Join(day, "huge.png"), "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", 10<<30)
		_, errs, status = within(t, dir, "data", "check", "--dataset", "folder", "--root", root)
		if status != 1 || !strings.Contains(errs, "huge.png: too large") {
			t.Errorf("10 GB: status %d, %s", status, errs)
		}
	})
}
