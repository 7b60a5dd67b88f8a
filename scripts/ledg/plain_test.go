package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names that an import brings are no commands for the terminal.
func TestImportedNames(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "photos")
	unlabelled(t, root)
	text := "id,label,annotator\nday/0.png,cat,\"\x1b]0;owned\x07ann\"\nday/0.png,dog,\"\x1b[2Jbob\"\n"
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, errs, status := call(t, dir, "label", "import", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--format", "csv", "a.csv")
	if status != 0 || !strings.Contains(out, `\x1b[2Jbob`) || strings.ContainsAny(out+errs, "\x1b\x07") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
	out, errs, status = call(t, dir, "label", "agreement", root)
	if status != 0 || !strings.Contains(out, `\x1b]0;owned\aann`) || strings.ContainsAny(out+errs, "\x1b\x07") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
}
