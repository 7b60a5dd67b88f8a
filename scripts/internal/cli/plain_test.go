package cli

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestOneLine(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	for text, want := range map[string]string{
		"as it is":                "as it is",
		"a\n b\n":                 "a b",
		"\x1b[31mred\x9b\u009b\r": `\x1b[31mred\x9b\u009b`,
		"\u202egnp.\xff":          `\u202egnp.\xff`,
		"begin " + long + " end":  "",
		strings.Repeat("\x1b", 9): strings.Repeat(`\x1b`, 9),
	} {
		got := OneLine(errors.New(text))
		if want != "" && got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if len(got) > maxError+5 || want == "" && (!strings.HasPrefix(got, "begin ü") || !strings.HasSuffix(got, "ü end")) {
			t.Errorf("%d bytes are %d: %.20s", len(text), len(got), got)
		}
	}
}

// A shell takes what is suggested for the arguments that it was made of.
func TestCommandLine(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	args := []string{"plain/path.csv", "two words", "it's", "$(touch x)", "`touch x`", "a;b", "*", "", "~", "-n", "new\nline", "é"}
	dir := t.TempDir()
	cmd := exec.Command(shell, "-c", "printf '%s\\0' "+CommandLine(args...))
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil || strings.TrimSuffix(string(out), "\x00") != strings.Join(args, "\x00") {
		t.Errorf("%q, %v", out, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v was made", left)
	}
}
