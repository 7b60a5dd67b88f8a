package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
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
	prints(t, "sites by the column site of "+table+": 2 sites, 2 classes", dir, "data", "check", "--dataset", "folder", "--root", root, "--labels", table)
	train := []string{"train", "--dataset", "folder", "--root", root, "--labels", table, "--target", "night", "--budget", "4", "--epochs", "2", "--cache", "cache", "--backend", "go", "--quiet"}
	runs := map[string][]string{"pixels": {"--net", "smallcnn", "--width", "4", "--image-size", "16"}}
	if hasPretrained() {
		runs["features"] = nil
	}
	for name, more := range runs {
		prints(t, "night", dir, append(append(train, "--out", name), more...)...)
	}
	fatal.If(t, os.Remove(table))
	for name := range runs {
		works(t, dir, "extend", name, "--out", name+"2", "--budget", "5")
	}
}
