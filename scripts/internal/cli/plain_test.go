package cli

import (
	"errors"
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
