package shell

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A shell parses the suggested line into the original arguments.
func TestLine(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	args := []string{"plain/path.csv", "two words", "it's", "$(touch x)", "`touch x`", "a;b", "*", "", "~", "-n", "new\nline", "é"}
	dir := t.TempDir()
	cmd := exec.Command(sh, "-c", "printf '%s\\0' "+Line(args...))
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil || strings.TrimSuffix(string(out), "\x00") != strings.Join(args, "\x00") {
		t.Errorf("%q, %v", out, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v was made", left)
	}
}

// Printed commands name ledg as it was started, unless it is in PATH.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for started, want := range map[string]string{"bin/ledg": "bin/ledg", "/x/ledg": "/x/ledg", "ledg": "ledg", "/x/ledg.test": "ledg"} {
		if got := program(started); got != want {
			t.Errorf("%s: %s, want %s", started, got, want)
		}
	}
	fatal.If(t, os.WriteFile(dir+"/ledg", []byte("#!/bin/sh\n"), 0o777))
	if got := program("bin/ledg"); got != "ledg" {
		t.Errorf("in PATH: %s", got)
	}
}
