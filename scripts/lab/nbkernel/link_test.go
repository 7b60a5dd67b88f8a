package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// A program that uses C is linked by Go's linker. One with a library of C of its own is linked by
// the C compiler, and so is every program after it.
func TestToolexec(t *testing.T) {
	testall.Need(t, "programs that use C are compiled and linked")
	if _, err := exec.LookPath("gcc"); err != nil || runtime.GOOS != "linux" {
		t.Skip("there is no gcc here, or this is not Linux")
	}
	dir := t.TempDir()
	root := fatal.Get(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	file := filepath.Join(dir, "refused")
	t.Setenv("GOFLAGS", toolexec(root)+" -buildvcs=false")
	t.Setenv("LEDG_LINKER_REFUSED", file)
	program := func(preamble, expression string) string {
		t.Helper()
		source := filepath.Join(dir, "main.go")
		text := "package main\n\n/*\n" + preamble + "\n*/\nimport \"C\"\n\nfunc main() { println(" + expression + ") }\n"
		fatal.If(t, os.WriteFile(source, []byte(text), 0o600))
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "program"), source)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		out, err := exec.Command(filepath.Join(dir, "program")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	// A program linked by gcc has gcc's start-up code.
	byGCC := func() bool {
		t.Helper()
		out := fatal.Get(exec.Command("go", "tool", "nm", filepath.Join(dir, "program")).Output())(t)
		return strings.Contains(string(out), "frame_dummy")
	}

	if got := program("static int twice(int x) { return 2*x; }", "C.twice(21)"); got != "42" || byGCC() {
		t.Errorf("a program that uses C prints %s (linked by gcc: %v), want 42 by Go's linker", got, byGCC())
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("Go's linker refused a program that uses C")
	}
	fatal.If(t, os.WriteFile(filepath.Join(dir, "thrice.c"), []byte("int thrice(int x) { return 3*x; }\n"), 0o600))
	for _, command := range []string{"gcc -c thrice.c", "ar rc libthrice.a thrice.o"} {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}
	if got := program("#cgo LDFLAGS: ${SRCDIR}/libthrice.a\nint thrice(int);", "C.thrice(9)"); got != "27" || !byGCC() {
		t.Errorf("a program with a library of C prints %s (linked by gcc: %v), want 27 by gcc", got, byGCC())
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("that Go's linker refused a program is not noted")
	}
	if got := program("static int twice(int x) { return 2*x; }", "C.twice(4)"); got != "8" || !byGCC() {
		t.Errorf("after that, a program that uses C prints %s (linked by gcc: %v), want 8 by gcc", got, byGCC())
	}
	// What neither can link is said once.
	fatal.If(t, os.Remove(file))
	source := filepath.Join(dir, "main.go")
	fatal.If(t, os.WriteFile(source, []byte("package main\n\nimport _ \"unsafe\"\n\n//go:linkname missing main.nowhere\nfunc missing()\n\nfunc main() { missing() }\n"), 0o600))
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "program"), source)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil || strings.Count(string(out), "nowhere") != 1 {
		t.Errorf("a function that is nowhere: %v, %s", err, out)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a program that no linker can link is noted as one that Go's linker refused")
	}
}
