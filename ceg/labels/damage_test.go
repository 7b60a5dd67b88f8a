package labels

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestDamage(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	query(t, l, 0, "1", "2", "3")
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann")))
	l.Close()
	path := filepath.Join(dir, File)
	whole := must[[]byte](t)(os.ReadFile(path))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	last := len(whole) - len(lines[3])
	put := func(b []byte) {
		fatal.If(t, os.WriteFile(path, b, 0o666))
	}

	for n := last; n < len(whole); n++ { // a crash after every byte of the last line
		put(whole[:n])
		s, note, err := Read(os.DirFS(dir), File, classes, Options{})
		if err != nil || s.Last() != 3 || (note != "") != (n > last) {
			t.Fatalf("%d bytes: %d events, %q, %v", n, s.Last(), note, err)
		}
		l := open(t, dir, Options{})
		want, notes := int64(3), 1
		if n == len(whole)-1 {
			want = 4 // all but the newline
		} else if n == last {
			notes = 0
		}
		e := must[[]Event](t)(l.Append(labelled("2", "dog", "bob")))
		if e[0].N != want+1 || len(l.Notes()) != notes {
			t.Fatalf("%d bytes: event %d, notes %q", n, e[0].N, l.Notes())
		}
		l.Close()
		cut, _ := filepath.Glob(filepath.Join(dir, File+".cut-*"))
		if n == last || n == len(whole)-1 {
			if len(cut) > 0 {
				t.Errorf("%d bytes: nothing was to be cut, and %q are there", n, cut)
			}
		} else if len(cut) != 1 {
			t.Errorf("%d bytes: %q keep what was cut, want one file", n, cut)
		} else if saved := must[[]byte](t)(os.ReadFile(cut[0])); !bytes.Equal(saved, whole[last:n]) {
			t.Errorf("%d bytes: %q was cut, %q kept", n, whole[last:n], saved)
		} else if err := os.Remove(cut[0]); err != nil {
			t.Fatal(err)
		}
	}
	put(append(bytes.Clone(whole[:last]), make([]byte, 4096)...)) // a file system's zeros
	if l := open(t, dir, Options{}); len(l.Notes()) != 1 {
		t.Errorf("notes %q", l.Notes())
	}

	for name, c := range map[string]struct {
		text string
		want string
	}{
		"no JSON":        {"{\n", ":2:"},
		"after blank":    {"\n \r\n{\n", ":4:"},
		"zeros":          {strings.Repeat("\x00", 20) + "\n", ":2:"},
		"unknown field":  {`{"n":2,"event":"bad image","id":"1","at":"2026-01-01T00:00:00Z","why":1}` + "\n", `:2: json: unknown field "why"`},
		"wrong number":   {`{"n":3,"event":"bad image","id":"1","at":"2026-01-01T00:00:00Z"}` + "\n", ":2: event 3, want 2"},
		"class":          {`{"n":2,"event":"answered","id":"1","class":"cow","at":"2026-01-01T00:00:00Z"}` + "\n", `:2: class "cow" of "1"`},
		"act":            {`{"n":2,"event":"answered","id":"1","class":"cat","at":"2026-01-01T00:00:00Z","act":1}` + "\n", ":2: answered: event 2 does not go on with act 1"},
		"time":           {`{"n":2,"event":"bad image","id":"1","at":"yesterday"}` + "\n", `:2: at is "yesterday"`},
		"undone nothing": {`{"n":2,"event":"undone","of":1,"at":"2026-01-01T00:00:00Z"}` + "\n", ":2: undone: there is no act 1"},
		"two on a line":  {`{"n":2,"event":"bad image","id":"1","at":"2026-01-01T00:00:00Z"}{}` + "\n", ":2: there is something behind"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := []byte(string(lines[0]) + c.text + string(lines[2]))
			put(bad)
			_, err := Open(dir, classes, Options{})
			wantError(t, err, path, c.want)
			_, _, err = Read(os.DirFS(dir), File, classes, Options{})
			wantError(t, err, File+c.want)
			if got := must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(got, bad) {
				t.Error("the damaged file was changed")
			}
		})
	}
}

