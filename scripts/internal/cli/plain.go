package cli

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain writes text with names from elsewhere to a terminal.
type Plain struct{ io.Writer }

// Write implements io.Writer. What the text has for a terminal's commands is written as
// in Go's quotes.
func (p Plain) Write(b []byte) (int, error) {
	_, err := io.WriteString(p.Writer, printable(string(b)))
	return len(b), err
}

// printable returns text whose control characters, but for the ends of lines and tabs, and
// what changes the direction of text, are written as in Go's quotes.
func printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)):
			quoted := strconv.QuoteToASCII(text[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
