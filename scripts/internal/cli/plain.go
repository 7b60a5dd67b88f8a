package cli

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// plain writes text that can contain foreign names. Control characters are written as in Go's
// quotes. Run prints everything through it, see Raw and Codes for the exceptions.
type plain struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character that the next Write completes
}

func (p *plain) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := append(p.rest, b...)
	whole := len(text)
	for i := max(0, whole-utf8.UTFMax+1); i < whole; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
			break
		}
	}
	p.rest = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(p.to, Printable(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// end writes an incomplete character at the end of the text.
func (p *plain) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	io.WriteString(p.to, Printable(string(p.rest)))
	p.rest = nil
}

// Codes returns the writer behind a command's output, for the control sequences of a progress
// bar. Foreign text for it has to pass through Printable.
func Codes(w io.Writer) io.Writer {
	if p, ok := w.(*plain); ok {
		return p.to
	}
	return w
}

// Raw returns a writer for data that another program reads: bytes arrive unchanged unless
// the output is a terminal.
func Raw(w io.Writer) io.Writer {
	if f, ok := Codes(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return w
	}
	return Codes(w)
}

// Printable returns text with control characters written as in Go's quotes, except for line
// ends and tabs. The same holds for characters that change the direction of text, and for
// bytes that are not UTF-8.
func Printable(text string) string {
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
