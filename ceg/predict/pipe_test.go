//go:build unix

package predict_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What would block a reader, or is a link to nothing, is listed as what could not be
// read, named itself or in a folder.
func TestFilesThatAreNone(t *testing.T) {
	p := open(t, copied(t))
	dir := t.TempDir()
	save(t, filepath.Join(dir, "in", "good.png"), noise(1, 12, 12))
	for _, name := range []string{"alone", "in/pipe.png"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Skip(err)
		}
	}
	fatal.If(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "in", "dangling.png")))
	o := predict.FilesOptions{Images: []string{filepath.Join(dir, "alone"), filepath.Join(dir, "in")}, Out: filepath.Join(dir, "p.csv")}
	s := fatal.Get(p.Files(t.Context(), o))(t)
	if s.Predicted != 1 || s.Failed != 3 {
		t.Errorf("%+v", s)
	}
	list := content(t, s.FailedFile)
	for _, want := range []string{`alone,"it is a pipe, want a regular file"`, `pipe.png,"it is a pipe, want a regular file"`, "dangling.png,no such file"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in %s", want, list)
		}
	}
}
