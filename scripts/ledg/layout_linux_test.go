package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// terminal opens a pseudo-terminal: what a user sees and types, and the program's end.
func terminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there is no pseudo-terminal here:", err)
	}
	t.Cleanup(func() { user.Close() })
	fatal.If(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	n := fatal.Get(unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN))(t)
	program = fatal.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	return user, program
}

// In a terminal, a folder that can be read in two ways is asked about, until the reply is yes or no.
func TestUnclearLayoutQuestion(t *testing.T) {
	t.Parallel()
	root := photoFolder(t)
	for _, name := range []string{"cat", "dog"} {
		fatal.If(t, os.Rename(filepath.Join(root, "night", name), filepath.Join(root, "night", "dark"+name)))
	}
	for reply, want := range map[string]string{
		"n\n":        "read as site/**/image: 2 sites, no classes",
		"YES\n":      "read as site/class: 2 sites, 4 classes",
		"\n":         "read as site/class: 2 sites, 4 classes",
		"what\nno\n": "read as site/**/image: 2 sites, no classes",
	} {
		user, program := terminal(t)
		cmd := exec.Command(ledg, "data", "check", "--dataset", "folder", "--root", root)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		fatal.If(t, cmd.Start())
		program.Close()
		fatal.Get(io.WriteString(user, reply))(t)
		shown, _ := io.ReadAll(user) // ends with an error when the program has ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: %v", reply, err)
		}
		if n := strings.Count(string(shown), "classes? [Y/n]"); !strings.Contains(string(shown), want) || n != strings.Count(reply, "\n") {
			t.Errorf("%q: want %s after each question, got\n%s", reply, want, shown)
		}
	}
}
