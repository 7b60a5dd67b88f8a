package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A folder that can be read in two ways is an error that names both.
func TestUnclearLayout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := photoFolder(t)
	for _, name := range []string{"cat", "dog"} {
		fatal.If(t, os.Rename(filepath.Join(root, "night", name), filepath.Join(root, "night", "dark"+name)))
	}
	check := []string{"data", "check", "--dataset", "folder", "--root", root}
	stdout, stderr, status := call(t, dir, check...)
	checkError(t, "such as ", 2, stdout, stderr, status)
	checkError(t, "may be classes or not: no two sites have one of the same name; --layout '{site}/{class}/{name}' reads them as classes, --layout '{site}/**/{name}' does not", 2, stdout, stderr, status)
	prints(t, "2 sites, 4 classes", dir, append(check, "--layout", "{site}/{class}/{name}")...)
}

// A folder of splits is trained on as it was recognised, which the run records; a layout that is
// named counts instead; one site is enough.
func TestLayoutOfRun(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "photos")
	from := photoFolder(t)
	for _, split := range []string{"train", "test"} {
		fatal.If(t, os.CopyFS(filepath.Join(root, split), os.DirFS(filepath.Join(from, "day"))))
	}
	train := []string{"train", "--dataset", "folder", "--root", root, "--net", "smallcnn", "--width", "4", "--image-size", "16", "--budget", "4", "--epochs", "2", "--cache", "cache", "--backend", "go"}
	says(t, "read as split/class: one site, 2 classes; --layout sets another reading; with one site there is no estimate for a new site\nsplit folders: train ", dir, append(train, "--target", "none", "--method", "fixmatch", "--out", "one")...)
	if list := read(t, filepath.Join(dir, "one", "queries.csv")); strings.Contains(list, "test/") || !strings.Contains(list, "train/") {
		t.Errorf("it queried images that are held out:\n%s", list)
	}
	prints(t, "test: ", dir, "eval", "one")
	config, err := os.ReadFile(filepath.Join(dir, "one", "config.json"))
	if err != nil || !strings.Contains(string(config), `"layout": "{split}/{class}/{name}"`) {
		t.Errorf("%s, %v", config, err)
	}
	says(t, "read as site/class: 2 sites, 2 classes", dir, append(train, "--target", "test", "--budget", "2", "--layout", "{site}/{class}/{name}", "--out", "two")...)
	works(t, dir, "eval", "two")
	refused(t, "want {name} at its end", 2, dir, append(train, "--target", "test", "--layout", "{site}/{class}", "--out", "x")...)
	works(t, dir, "embed", "--dataset", "folder", "--root", root, "--site", "(train|test)", "--net", "smallcnn", "--width", "4", "--weights", "none", "--size", "16", "--backend", "go", "--out", "x.safetensors")
	prints(t, "12 images in 2 domains", dir, "data", "check", "--dataset", "features", "--root", "x.safetensors")
}
