package regular_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/regular"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	fatal.If(t, os.WriteFile(path, []byte("twelve bytes"), 0o666))
	for name, c := range map[string]struct {
		path string
		most int64
		want error
	}{
		"as long as it may be": {path, 12, nil},
		"too long":             {path, 11, regular.ErrSize},
		"a folder":             {dir, 12, regular.ErrKind},
		"a device":             {os.DevNull, 12, regular.ErrKind},
		"a device without end": {"/dev/zero", 12, regular.ErrKind},
		"without a length":     {"/proc/self/maps", 12, regular.ErrSize},
		"nothing":              {filepath.Join(dir, "none"), 12, os.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(c.path); err != nil && c.want != os.ErrNotExist {
				t.Skip(err)
			}
			data, err := regular.Read(c.path, c.most)
			if !errors.Is(err, c.want) || err == nil && string(data) != "twelve bytes" {
				t.Errorf("%q, %v, want %v", data, err, c.want)
			}
		})
	}
	fsys := fstest.MapFS{"dir/file": {Data: []byte("twelve bytes")}}
	if data, err := regular.ReadFS(fsys, "dir/file", 12); err != nil || string(data) != "twelve bytes" {
		t.Errorf("%q, %v", data, err)
	}
	for name, want := range map[string]error{"dir": regular.ErrKind, "dir/file": regular.ErrSize} {
		if _, err := regular.ReadFS(fsys, name, 5); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

func TestLines(t *testing.T) {
	for text, ok := range map[string]bool{
		"":                        true,
		"12345":                   true,
		"12345\n12345\n12345":     true,
		"\n\n\n":                  true,
		"123456":                  false,
		"1\n123456\n":             false,
		"12345\n" + "123" + "456": false,
	} {
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			got, err := io.ReadAll(regular.Lines(r, 5))
			if ok && (err != nil || string(got) != text) || !ok && !errors.Is(err, regular.ErrSize) {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
	}
}

func TestOwn(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	f, err := regular.Own(path, os.O_APPEND)
	if err == nil {
		err = errors.Join(f.Close(), os.Symlink(path, link))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, dir} {
		if _, err := regular.Own(name, 0); !errors.Is(err, regular.ErrKind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
