// Nbkernel starts the Go kernel of the notebooks, GoNB, at the version that go.mod
// names, so that cells are compiled with this repository's packages and with the
// dependencies of its go.mod and go.sum. Jupyter runs it as notebooks/jupyter says:
//
//	go tool nbkernel CONNECTION_FILE
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go tool nbkernel CONNECTION_FILE")
		os.Exit(2)
	}
	if err := start(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "nbkernel:", err)
		os.Exit(1)
	}
}

// start becomes the kernel of the connection file; it returns only with an error.
func start(connection string) error {
	mod, err := goCommand("env", "GOMOD")
	if err != nil {
		return err
	}
	root := filepath.Dir(mod)
	gonb, err := goCommand("tool", "-n", "gonb")
	if err != nil {
		return err
	}
	goimports, err := goCommand("tool", "-n", "goimports")
	if err != nil {
		return err
	}
	// Whatever cells may need is fetched now: see GOPROXY below. A workspace reads
	// every go.mod of the module graph, a build only some.
	for _, args := range [][]string{{"list", "-deps", root + "/..."}, {"mod", "graph"}} {
		if _, err := goCommand(args...); err != nil {
			return err
		}
	}
	// GoNB looks for goimports in PATH.
	os.Setenv("PATH", filepath.Dir(goimports)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	// Before every cell GoNB runs go get, which would ask the network for newer
	// versions. Everything is there: without a proxy it does nothing.
	os.Setenv("GOPROXY", "off")
	// Without debugging information cells link in half the time.
	flags, err := goCommand("env", "GOFLAGS")
	if err != nil {
		return err
	}
	os.Setenv("GOFLAGS", strings.TrimSpace(flags+" -ldflags=-w"))
	return syscall.Exec(gonb, []string{"gonb",
		"--kernel", connection,
		"-go_work=" + root,                             // the cells' module is in a workspace with ours
		"-logtostderr=false", "-stderrthreshold=FATAL", // its log is in the temporary folder
	}, os.Environ())
}

// goCommand returns what a go command prints, and with go tool -n it also builds
// the tool.
func goCommand(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
