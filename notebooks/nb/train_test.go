package nb

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

// panics returns what f says when it ends with an error.
func panics(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		if err, ok := recover().(error); ok {
			text = err.Error()
		}
	}()
	f()
	t.Error("no error")
	return ""
}

// A run is called by its settings: an equal call returns immediately, another one makes a new run.
func TestTrain(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	first := Train("mine", "ceg")
	done := func() time.Time {
		info, err := os.Stat(filepath.Join(first, result.ResultFile))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	at := done()
	if again := Train("mine", "ceg"); again != first || done() != at {
		t.Errorf("an equal run is %s, trained at %v; the first %s, at %v", again, done(), first, at)
	}
	other := Train("mine", "ceg", Set("gamma1", 0))
	if other == first || filepath.Dir(other) != filepath.Dir(first) || filepath.Dir(first) != Dir("mine") {
		t.Errorf("gamma1 0 is in %s, the first in %s", other, first)
	}
	run, err := result.OpenRun(other)
	if err != nil || run.Config.Exploration.Gamma1 != 0 || run.Config.Data.Target != "photo" || run.Config.Seed != 1 {
		t.Fatalf("%+v, %v", run.Config, err)
	}
	d, err := report.CurvesOver(false, "", first, other)
	if err != nil || len(d) != 1 || len(d[0].Curves) != 2 || d[0].Curves[1].Name != "Random + CEG loss, upfront, gamma1 0" {
		t.Errorf("curves %+v, %v", d, err)
	}
	Compare(first, other)
	LearningCurves(Dir("mine"))
	dirs := Sweep("mine", "ceg", "gamma1", []float64{3, 0}, 1)
	if !slices.Equal(dirs, []string{first, other}) {
		t.Errorf("the sweep's runs are %q, want %q", dirs, []string{first, other})
	}
	g, err := sweepFigure("ceg", []string{"gamma1"}, [][]float64{{3}, {0}}, [][]string{{first}, {other}})
	if err != nil || g.Panels[0].Plot.X.Label.Text != "γ_{1} (representativeness)" {
		t.Errorf("%+v, %v", g, err)
	}
	if text := reportPage(first); !strings.Contains(text, "photo") || strings.Contains(text, "<script") {
		t.Errorf("the page is %.200s", text)
	}
	for want, f := range map[string]func(){
		"did you mean ceg?":                     func() { Train("mine", "cge") },
		"exploration.gama1: no such setting":    func() { Train("mine", "ceg", Set("exploration.gama1", 1)) },
		"domain":                                func() { Train("mine", "ceg", Set("data.target", "moon")) },
		filepath.Join(Dir("mine"), "not-there"): func() { Compare(filepath.Join(Dir("mine"), "not-there")) },
	} {
		if text := panics(t, f); !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("error %q, want one line with %q", text, want)
		}
	}
}

// A run belongs to its data: other features of the same shape, or other classes for them, train a new
// run, also in the same file. Data that is not there is an error even where records are.
func TestTrainData(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	var data bytes.Buffer
	rewrite := func(change byte) { // of the first feature's least significant byte
		from, to := Must(zip.OpenReader("../results/digits.npz")), zip.NewWriter(&data)
		defer from.Close()
		data.Reset()
		for _, f := range from.File {
			b := Must(io.ReadAll(Must(f.Open())))
			if f.Name == "features.npy" {
				b[128] ^= change
			}
			Must(Must(to.CreateHeader(&zip.FileHeader{Name: f.Name})).Write(b))
		}
		Check(to.Close())
	}
	rewrite(0)
	file := filepath.Join(t.TempDir(), "a.npz")
	at := func(file string) func(*Run) {
		return func(r *Run) { r.Dataset, r.Root, r.Target, r.Budget = "features", file, "photo", "40" }
	}
	write := func(file string) string {
		Check(os.WriteFile(file, data.Bytes(), 0o666))
		return file
	}
	first := Train("mine", "logistic", at(write(file)))
	if again := Train("mine", "logistic", at(write(filepath.Join(t.TempDir(), "copy.npz")))); again != first {
		t.Errorf("a copy of the file has the run %s, want %s", again, first)
	}
	rewrite(1)
	second := Train("mine", "logistic", at(write(file)))
	if second == first || Result(second).Images == Result(first).Images {
		t.Errorf("the rewritten file has the run %s, before it was %s", second, first)
	}
	for name, dirs := range map[string][]string{
		"Seeds": Seeds(1, "mine", "logistic", at(file)), "Sweep": Sweep("mine", "logistic", "seed", []float64{1}, 1, at(file)),
		"Grid": Grid("mine", []string{"logistic"}, nil, []string{"photo"}, 1, at(file)),
	} {
		if dirs[0] != second {
			t.Errorf("%s has the run %s, want %s", name, dirs[0], second)
		}
	}

	plain := strings.TrimSuffix(first, first[strings.LastIndex(first, "-"):]) // as older versions called it
	Check(os.Rename(first, plain))
	rewrite(0)
	if dir := Train("mine", "logistic", at(write(file))); dir != plain {
		t.Errorf("the older version's run on this data is %s, got %s", plain, dir)
	}
	if text := panics(t, func() { Train("mine", "logistic", at("/nowhere/digits.npz")) }); !strings.Contains(text, "/nowhere/digits.npz") {
		t.Errorf("missing data: %q", text)
	}
}
