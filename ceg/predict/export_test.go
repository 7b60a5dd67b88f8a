package predict_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/plots"
)

func TestExportONNX(t *testing.T) {
	dir := copied(t)
	o := run.Options{Dir: dir}
	to := filepath.Join(t.TempDir(), "model.onnx")
	files := fatal.Get(predict.ExportONNX(o, to, onnx.Float32))(t)
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	if fmt.Sprint(names) != "[model.onnx labels.txt model.md model.py]" {
		t.Errorf("files %v", names)
	}
	at := filepath.Dir(to)
	if got := content(t, filepath.Join(at, "labels.txt")); got != "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n" {
		t.Errorf("labels.txt is %q", got)
	}
	first := content(t, to)
	for _, want := range []string{`{"0":"0","1":"1",`, "[16,16]", "NCHW", "uniform-ce", "labels_spent", "license"} {
		if !strings.Contains(first, want) {
			t.Errorf("the file's metadata have no %s", want)
		}
	}
	card, example := content(t, filepath.Join(at, "model.md")), content(t, filepath.Join(at, "model.py"))
	if !strings.Contains(card, "```python\n"+example+"```") {
		t.Error("the card's example is not the file's")
	}
	for _, want := range []string{"Labels: 81", "| last epoch | 2 |", "Not calibrated", "## Licence", "never trained on: photo"} {
		if !strings.Contains(card, want) {
			t.Errorf("the card has no %q", want)
		}
	}

	// Again, to the same bytes; and with a temperature.
	fatal.Get(predict.ExportONNX(o, to, onnx.Float32))(t)
	if content(t, to) != first {
		t.Error("exported again, the file differs")
	}
	p := open(t, dir)
	fatal.Get(p.Calibrate(t.Context()))(t)
	fatal.Get(predict.ExportONNX(o, to, onnx.Uint8))(t)
	if got := content(t, to); !strings.Contains(got, "inverse_temperature") || !strings.Contains(got, "NHWC") {
		t.Error("neither the temperature nor the layout is in the file")
	}
	if got := content(t, filepath.Join(at, "model.md")); !strings.Contains(got, "180 held-out labelled images") {
		t.Error("the card does not say what the temperature was fitted on")
	}

	// Files of others are left alone, also one that has these classes among others.
	for _, text := range []string{"cat\n", content(t, filepath.Join(at, "labels.txt")) + "cat\n"} {
		mine := filepath.Join(t.TempDir(), "labels.txt")
		put(t, mine, []byte(text))
		other := filepath.Join(filepath.Dir(mine), "model.onnx")
		fatal.Says(t, fatal.Err(predict.ExportONNX(o, other, onnx.Float32)), "labels.txt")
		if _, err := os.Stat(other); err == nil || content(t, mine) != text {
			t.Error("something was written")
		}
	}
}

// The card's example, run word for word, says what ledg says.
func TestExampleInPython(t *testing.T) {
	python := cmp.Or(os.Getenv("LEDG_TEST_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import onnx, onnxruntime, numpy, PIL").Run(); err != nil {
		t.Skipf("%s has no onnx, onnxruntime, numpy and pillow; LEDG_TEST_PYTHON can name one that has", python)
	}
	dir, out := copied(t), t.TempDir()
	p := open(t, dir)
	images, _ := gallery(t, 20)
	good := fatal.Get(filepath.Glob(filepath.Join(images, "d*", "*.png")))(t)
	slices.Sort(good)
	table := filepath.Join(out, "p.csv")
	fatal.Get(p.Files(t.Context(), predict.FilesOptions{Images: good, Out: table}))(t)
	rows := fatal.Get(csv.NewReader(strings.NewReader(content(t, table))).ReadAll())(t)
	for _, input := range []onnx.Input{onnx.Float32, onnx.Uint8} {
		model := filepath.Join(out, string(input), "model.onnx")
		fatal.If(t, os.MkdirAll(filepath.Dir(model), 0o777))
		fatal.Get(predict.ExportONNX(run.Options{Dir: dir}, model, input))(t)
		if b, err := exec.Command(python, "-c", "import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True)", model).CombinedOutput(); err != nil {
			t.Fatalf("onnx.checker: %s", b)
		}
		b := fatal.Get(exec.Command(python, append([]string{strings.TrimSuffix(model, ".onnx") + ".py"}, good...)...).Output())(t)
		lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
		if len(lines) != len(good) {
			t.Fatalf("%d lines for %d images", len(lines), len(good))
		}
		for i, line := range lines {
			f := strings.Split(string(line), "\t")
			want := rows[i+1]
			got, err1 := strconv.ParseFloat(f[2], 64)
			ours, err2 := strconv.ParseFloat(want[2], 64)
			// The example prints four digits.
			if err1 != nil || err2 != nil || f[0] != want[0] || f[1] != want[1] || math.Abs(got-ours) > 1.5e-4 {
				t.Errorf("%s: line %q, want %q", input, line, want[:3])
			}
		}
	}
}

func TestContact(t *testing.T) {
	p := open(t, copied(t))
	dir, _ := gallery(t, 30)
	out := filepath.Join(t.TempDir(), "p.parquet")
	fatal.Get(p.Files(t.Context(), predict.FilesOptions{Images: []string{dir}, Out: out}))(t)
	d := fatal.Get(predict.Contact(out, 4))(t)
	if len(d.Tiles) != 12 {
		t.Fatalf("%d tiles", len(d.Tiles))
	}
	all := table(t, out)
	for i, c := range []struct {
		name  string
		value func(p predict.Prediction) float64 // smallest first
		score func(t plots.Tile) float64
	}{
		{"most confident", func(p predict.Prediction) float64 { return -float64(p.Probability) }, func(t plots.Tile) float64 { return -t.Scores[0].Value }},
		{"smallest margin", func(p predict.Prediction) float64 { return float64(p.Margin) }, func(t plots.Tile) float64 { return t.Scores[1].Value }},
		{"most distant", func(p predict.Prediction) float64 { return -float64(p.Distance) }, func(t plots.Tile) float64 { return -t.Scores[2].Value }},
	} {
		var values []float64
		for _, p := range all {
			values = append(values, c.value(p))
		}
		slices.Sort(values)
		for k, tile := range d.Tiles[4*i : 4*i+4] {
			if tile.Domain != c.name || c.score(tile) != values[k] {
				t.Errorf("%s, number %d: %s with %v, want %v", c.name, k, tile.Domain, c.score(tile), values[k])
			}
		}
	}
	if _, err := plots.ContactSheet(plots.Print(), d); err != nil {
		t.Error(err)
	}
}
