package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Photos from a Mac beside others: names that Unicode calls equivalent are one in folders, labels,
// classes and targets; a class that is nearly another is said.
func TestUnicodeNames(t *testing.T) {
	dir, from := t.TempDir(), photoFolder(t)
	root := filepath.Join(dir, "photos")
	for to, of := range map[string]string{"Ho\u0308he/Ba\u0308r": "day/cat", "H\u00f6he/B\u00e4r": "night/cat", "S/Ba\u0308r": "day/dog", "S/hosre": "night/dog", "S/horse": "night/cat"} {
		fatal.If(t, os.CopyFS(filepath.Join(root, to), os.DirFS(filepath.Join(from, of))))
		if to[0] == 'H' { // their names differ, as they do on a card
			fatal.If(t, os.Rename(filepath.Join(root, to, "1.png"), filepath.Join(root, to, filepath.Base(of)+filepath.Dir(of)+".png")))
		}
	}
	fatal.If(t, os.WriteFile(filepath.Join(dir, "labels.csv"), []byte("path,class\nS/B\u00e4r/2.png,horse\n"), 0o666))
	folder := []string{"--dataset", "folder", "--root", root, "--labels", "labels.csv"}
	stdout, stderr, status := call(t, dir, append([]string{"data", "check"}, folder...)...)
	if status != 0 || !strings.Contains(stdout, "15 images in 2 sites of 3 classes") || !strings.Contains(stdout, "classes horse and hosre are nearly the same name") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	folder = append(folder, "--classes", "Ba\u0308r,horse,hosre") // as intended
	if stdout, stderr, status := call(t, dir, append([]string{"data", "check"}, folder...)...); status != 0 || strings.Contains(stdout, "nearly the same name") {
		t.Errorf("with --classes: status %d, %s%s", status, stdout, stderr)
	}
	works(t, dir, append([]string{"train", "--net", "smallcnn", "--width", "4", "--image-size", "16", "--target", "Ho\u0308he", "--budget", "3", "--epochs", "2", "--cache", "cache", "--backend", "go", "--quiet", "--out", "run"}, folder...)...)
}
