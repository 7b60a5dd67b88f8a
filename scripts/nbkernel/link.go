package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

// refused is the environment's name of a file that is there once Go's linker could not link a
// cell of this kernel.
const refused = "LEDG_NBKERNEL_REFUSED"

// toolexec is the flag that has the go command start compilers and linkers by tool, for the
// kernel of a connection file.
func toolexec(connection string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	os.Setenv(refused, connection+".refused")
	return fmt.Sprintf("'-toolexec=%s tool'", self), nil
}

// tool runs a compiler or linker with its arguments. None collects garbage, which takes a sixth
// less time. Where cells use C, as XLA's binding does, the go command has the C compiler link
// them; Go's own linker takes a fifth less time. What it cannot link, such as libraries of C that
// a cell's own module needs, the C compiler does, and then all later cells of the kernel.
func tool(args []string) error {
	os.Setenv("GOGC", "off")
	os.Setenv("GOMEMLIMIT", "1GiB")
	file := os.Getenv(refused)
	_, err := os.Stat(file)
	if runtime.GOOS != "linux" || filepath.Base(args[0]) != "link" || args[1] == "-V=full" || file == "" || err == nil {
		return syscall.Exec(args[0], args, os.Environ())
	}
	if exec.Command(args[0], append([]string{"-linkmode=internal"}, args[1:]...)...).Run() == nil {
		return nil
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		os.Exit(1) // the linker has said why
	}
	return os.WriteFile(file, nil, 0o600)
}
