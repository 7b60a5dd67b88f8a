package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A photo with an EXIF orientation counts as the upright photo that a viewer shows, in training,
// prediction and export; with --decode stored, and in a run begun before the setting was there, it
// lies on its side.
func TestUpright(t *testing.T) {
	dir := t.TempDir()
	root := photoFolder(t)
	for to, from := range map[string]string{"night/cat/turned.png": "png_6.png", "night/cat/upright.png": "png_6.want.png"} {
		data := fatal.Get(os.ReadFile(filepath.Join("../../datasets/rgb/testdata/photo", from)))(t)
		fatal.If(t, os.WriteFile(filepath.Join(root, to), data, 0o666))
	}
	prints(t, "1 photo with an EXIF orientation is turned upright", dir, "data", "check", "--dataset", "folder", "--root", root)
	// equal reports whether a run says the same of both files.
	equal := func(run string) bool {
		t.Helper()
		table := run + ".csv"
		works(t, dir, "predict", run, "--images", filepath.Join(root, "night", "cat"), "--out", table, "--quiet")
		text := fatal.Get(os.ReadFile(filepath.Join(dir, table)))(t)
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		if err != nil || len(rows) != 6 {
			t.Fatalf("%v, %s", err, text)
		}
		return slices.Equal(rows[4][1:], rows[5][1:])
	}
	train := func(run string, args ...string) {
		t.Helper()
		works(t, dir, append(args, "--out", run, "--quiet", "--backend", "go")...)
	}
	pixels := []string{"train", "--dataset", "folder", "--root", root, "--net", "smallcnn", "--width", "4", "--image-size", "16", "--target", "day", "--budget", "4", "--epochs", "2", "--cache", "cache"}
	train("pixels", pixels...)
	train("stored", append(pixels, "--decode", "stored")...)
	features := []string{"embed", "--dataset", "folder", "--root", root, "--net", "smallcnn", "--width", "4", "--weights", "none", "--size", "16"}
	train("photo.safetensors", features...)
	train("stored.safetensors", append(features, "--decode", "stored")...)
	for _, name := range []string{"photo", "stored"} {
		train(name+"-features", "train", "--dataset", "features", "--root", name+".safetensors", "--target", "day", "--budget", "4", "--epochs", "2")
	}
	for run, want := range map[string]bool{"pixels": true, "stored": false, "photo-features": true, "stored-features": false} {
		if equal(run) != want {
			t.Errorf("%s: the same of a turned and an upright photo is %v, want %v", run, !want, want)
		}
	}
	config, err := os.ReadFile(filepath.Join(dir, "stored", "config.json"))
	if err != nil || strings.Contains(string(config), "decode") {
		t.Errorf("the config of stored pixels is another than before there was the setting: %s, %v", config, err)
	}
	for run, want := range map[string]string{"pixels": "exif_transpose", "stored": "Image.open(path).convert"} {
		fatal.If(t, os.Mkdir(filepath.Join(dir, run+"-onnx"), 0o777))
		works(t, dir, "export", run, "--out", run+"-onnx/model.onnx")
		code, err := os.ReadFile(filepath.Join(dir, run+"-onnx", "model.py"))
		if err != nil || !strings.Contains(string(code), want) {
			t.Errorf("%s: the example has no %s: %s, %v", run, want, code, err)
		}
	}
	refused(t, "--decode", 2, dir, "train", "--target", "photo", "--decode", "photo", "--out", "x")
	refused(t, `"upright", want photo (or full), stored, or page2 to page9`, 2, dir, "data", "check", "--dataset", "folder", "--root", root, "--decode", "upright")
}
