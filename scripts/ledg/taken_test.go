package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A run whose folder was renamed ends with a line that names it, and the run that is begun
// there meanwhile is what it is alone.
func TestTrainTakenAway(t *testing.T) {
	dir := t.TempDir()
	args := func(out string) []string { return tiny(out, "--epochs", "5", "--cache", filepath.Join(dir, "cache")) }
	works(t, dir, args("alone")...)
	cmd := exec.Command(ledg, args("run")...)
	cmd.Dir = dir
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var after []string
	taken := false
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		if taken {
			after = append(after, lines.Text())
		} else if strings.HasPrefix(lines.Text(), "epoch 1/5") {
			taken = true
			if err := os.Rename(filepath.Join(dir, "run"), filepath.Join(dir, "moved")); err != nil {
				cmd.Process.Kill()
				t.Skip(err)
			}
			works(t, dir, args("run")...)
		}
	}
	cmd.Wait()
	want := ": run: the directory was removed, renamed or replaced while this process was working on the run"
	if n := len(after); n == 0 || !strings.HasPrefix(after[n-1], "ledg: ") || !strings.HasSuffix(after[n-1], want) || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("status %d, stderr %q, want %q at the end", cmd.ProcessState.ExitCode(), after, want)
	}
	if got, want := untimed(t, filepath.Join(dir, "run")), untimed(t, filepath.Join(dir, "alone")); got != want {
		t.Errorf("the new run's result is\n%s\nwant\n%s", got, want)
	}
}
