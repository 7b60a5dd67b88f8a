package labels

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A file that is no ledger is an error of one line, and stays as it is to the byte.
func TestForeignFile(t *testing.T) {
	event := `{"n":1,"event":"bad image","id":"1","at":"2026-01-01T00:00:00Z"}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"text without a newline":     {strings.Repeat("labels of another program; ", 2400), ":1: is not a line of a ledger"},
		"JSON without a newline":     {`[{"id": 1}]`, ":1: is not a line of a ledger"},
		"a brace":                    {"{", ":1: is not a line of a ledger"},
		"zeros":                      {strings.Repeat("\x00", 4096), ":1: is not a line of a ledger"},
		"lines":                      {"{\"id\": 1}\n{\"id\": 2}\n", ":1: is not a line of a ledger"},
		"a line without end":         {strings.Repeat("a", maxLine+2), ":1: is not a line of a ledger"},
		"another tail":               {event + "kept by hand", ":2: "},
		"the tail of another number": {event + `{"n":3,"event":"bad`, ":2: "},
		"a tail without end":         {event + strings.Repeat(`{"n":2,"event":"`, maxLine/10), ":2: the line has more than"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, File)
			fatal.If(t, os.WriteFile(path, []byte(c.text), 0o666))
			_, err := Open(dir, nil, Options{})
			wantError(t, err, path+c.want)
			if len(err.Error()) > 1000 || strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			_, _, err = Read(os.DirFS(dir), File, nil, Options{})
			wantError(t, err, File+c.want)
			if got := must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(got, []byte(c.text)) {
				t.Errorf("%d bytes are left of %d", len(got), len(c.text))
			}
		})
	}
}

// A ledger is not written through a link.
func TestLinkedFile(t *testing.T) {
	for _, name := range []string{File, LockFile} {
		for _, text := range []string{"", "a line without its newline", `{"n":1,"event":"bad`} {
			dir, target := t.TempDir(), filepath.Join(t.TempDir(), "file")
			fatal.If(t, os.WriteFile(target, []byte(text), 0o666))
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Skip(err)
			}
			_, err := Open(dir, nil, Options{})
			wantError(t, err, filepath.Join(dir, name), "is a symbolic link")
			if got := must[[]byte](t)(os.ReadFile(target)); string(got) != text {
				t.Errorf("%s leads to %q, which is now %q", name, text, got)
			}
			if os.Remove(target) == nil {
				_, err = Open(dir, nil, Options{})
				wantError(t, err, "is a symbolic link")
			}
			if _, err := os.Lstat(target); err == nil {
				t.Errorf("%s: what the link leads to was made", name)
			}
		}
	}
}

// A link that is put in the place of the lock or of the file while a ledger is open makes no
// file where it leads, and the ledger goes on once it is gone.
func TestLinkedLater(t *testing.T) {
	for _, name := range []string{File, LockFile} {
		dir, target := t.TempDir(), filepath.Join(t.TempDir(), "file")
		l := must[*Ledger](t)(Open(dir, nil, Options{}))
		defer l.Close()
		path := filepath.Join(dir, name)
		fatal.If(t, os.Rename(path, path+".aside"))
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
		label := Event{Kind: Labelled, ID: "1", Class: "cat", By: "ann"}
		_, err := l.Append(label)
		wantError(t, err, path, "is a symbolic link")
		if _, err := os.Lstat(target); err == nil {
			t.Errorf("%s: what the link leads to was made", name)
		}
		fatal.If(t, os.Rename(path+".aside", path))
		if _, err := l.Append(label); err != nil {
			t.Errorf("%s: after the link is gone: %v", name, err)
		}
	}
}

// FuzzOpen opens any file as a ledger: what it has been given is there afterwards to the
// byte, in the file, and behind it in the one that keeps what was cut.
func FuzzOpen(f *testing.F) {
	event := `{"n":1,"event":"asked","id":"1","round":0,"at":"2026-01-01T00:00:00Z"}`
	for _, text := range []string{"", "{", "another file", event, event + "\n", event + "\n" + `{"n":2,"event":"bad im`, event + "\n\x00\x00", event + "\n" + event, event + "\n" + `{"n":2,"event":"ans` + "\x00"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, File)
		fatal.If(t, os.WriteFile(path, data, 0o666))
		l, err := Open(dir, nil, Options{})
		if err == nil {
			l.Close()
		}
		got := must[[]byte](t)(os.ReadFile(path))
		cut, _ := filepath.Glob(path + ".cut-*")
		if err != nil && (len(cut) > 0 || !bytes.Equal(got, data)) {
			t.Fatalf("%q became %q, %q and %v", data, got, cut, err)
		}
		for _, name := range cut {
			got = append(got, must[[]byte](t)(os.ReadFile(name))...)
		}
		if !bytes.Equal(got, data) && !(len(cut) == 0 && bytes.Equal(got, append(bytes.Clone(data), '\n'))) {
			t.Fatalf("%q became %q, with %q", data, got, cut)
		}
	})
}
