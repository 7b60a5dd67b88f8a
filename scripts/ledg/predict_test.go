package main

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What a run trained is used: calibrated, exported, asked about images, drawn, and
// written as a page.
func TestUseARun(t *testing.T) {
	dir := t.TempDir()
	ledg := func(want string, args ...string) {
		t.Helper()
		prints(t, want, dir, args...)
	}
	refuses := func(want string, args ...string) {
		t.Helper()
		refused(t, want, 2, dir, args...)
	}
	says(t, "probabilities are calibrated: temperature ", dir, tiny("run")...)
	fatal.If(t, os.Mkdir(filepath.Join(dir, "images"), 0o777))
	f := fatal.Get(os.Create(filepath.Join(dir, "images", "a.png")))(t)
	fatal.If(t, png.Encode(f, image.NewGray(image.Rect(0, 0, 9, 9))))
	f.Close()
	fatal.If(t, os.WriteFile(filepath.Join(dir, "images", "b.jpg"), []byte("no image"), 0o666))
	// Training calibrates. A report changes nothing of a run, and a run that is not calibrated says so
	// in every table.
	calibrated := filepath.Join(dir, "run", calibration.File)
	first := read(t, calibrated)
	predicts := func(want string) string {
		t.Helper()
		ledg("p.csv: 1 images", "predict", "run", "--images", "images", "--out", "p.csv", "--backend", "go")
		table := read(t, filepath.Join(dir, "p.csv"))
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
		return table
	}
	before := predicts(",true,true\n") // looks_new, calibrated
	fatal.If(t, os.Remove(calibrated))
	without := predicts(",true,false\n")
	ledg("report.html", "report", "run", "--out", "report.html", "--backend", "go")
	if html := read(t, filepath.Join(dir, "report.html")); exists(calibrated) || predicts("") != without || !strings.Contains(html, "Reliability") || !strings.Contains(html, "computed for this page") {
		t.Error("a report has calibrated the run, or lacks the calibration")
	}
	ledg("source validation", "calibrate", "run", "--backend", "go")
	if read(t, calibrated) != first || predicts("") != before {
		t.Error("calibrated again, the run predicts otherwise")
	}
	ledg("1 files could not be read", "predict", "run", "--images", "images/a.png", "images/b.jpg", "--out", "p.jsonl", "--backend", "go", "--quiet")
	ledg("labels.txt", "export", "run", "--out", "model.onnx")
	ledg("", "figure", "reliability", "--run", "run", "--out", "r.svg")
	ledg("report.html", "report", "run", "--out", "report.html", "--backend", "go")
	for _, name := range []string{"p.csv", "p.failed.csv", "p.jsonl", "model.onnx", "model.md", "model.py", "r.svg", "report.html"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	refuses("--out x.pt", "export", "run", "--out", "x.pt")
	refuses("--out", "predict", "run", "--images", "images", "--out", "x.txt")
	refuses("--input", "export", "run", "--out", "x.onnx", "--input", "int8")
	refuses("--out x.pdf", "report", "run", "--out", "x.pdf")
	refuses("one run", "figure", "reliability", "--dir", "run", "--out", "r.svg")
}
