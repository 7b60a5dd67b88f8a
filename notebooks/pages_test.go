package notebooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// tested returns the blocks of a guide that a test runs, in order.
func tested(t *testing.T, page, kind, test string) (list []string) {
	t.Helper()
	text := string(fatal.Get(os.ReadFile(filepath.Join("guides", page)))(t))
	for _, m := range regexp.MustCompile("(?ms)^```"+kind+" test "+test+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// Every block of the page about cells is a cell that runs.
func TestHabits(t *testing.T) {
	needJupyter(t)
	t.Cleanup(func() { os.Remove("both.pdf") })
	done := execute(t, notebookOf(t, tested(t, "habits.md", "go", "TestHabits")), t.TempDir())
	for _, p := range done.problems() {
		t.Error(p)
	}
	if n := len(done.Cells); n < 7 || !strings.Contains(done.Cells[n-2].text(), "6 runs") {
		t.Errorf("%d cells, the last but one shows %q", n, done.Cells[n-2].text())
	}
}

// The program of the page about the library runs in an empty module.
func TestLibrary(t *testing.T) {
	testall.Need(t, "a program is built")
	program, commands := tested(t, "library.md", "go", "TestLibrary"), tested(t, "library.md", "sh", "TestLibrary")
	if len(program) != 1 || len(commands) != 2 {
		t.Fatalf("%d programs and %d blocks of commands", len(program), len(commands))
	}
	clone := fatal.Get(filepath.Abs(".."))(t)
	dir := t.TempDir()
	fatal.If(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program[0]), 0o644))
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", strings.ReplaceAll(strings.Join(commands, ""), "CLONE", clone))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "margin-density + cross-entropy") {
		t.Errorf("%v\n%s", err, out)
	}
}
