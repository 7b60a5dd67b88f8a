package nb

import (
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/plots"
)

func TestDir(t *testing.T) {
	for _, x := range []struct{ folder, variable, want string }{
		{"..", "", "../runs/notebooks/x"}, // the repository's notebooks
		{t.TempDir(), "", "runs/x"},
		{t.TempDir(), "elsewhere", "elsewhere/x"},
	} {
		t.Setenv("LEDG_RUNS", x.variable)
		t.Chdir(x.folder)
		if got := Dir("x"); got != filepath.FromSlash(x.want) {
			t.Errorf("in %s with LEDG_RUNS=%s Dir is %s, want %s", x.folder, x.variable, got, x.want)
		}
	}
}

// In quick mode configs and studies are small, and otherwise as they are.
func TestQuick(t *testing.T) {
	study := study.Study{Name: "s", Block: study.Block{
		Dataset: "glyphs", Targets: []string{"photo", "sketch"}, Seeds: []uint64{1, 2}, Methods: []string{"ceg"},
		Set: map[string]any{"generalization.delta": 0.9},
	}}
	for _, quick := range []string{"", "1"} {
		t.Setenv("LEDG_QUICK", quick)
		epochs, runs := 20, 4
		if quick != "" {
			epochs, runs = 3, 1
		}
		c := Config(config.Spec{Dataset: "glyphs", Target: "photo", Method: "ceg", Preset: config.Authors})
		if c.Schedule.Epochs != epochs || len(c.Schedule.QueryAfter) == 0 {
			t.Errorf("LEDG_QUICK=%q: %d epochs, queries after %v; want %d, some", quick, c.Schedule.Epochs, c.Schedule.QueryAfter, epochs)
		}
		p, err := Study(study, nil).Plan()
		if err != nil || len(p.Runs) != runs {
			t.Fatalf("LEDG_QUICK=%q: %d runs, %v; want %d", quick, len(p.Runs), err, runs)
		}
		if c := p.Runs[0].Config; c.Schedule.Epochs != epochs || c.Generalization.Delta != 0.9 {
			t.Errorf("LEDG_QUICK=%q: a run of %d epochs, delta %v; want %d, 0.9", quick, c.Schedule.Epochs, c.Generalization.Delta, epochs)
		}
	}
	if len(study.Set) != 1 {
		t.Errorf("the caller's settings became %v", study.Set)
	}
}

// Every study that a notebook reads can be planned in quick mode.
func TestQuickStudies(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	files, err := filepath.Glob("../../scripts/studies/*-glyphs.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d studies, %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Base(file) == "asking-late-glyphs.yaml" {
			continue // no notebook reads it: its variants say how many epochs
		}
		p, err := Study(study.Load(file)).Plan()
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, r := range p.Runs {
			if r.Config.Schedule.Epochs > 3 || r.Target != p.Runs[0].Target {
				t.Errorf("%s has the run %s of %d epochs", file, r.Dir, r.Config.Schedule.Epochs)
			}
		}
	}
}

// Curves of a run are of what its records hold. A head that is fitted at once has none.
func TestTrainingData(t *testing.T) {
	acc := func(target, val int) []result.Accuracy {
		return []result.Accuracy{{Split: result.TestSplit, Tally: result.Tally{Correct: target, Total: 4}}, {Split: result.ValSplit, Tally: result.Tally{Correct: val, Total: 2}}}
	}
	loss := func(name string, value float64) result.Losses { return result.Losses{{Name: name, Value: value}} }
	point := func(x, y float64) plots.Point { return plots.Point{X: x, Values: []float64{y}} }
	of := func(records ...result.Record) (plots.TrainingData, bool) {
		return trainingData(&result.Run{Result: &result.Result{Epochs: len(records)}, Records: records})
	}
	d, ok := of(
		result.Record{Epoch: 0, Labels: 5, Loss: append(loss("ce", 9), loss("ss", 2)...), Accuracy: acc(1, 1)},
		result.Record{Epoch: 1, Labels: 8, Loss: loss("ss", 1.5)},
		result.Record{Epoch: 2, Labels: 8, Loss: loss("ss", math.NaN()), Accuracy: acc(3, 2)})
	want := plots.TrainingData{Epochs: 3, Queried: []float64{1}, Loss: []plots.Point{point(1, 2), point(2, 1.5)},
		Target: []plots.Point{point(1, 25), point(3, 75)}, Source: []plots.Point{point(1, 50), point(3, 100)}}
	if d.Title = ""; !ok || !reflect.DeepEqual(d, want) {
		t.Errorf("records give %+v, %v\nwant %+v", d, ok, want)
	}
	for want, losses := range map[bool][][]float64{true: {{1}, {1, 0.5}}, false: {{0}, {0, 0}, {0.1, 0.1}}} {
		for _, values := range losses {
			var records []result.Record
			for i, v := range values {
				records = append(records, result.Record{Epoch: i, Loss: loss("total", v)})
			}
			if _, ok := of(records...); ok != want {
				t.Errorf("losses %v have curves: %v, want %v", values, ok, want)
			}
		}
	}
}
