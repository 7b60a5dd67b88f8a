package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/internal/fatal"
)

// flatPhotos moves the images of photoFolder into one folder and writes a table of a spreadsheet
// with their sites and classes.
func flatPhotos(t *testing.T, dir string) (root, table string) {
	t.Helper()
	from := photoFolder(t)
	root, table = filepath.Join(dir, "flat"), filepath.Join(dir, "meta.csv")
	fatal.If(t, os.Mkdir(root, 0o777))
	text := "\ufeffsep=;\r\nFilename; Class;Site\r\n"
	for _, site := range []string{"day", "night"} {
		for _, class := range []string{"cat", "dog"} {
			for _, n := range []string{"1", "2", "3"} {
				name := site + class + n + ".png"
				fatal.If(t, os.Rename(filepath.Join(from, site, class, n+".png"), filepath.Join(root, name)))
				text += fmt.Sprintf("%s; %s; %s\r\n", name, class, site)
			}
		}
	}
	fatal.If(t, os.WriteFile(table, []byte(text), 0o666))
	return root, table
}

// Sites and classes of a table are those of a run, on pixels and on features, and stay when the
// table is gone.
func TestSitesOfTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, table := flatPhotos(t, dir)
	stdout, stderr, status := call(t, dir, "data", "check", "--dataset", "folder", "--root", root, "--labels", table)
	if status != 0 || !strings.Contains(stdout, "sites by the column site of "+table+": 2 sites, 2 classes") {
		t.Fatalf("status %d, %s%s", status, stdout, stderr)
	}
	train := []string{"train", "--dataset", "folder", "--root", root, "--labels", table, "--target", "night", "--budget", "4", "--epochs", "2", "--cache", "cache", "--backend", "go", "--quiet"}
	runs := map[string][]string{"pixels": {"--net", "smallcnn", "--width", "4", "--image-size", "16"}}
	if hasPretrained() {
		runs["features"] = nil
	}
	for name, more := range runs {
		if stdout, stderr, status := call(t, dir, append(append(train, "--out", name), more...)...); status != 0 || !strings.Contains(stdout, "night") {
			t.Fatalf("%s: status %d, %s%s", name, status, stdout, stderr)
		}
	}
	fatal.If(t, os.Remove(table))
	for name := range runs {
		if stdout, stderr, status := call(t, dir, "extend", name, "--out", name+"2", "--budget", "5"); status != 0 {
			t.Errorf("%s: %s%s", name, stdout, stderr)
		}
	}
}
