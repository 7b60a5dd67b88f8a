// Nbkernel starts the Go kernel of the notebooks, GoNB, at the version in this module's go.mod.
// Cells are compiled with this repository's packages and the dependencies of its own go.mod.
// Jupyter runs it, as notebooks/jupyter says. For a notebook in any folder Jupyter knows it after
// install:
//
//	go tool nbkernel CONNECTION_FILE [CHECKOUT]
//	go tool nbkernel install                    the kernel for Jupyter anywhere, and gopls
//	go tool nbkernel uninstall
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
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "install":
		err = install()
	case len(args) == 1 && args[0] == "uninstall":
		err = uninstall()
	case len(args) == 1:
		err = start(args[0], "")
	case len(args) == 2:
		err = start(args[0], args[1])
	default:
		fmt.Fprintln(os.Stderr, "usage: go tool nbkernel CONNECTION_FILE [CHECKOUT] | install | uninstall")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nbkernel:", err)
		os.Exit(1)
	}
}

// start becomes the kernel of the connection file, with the packages of a checkout, by
// default the one of the current folder; it returns only with an error.
func start(connection, dir string) error {
	root, err := checkout(dir)
	if err != nil {
		return err
	}
	lab := filepath.Join(root, "scripts", "lab")
	gonb, err := goCommand(lab, "tool", "-n", "gonb")
	if err != nil {
		return err
	}
	// GoNB looks for goimports and gopls in PATH.
	tools := []string{"goimports"}
	server, set := os.LookupEnv("LEDG_GOPLS") // empty where nobody types
	if !set {
		if server, err = gopls(); err != nil {
			fmt.Fprintln(os.Stderr, "nbkernel:", err)
		}
	}
	if server != "" {
		os.Setenv("LEDG_GOPLS", server)
		tools = append(tools, "gopls")
	}
	for _, name := range tools {
		tool, err := goCommand(lab, "tool", "-n", name)
		if err != nil {
			return err
		}
		os.Setenv("PATH", filepath.Dir(tool)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	// Whatever cells may need is fetched now: see GOPROXY below. A workspace reads
	// every go.mod of the module graph, a build only some.
	for _, args := range [][]string{{"list", "-deps", root + "/..."}, {"mod", "graph"}} {
		if _, err := goCommand(root, args...); err != nil {
			return err
		}
	}
	// Before every cell GoNB runs go get, which would ask the network for newer
	// versions. Everything is there: without a proxy it does nothing.
	os.Setenv("GOPROXY", "off")
	// Without debugging information and symbols cells link in two thirds of the time.
	flags, err := goCommand(root, "env", "GOFLAGS")
	if err != nil {
		return err
	}
	os.Setenv("GOFLAGS", strings.TrimSpace(flags+" -ldflags=-s "+toolexec(root))) // the last -toolexec counts
	os.Setenv("LEDG_LINKER_REFUSED", connection+".refused")
	os.Setenv("LEDG_CHECKOUT", root) // whose records notebooks elsewhere can show
	// Runs of notebooks elsewhere are beside them, also for a cell that changes its working directory.
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if os.Getenv("LEDG_RUNS") == "" && here != filepath.Join(root, "notebooks") {
		os.Setenv("LEDG_RUNS", filepath.Join(here, "runs"))
	}
	return syscall.Exec(gonb, []string{"gonb",
		"--kernel", connection,
		"-go_work=" + root,                             // the cells' module is in a workspace with ours
		"-logtostderr=false", "-stderrthreshold=FATAL", // its log is in the temporary folder
	}, os.Environ())
}

// checkout returns the root of the repository that a folder is in, by default the current one.
func checkout(dir string) (string, error) {
	mod, err := goCommand(dir, "env", "GOMOD")
	return strings.TrimSuffix(filepath.Dir(mod), filepath.Join("/scripts", "lab")), err
}

// toolexec is the flag that has the go command start compilers and linkers by a checkout's
// scripts/toolexec.sh.
func toolexec(root string) string {
	return fmt.Sprintf(`'-toolexec="%s"'`, filepath.Join(root, "scripts", "toolexec.sh"))
}

// goCommand returns what a go command prints in a folder, and with go tool -n it also
// builds the tool.
func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
