package nb

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/study"
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

func TestProgress(t *testing.T) {
	e := ceg.Event{Epoch: 1, Epochs: 4, Step: 5, Steps: 10, Loss: 1.5, Labelled: 40, TargetAcc: math.NaN(), ValAcc: 0.25}
	if got, want := epochs(e), 1.5/4; got != want {
		t.Errorf("%v of the epochs are over, want %v", got, want)
	}
	got := barHTML(epochs(e), 90*time.Second, describe(e), "a < b", "")
	for _, want := range []string{`value="0.375"`, "38%, 1m30s left<br>epoch 2 of 4, 40 labels, loss 1.500, validation 25.0%<br>a &lt; b"} {
		if !strings.Contains(got, want) {
			t.Errorf("the bar is %s\nwant %s", got, want)
		}
	}
	e.Done = true
	if got, want := epochs(e), 0.5; got != want {
		t.Errorf("after an epoch %v is over, want %v", got, want)
	}
}

// An output that need not stay is taken by the next bar, and by no other.
func TestVacant(t *testing.T) {
	vacant = "photos"
	first, second := new(bar), new(bar)
	if got := first.place(); got != "photos" || first.place() != got {
		t.Errorf("the first bar is in %q", got)
	}
	if got := second.place(); got == "photos" || got == "" {
		t.Errorf("the second bar is in %q, too", got)
	}
}
