package main

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a run trained is used: calibrated, exported, asked about images, drawn, and
// written as a page.
func TestUseARun(t *testing.T) {
	dir := t.TempDir()
	ledg := func(want string, args ...string) {
		t.Helper()
		stdout, stderr, status := call(t, dir, args...)
		if status != 0 || !strings.Contains(stdout, want) {
			t.Fatalf("ledg %s: status %d, %q, %s; want %q", strings.Join(args, " "), status, stdout, stderr, want)
		}
	}
	refuses := func(want string, args ...string) {
		t.Helper()
		stdout, stderr, status := call(t, dir, args...)
		checkError(t, want, 2, stdout, stderr, status)
	}
	ledg("", tiny("run", "--quiet")...)
	if err := os.Mkdir(filepath.Join(dir, "images"), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "images", "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(filepath.Join(dir, "images", "b.jpg"), []byte("no image"), 0o666); err != nil {
		t.Fatal(err)
	}
	ledg("source validation", "calibrate", "run", "--backend", "go")
	ledg("p.csv: 1 images", "predict", "run", "--images", "images", "--out", "p.csv", "--backend", "go")
	ledg("1 files could not be read", "predict", "run", "--images", "images/a.png", "images/b.jpg", "--out", "p.jsonl", "--backend", "go", "--quiet")
	ledg("labels.txt", "export", "run", "--to", "model.onnx")
	ledg("", "figure", "reliability", "--run", "run", "--out", "r.svg")
	ledg("report.html", "report", "run", "--out", "report.html", "--backend", "go")
	for _, name := range []string{"p.csv", "p.failed.csv", "p.jsonl", "model.onnx", "model.md", "model.py", "r.svg", "report.html"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	refuses("--out x.pt", "export", "run", "--to", "x.pt")
	refuses("--out", "predict", "run", "--images", "images", "--out", "x.txt")
	refuses("--embeddings", "predict", "run", "--images", "images", "--out", "x.csv", "--embeddings", "x.csv")
	refuses("--input", "export", "run", "--to", "x.onnx", "--input", "int8")
	refuses("--out x.pdf", "report", "run", "--out", "x.pdf")
	refuses("one run", "figure", "reliability", "--study", "run", "--out", "r.svg")
}
