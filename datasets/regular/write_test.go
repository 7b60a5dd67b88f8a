package regular_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/regular"
)

func TestWriteFileIsWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	errFull := errors.New("full")
	get := func(path string) string {
		data := fatal.Get(os.ReadFile(path))(t)
		return string(data)
	}
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	fatal.If(t, regular.WriteFile(path, text("old")))
	half := func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("new", 1<<16)); err != nil {
			return err
		}
		return errFull
	}
	if err := regular.WriteFile(path, half); !errors.Is(err, errFull) || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v, want it to wrap %v and name %s", err, errFull, path)
	}
	if got := get(path); got != "old" {
		t.Errorf("after a failed write the file has %d bytes", len(got))
	}
	// A leftover of a killed process with our number is in nobody's way.
	leftover := filepath.Join(dir, fmt.Sprintf(".f.tmp-%d-0", os.Getpid()))
	if err := os.WriteFile(leftover, []byte("left over"), 0o666); err != nil || !regular.IsTemp(filepath.Base(leftover)) {
		t.Fatal(err)
	}
	if err := regular.WriteFile(path, text("new")); err != nil || get(path) != "new" {
		t.Errorf("WriteFile beside a leftover: %v, %q", err, get(path))
	}
	if got, err := os.ReadDir(dir); err != nil || len(got) != 2 { // f and the leftover
		t.Errorf("the directory has %q, %v", got, err)
	}
	if err := regular.WriteFile(filepath.Join(dir, "absent", "f"), text("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("WriteFile into an absent directory: %v", err)
	}
	// In the current directory, without a separator.
	t.Chdir(dir)
	if err := regular.WriteFile("bare", text("x")); err != nil || get("bare") != "x" {
		t.Errorf("WriteFile(bare): %v", err)
	}
}
