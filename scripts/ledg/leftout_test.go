package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// inputs copies a folder of testdata/inputs.
func inputs(t *testing.T, name string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	fatal.If(t, os.CopyFS(to, os.DirFS(filepath.Join("testdata", "inputs", name))))
	return to
}

// place puts a file of testdata/inputs to a path.
func place(t *testing.T, from, to string) {
	t.Helper()
	data := fatal.Get(os.ReadFile(filepath.Join("testdata", "inputs", from)))(t)
	fatal.If(t, os.MkdirAll(filepath.Dir(to), 0o777))
	fatal.If(t, os.WriteFile(to, data, 0o666))
}

// Damaged images are left out, listed and counted by all commands; --strict stops at them, and
// --exclude leaves others out.
func TestDamagedPhotos(t *testing.T) {
	dir := t.TempDir()
	root := inputs(t, "damaged")
	place(t, "IMG_0001.HEIC", filepath.Join(root, "north", "cat", "IMG_0001.HEIC"))
	place(t, "damaged/south/dog/dog_0.jpg", filepath.Join(root, "@eaDir", "x", "y", "SYNOPHOTO_THUMB_M.jpg"))
	place(t, "damaged/south/dog/dog_0.jpg", filepath.Join(root, "System Volume Information", "x.jpg"))
	place(t, "damaged/south/dog/dog_1.jpg", filepath.Join(root, "north", "dog", "thumb_1.jpg"))
	folder := []string{"--dataset", "folder", "--root", root, "--exclude", "thumb_*"}
	const damaged, heic = "south/dog/dog_3.jpg: the file is truncated", "north/cat/IMG_0001.HEIC: it is HEIC; convert it to JPEG, with: heif-convert"
	small := []string{"--net", "smallcnn", "--width", "4", "--backend", "go"}
	embed := append(append([]string{"embed", "--weights", "none", "--size", "16"}, small...), folder...)
	train := append(append([]string{"train", "--image-size", "16", "--target", "north", "--budget", "4", "--epochs", "2", "--cache", "cache", "--quiet"}, small...), folder...)
	all := func(name, text string) {
		t.Helper()
		for _, want := range []string{damaged, heic, "north/dog/thumb_1.jpg: excluded by thumb_*"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", name, want, text)
			}
		}
	}

	stdout, stderr, status := call(t, dir, append([]string{"data", "check"}, folder...)...)
	if status != 1 || !strings.Contains(stdout, "1 image that cannot be decoded") || strings.Contains(stdout, "eaDir") {
		t.Errorf("data check: status %d, %s%s", status, stdout, stderr)
	}
	all("data check", stdout)
	stdout, stderr, status = call(t, dir, append(embed, "--out", "x.safetensors")...)
	if status != 0 || !strings.Contains(stdout, "15 images") || !strings.Contains(stderr, "3 files are left out: ") {
		t.Errorf("embed: status %d, %s%s", status, stdout, stderr)
	}
	all("embed", stderr)
	stdout, _, status = call(t, dir, "data", "check", "--dataset", "features", "--root", "x.safetensors")
	if status != 0 || !strings.Contains(stdout, "3 files skipped") {
		t.Errorf("features: status %d, %s", status, stdout)
	}
	all("data check of features", stdout)

	_, stderr, status = call(t, dir, append(train, "--out", "run")...)
	if status != 0 {
		t.Fatalf("train: %s", stderr)
	}
	all("train", stderr)
	works(t, dir, "train", "--dataset", "features", "--root", "x.safetensors", "--target", "north", "--budget", "4", "--epochs", "2", "--backend", "go", "--out", "features", "--quiet")
	for _, run := range []string{"run", "features"} {
		list := fatal.Get(os.ReadFile(filepath.Join(dir, run, "left-out.csv")))(t)
		all(run, strings.ReplaceAll(strings.NewReplacer("jpg,", "jpg: ", "HEIC,", "HEIC: ").Replace(string(list)), "\"", ""))
		prints(t, "3 files were left out of the data set: left-out.csv lists them", dir, "eval", run)
		works(t, dir, "report", run, "--out", run+".html")
		html, err := os.ReadFile(filepath.Join(dir, run+".html"))
		if err != nil || !strings.Contains(string(html), "3 files were left out of the data set") {
			t.Errorf("the report of %s does not count them: %v", run, err)
		}
	}

	refused(t, damaged, 1, dir, append(embed, "--strict", "--quiet", "--out", "strict.safetensors")...)
	refused(t, damaged, 1, dir, append(train, "--strict", "--out", "strict")...)
	refused(t, `--exclude: "[" is no pattern`, 2, dir, append(embed, "--exclude", "[", "--out", "z.safetensors")...)

	// Nothing that can be read.
	refused(t, "none of 1 files in", 1, dir, "predict", "run", "--images", filepath.Join(root, "south", "dog", "dog_3.jpg"), "--out", "p.csv", "--quiet")
	phones := t.TempDir()
	for _, site := range []string{"north", "south"} {
		place(t, "IMG_0001.HEIC", filepath.Join(phones, site, "IMG_0001.HEIC"))
	}
	refused(t, "1 file left out, first north/IMG_0001.HEIC: it is HEIC; convert it", 1, dir, "data", "check", "--dataset", "folder", "--root", phones)
}