// A file that others replace or cut off while it is open is read anew.
func TestReplaced(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	l, o := open(t, dir, Options{}), open(t, other, Options{})
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann"), labelled("2", "cat", "ann")))
	must[[]Event](t)(o.Append(labelled("3", "dog", "ann")))
	fatal.If(t, os.Rename(o.Path(), l.Path()))
	e := must[[]Event](t)(l.Append(labelled("4", "dog", "ann")))
	if e[0].N != 2 || l.image("1").N != 0 || l.image("3").Class != "dog" {
		t.Errorf("event %d, 1 is %+v", e[0].N, l.image("1"))
	}
	fatal.If(t, os.Truncate(l.Path(), 0))
	if err := l.Refresh(); err != nil || l.image("3").N != 0 {
		t.Errorf("%v, 3 is %+v", err, l.image("3"))
	}
}

// A half-written line is cut off through another handle than the open one, which need not
// be one that can cut: Windows has none for appending that can.
func TestMendAppendOnly(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann")))
	whole := must[[]byte](t)(os.ReadFile(l.path))
	fatal.If(t, os.WriteFile(l.path, append(bytes.Clone(whole), `{"n":2,"event":"`...), 0o666))
	l.mu.Lock()
	defer l.mu.Unlock()
	appends := l.file
	defer func() { l.file = appends }()
	l.file = must[*os.File](t)(os.Open(l.path))
	defer l.file.Close()
	if err := l.catchUp(true); err != nil || len(l.notes) != 1 {
		t.Errorf("%v, notes %q", err, l.notes)
	}
	if got := must[[]byte](t)(os.ReadFile(l.path)); !bytes.Equal(got, whole) {
		t.Errorf("the file has %q, want %q", got, whole)
	}
}

// A failed write leaves the file and the state as they were.
func TestWriteFails(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann")))
	l.mu.Lock()
	good := l.file
	l.file = must[*os.File](t)(os.Open(l.path)) // cannot be written
	l.mu.Unlock()
	_, err := l.Append(labelled("2", "cat", "ann"))
	wantError(t, err, l.path)
	l.mu.Lock()
	l.file = good
	l.mu.Unlock()
	e := must[[]Event](t)(l.Append(labelled("3", "cat", "ann")))
	if e[0].N != 2 || l.image("2").N != 0 || l.image("1").Class != "cat" {
		t.Errorf("event %d, 2 is %+v", e[0].N, l.image("2"))
	}
}

// Blank lines and a byte order mark, which editors leave, are no events and no faults.
func TestBlankLines(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	query(t, l, 0, "1", "2")
	l.Close()
	path := filepath.Join(dir, File)
	text := must[[]byte](t)(os.ReadFile(path))
	text = append([]byte("\ufeff\n"), bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n\n"))...)
	fatal.If(t, os.WriteFile(path, text, 0o666))
	l = open(t, dir, Options{})
	if e := must[[]Event](t)(l.Append(labelled("1", "cat", "ann"))); e[0].N != 3 {
		t.Errorf("event %d", e[0].N)
	}
	s, note, err := Read(os.DirFS(dir), File, classes, Options{})
	if err != nil || note != "" || s.Last() != 3 {
		t.Errorf("%d events, %q, %v", s.Last(), note, err)
	}
}

// A ledger that is deleted while it is open is written again, with its labels, and this is said.
func TestDeleted(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	query(t, l, 0, "1", "2")
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann")))
	before := must[[]byte](t)(os.ReadFile(l.Path()))
	if err := os.Remove(l.Path()); err != nil {
		t.Skip(err) // Windows
	}
	said := ""
	l.Noted(func(note string) { said = note })
	if err := l.Refresh(); err != nil || said != "" {
		t.Errorf("%v, %q", err, said)
	}
	must[[]Event](t)(l.Append(labelled("2", "dog", "ann")))
	after := must[[]byte](t)(os.ReadFile(l.Path()))
	if !bytes.HasPrefix(after, before) || bytes.Count(after, []byte("\n")) != 4 || !strings.Contains(said, "was deleted while it was open: it is written again with its 3 events") {
		t.Errorf("%q\n%s", said, after)
	}
	os.RemoveAll(dir)
	fatal.Says(t, fatal.Err(l.Append(labelled("1", "dog", "bob"))), l.Path())
}
