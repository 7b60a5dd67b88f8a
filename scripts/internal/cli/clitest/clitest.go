// Package clitest runs a program as its users do.
package clitest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Main builds the program of the test's folder, sets its path and runs the tests; it is
// for TestMain.
func Main(m *testing.M, program *string) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "clitest")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		*program = filepath.Join(dir, "program")
		if out, err := exec.Command("go", "build", "-o", *program, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// Call runs a program in a directory and returns what came of it.
func Call(t *testing.T, program, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
