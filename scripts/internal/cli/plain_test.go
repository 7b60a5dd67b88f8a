package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

// What a command prints has no control sequences, wherever its text comes from and however it is
// cut into writes. Data for programs is unchanged.
func TestForeignText(t *testing.T) {
	const text = "ü\x1b[2J世界\xff\u202e\r\n\t\xe4"
	const want = "ü\\x1b[2J世界\\xff\\u202e\\r\n\t\\xe4"
	var raw io.Writer
	root := &cobra.Command{Use: "x", RunE: func(cmd *cobra.Command, _ []string) error {
		for _, b := range []byte(text) {
			for _, w := range []io.Writer{cmd.OutOrStdout(), cmd.ErrOrStderr()} {
				if n, err := w.Write([]byte{b}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
			}
		}
		raw = Raw(cmd.OutOrStdout())
		return nil
	}}
	var out, errs bytes.Buffer
	if status := Run(t.Context(), root, nil, &out, &errs); status != 0 || out.String() != want || errs.String() != want {
		t.Errorf("status %d, %q, %q, want %q", status, out.String(), errs.String(), want)
	}
	out.Reset()
	if io.WriteString(raw, text); out.String() != text {
		t.Errorf("%q, want %q", out.String(), text)
	}
}
