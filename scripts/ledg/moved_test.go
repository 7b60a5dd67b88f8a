package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// After a folder of photos, a run or a whole project has been renamed, commands say where they
// looked and what to do, and go on there.
func TestMoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	fatal.If(t, os.MkdirAll(project, 0o777))
	rename := func(from, to string) {
		t.Helper()
		fatal.If(t, os.Rename(from, to))
	}
	rename(photoFolder(t), filepath.Join(project, "photos"))
	rename(photoFolder(t), filepath.Join(project, "site"))
	fatal.If(t, os.RemoveAll(filepath.Join(project, "site", "night")))
	for _, name := range []string{"1.png", "2.png", "3.png"} { // images that the run does not have
		for _, class := range []string{"cat", "dog"} {
			path := filepath.Join(project, "site", "day", class, name)
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, append(b, class+name...), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	do := func(args ...string) string {
		t.Helper()
		stdout, stderr, status := call(t, project, args...)
		if status != 0 {
			t.Errorf("%q: status %d, %s%s", args, status, stdout, stderr)
		}
		return stdout + stderr
	}
	refused := func(want string, args ...string) {
		t.Helper()
		stdout, stderr, status := call(t, project, args...)
		if status == 0 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d, %s%s, want %q", args, status, stdout, stderr, want)
		}
	}
	do("train", "--dataset", "folder", "--root", "photos", "--net", "smallcnn", "--width", "4", "--image-size", "16", "--budget", "4", "--epochs", "1", "--cache", "cache", "--backend", "go", "--target", "none", "--out", "run", "--quiet")
	do("site", "run", "--images", "site", "--out", "north", "--quiet")

	rename(filepath.Join(project, "photos"), filepath.Join(project, "fotos"))
	gone := "root folder " + filepath.Join(project, "photos") + ": no such file or directory; if the images have moved, --root DIR says where they are now"
	refused(gone, "extend", "run", "--budget", "5", "--quiet")
	do("report", "run", "--out", "without.html")
	do("report", "run", "--root", "fotos", "--out", "with.html")
	do("report", "run", "--root", "folder=fotos", "--out", "named.html")
	rename(filepath.Join(project, "fotos"), filepath.Join(project, "site=fotos"))
	do("report", "run", "--root", "site=fotos", "--out", "equals.html")
	rename(filepath.Join(project, "site=fotos"), filepath.Join(project, "fotos"))
	pictures := func(page string) int { return strings.Count(read(t, filepath.Join(project, page)), "<img") }
	if without, with, named := pictures("without.html"), pictures("with.html"), pictures("named.html"); with <= without || with != named || with != pictures("equals.html") {
		t.Errorf("reports have %d pictures, %d with --root DIR, %d with --root folder=DIR, %d with = in DIR", without, with, named, pictures("equals.html"))
	}
	do("extend", "run", "--budget", "5", "--root", "fotos", "--out", "run-2", "--quiet")
	refused("--root "+filepath.Join("site", "day")+" has none of the images of run-2, such as day/cat/1.png: put the new images into a folder beside those", "extend", "run-2", "--root", filepath.Join("site", "day"))

	rename(filepath.Join(project, "site"), filepath.Join(project, "place"))
	refused("if the images have moved, --images DIR says where they are now", "site", "--out", "north", "--quiet")
	do("site", "--out", "north", "--images", "place", "--quiet")
	rename(filepath.Join(project, "run"), filepath.Join(project, "renamed"))
	refused("the run of the site north is no longer in "+filepath.Join(project, "run")+": where is it now? ledg site RUN --out north", "site", "--out", "north", "--quiet")
	refused("the run of the site north is no longer in", "predict", "north", "--images", "place", "--out", "p.csv")
	do("site", "renamed", "--out", "north", "--quiet")
	rename(project, filepath.Join(dir, "elsewhere"))
	project = filepath.Join(dir, "elsewhere")
	do("predict", "north", "--images", "place", "--out", "p.csv", "--quiet")
	do("site", "--out", "north", "--images", "place", "--quiet")
}

// Files and folders can be left out of a run that is extended.
func TestExtendExclude(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := photoFolder(t)
	train := []string{"train", "--dataset", "folder", "--root", root, "--budget", "4", "--epochs", "1", "--cache", "cache", "--backend", "go", "--target", "night", "--quiet"}
	runs := map[string][]string{"pixels": {"--net", "smallcnn", "--width", "4", "--image-size", "16"}}
	if hasPretrained() {
		runs["features"] = nil
	}
	for name, more := range runs {
		works(t, dir, append(append(train, "--out", name), more...)...)
		prints(t, "/2 ", dir, "extend", name, "--exclude", "night/cat/1.png", "--exclude", "night/dog", "--epochs", "2", "--out", name+"-2", "--quiet")
	}
	refused(t, `--exclude: "[" is no pattern`, 2, dir, "extend", "pixels", "--exclude", "[")
	if !hasPretrained() {
		return
	}
	// What is cheap is checked before another photo is embedded.
	fatal.If(t, os.CopyFS(filepath.Join(root, "dusk"), os.DirFS(filepath.Join(root, "day"))))
	for flag, value := range map[string]string{"--budget": "many", "--out": "pixels"} {
		stdout, stderr, status := call(t, dir, "extend", "features", "--root", root, flag, value)
		if status != 2 || !strings.Contains(stderr, flag) || strings.Contains(stderr, "computing features") {
			t.Errorf("%s %s: status %d, %s%s", flag, value, status, stdout, stderr)
		}
	}
}
