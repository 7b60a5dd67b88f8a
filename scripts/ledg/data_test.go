package main

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// photos makes a folder of 2 domains, 2 classes and 3 images in each cell, all
// different, and returns its path.
func photoFolder(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "photos")
	value := uint8(0)
	for _, dir := range []string{"day/cat", "day/dog", "night/cat", "night/dog"} {
		fatal.If(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
		for _, name := range []string{"1.png", "2.png", "3.png"} {
			m := image.NewGray(image.Rect(0, 0, 8, 8))
			value++
			m.SetGray(1, 2, color.Gray{Y: value})
			f := fatal.Get(os.Create(filepath.Join(root, dir, name)))(t)
			fatal.If(t, png.Encode(f, m))
			fatal.If(t, f.Close())
		}
	}
	return root
}

func TestDataCheck(t *testing.T) {
	root := photoFolder(t)
	stdout, stderr, status := call(t, ".", "data", "check", "--dataset", "folder", "--root", root)
	if status != 0 || stderr != "" || !strings.Contains(stdout, "12 images in 2 sites of 2 classes") {
		t.Errorf("status %d, stderr %q, stdout\n%s", status, stderr, stdout)
	}
	// A truncated image is in the report, and is an error.
	broken := filepath.Join(root, "night", "dog", "2.png")
	fatal.If(t, os.Truncate(broken, 40))
	stdout, stderr, status = call(t, ".", "data", "check", "--dataset", "folder", "--root", root, "--json")
	if status != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "night/dog/2.png") {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	var report datasets.Report
	fatal.If(t, json.Unmarshal([]byte(stdout), &report))
	if len(report.Unreadable) != 1 || report.Unreadable[0].ID != "night/dog/2.png" {
		t.Errorf("unreadable: %v", report.Unreadable)
	}
}

func TestDataErrors(t *testing.T) {
	root := photoFolder(t)
	file, empty := filepath.Join(root, "day", "cat", "1.png"), t.TempDir()
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"nope"}, 2, `unknown command "nope" for "ledg data" (see ledg data --help)`},
		{[]string{"check", "--dataset", "imagenet"}, 2, `--dataset "imagenet": want one of`},
		{[]string{"check", "--dataset", "folder"}, 2, "--root is missing"},
		{[]string{"check", "--dataset", "folder", "--root", root + "x"}, 2, "--root " + root + "x: no such file or directory"},
		{[]string{"check", "--dataset", "folder", "--root", file}, 2, "--root " + file + ": not a folder"},
		{[]string{"check", "--dataset", "pacs", "--root", root, "--splits", root + "x"}, 2, "--splits " + root + "x: no such"},
		{[]string{"check", "--dataset", "folder", "--root", empty}, 1, empty},
		{[]string{"check", "--classes", "a,b"}, 2, "--classes a,b: glyphs has its own classes; --dataset folder takes your own images"},
		{[]string{"check", "--dataset", "folder", "--root", root, "--classes", "cat,cat"}, 2, `--classes: classes "cat,cat": class "cat" is there twice`},
		{[]string{"check", "--dataset", "folder", "--root", root, "--classes", "cat,cow"}, 1, `class "dog" is not one of the 2 classes`},
		{[]string{"check", "--dataset", "folder", "--root", root, "--labels", root + "/x.csv"}, 2, "--labels: open " + root + "/x.csv: no such file"},
		{[]string{"check", "--split-seed", "-1"}, 2, `invalid argument "-1"`},
	} {
		refused(t, tt.want, tt.status, ".", append([]string{"data"}, tt.args...)...)
	}
}

// A pool that nobody has labelled is checked without a class, and with a labels file.
func TestDataCheckUnlabelled(t *testing.T) {
	root := photoFolder(t)
	for from, to := range map[string]string{"day/cat/1.png": "day/1.png", "day/dog/1.png": "day/2.png", "night/cat/1.png": "night/=cmd|calc.png"} {
		fatal.If(t, os.Rename(filepath.Join(root, from), filepath.Join(root, to)))
	}
	for _, dir := range []string{"day/cat", "day/dog", "night/cat", "night/dog"} {
		os.RemoveAll(filepath.Join(root, dir))
	}
	prints(t, "\nfolder: 3 images in 2 sites of 0 classes (0 labelled: 0 train, 0 val; 3 unlabelled)", ".", "data", "check", "--dataset", "folder", "--root", root)
	file := filepath.Join(root, "labels.csv")
	fatal.If(t, os.WriteFile(file, []byte("id,label,by\nday/1.png,cat,ann\nnight/=cmd|calc.png,dog,ann\n"), 0o666))
	prints(t, "2 sites of 2 classes (2 labelled: 2 train, 0 val; 1 unlabelled)", ".", "data", "check", "--dataset", "folder", "--root", root, "--labels", file)
}

func TestDataList(t *testing.T) {
	stdout, stderr, status := call(t, ".", "data", "list")
	if status != 0 || stderr != "" {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")[2:]
	for _, info := range datasets.All() {
		name := info.Name
		if info.About == "" || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+" ") }) {
			t.Errorf("%s is not told about in\n%s", name, stdout)
		}
	}
}
