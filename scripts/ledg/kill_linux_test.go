package main

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/ceg/labels"
)

// asking are the arguments of a run on photos that asks people.
func asking(root string, more ...string) []string {
	return append([]string{"train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--target", "none", "--oracle", "ask",
		"--budget", "6", "--epochs", "1", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", "cache", "--out", "run"}, more...)
}

// beginAsking starts a run on photos that asks people, in the folder run of dir.
func beginAsking(t *testing.T, dir, root string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(ledg, asking(root)...)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// appears waits until a process has written a file.
func appears(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !exists(path); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not appear", path)
		}
	}
}

// A run that is killed when any of its first files appears goes on.
func TestKilledAtTheBeginning(t *testing.T) {
	root := flat(t)
	for _, file := range []string{".lock", "local.json", "config.json", "labels.jsonl"} {
		dir := t.TempDir()
		cmd := beginAsking(t, dir, root)
		appears(t, filepath.Join(dir, "run", file))
		cmd.Process.Kill()
		cmd.Wait()
		again := []string{"train", "--resume", "--out", "run"}
		if !exists(filepath.Join(dir, "run", "config.json")) { // the same command begins it
			again = append(cmd.Args[1:], "--resume")
		}
		if _, stderr, status := call(t, dir, again...); status != 3 {
			t.Errorf("killed at %s: status %d, stderr %s", file, status, stderr)
		}
	}
}

// The labelling page of a run can be shown before the run has prepared its images, however
// long that takes: here it takes for ever.
func TestPageOfSlowRun(t *testing.T) {
	dir := t.TempDir()
	cmd := beginAsking(t, dir, flat(t))
	appears(t, filepath.Join(dir, "run", "labels.jsonl"))
	lock := flock.New(filepath.Join(dir, "run", labels.LockFile)) // the run must not stop while it has the lock
	if err := errors.Join(lock.Lock(), cmd.Process.Signal(syscall.SIGSTOP)); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(cmd.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, status := call(t, dir, "label", "run", "--detach")
	if status != 0 || !strings.Contains(stdout, "http://127.0.0.1:") {
		t.Errorf("status %d, stdout %s, stderr %s", status, stdout, stderr)
	}
	if _, stderr, status := call(t, dir, "label", "run", "--stop"); status != 0 {
		t.Errorf("status %d, stderr %s", status, stderr)
	}
}

// --label shows the page, which ends with the run.
func TestTrainShowsPage(t *testing.T) {
	dir := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(ledg, asking(flat(t), "--label")...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	var address, text string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		text += lines.Text() + "\n"
		i := strings.Index(lines.Text(), "http://127.0.0.1:")
		if i < 0 || address != "" {
			continue
		}
		address, _, _ = strings.Cut(lines.Text()[i:], " ")
		reply, err := http.Get(address)
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Errorf("the page: %v, %v", reply, err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Wait()
	if address == "" || !strings.Contains(text, "interrupted") {
		t.Fatalf("it says %s", text)
	}
	if _, err := http.Get(address); err == nil {
		t.Error("the page has outlived the run")
	}
}
