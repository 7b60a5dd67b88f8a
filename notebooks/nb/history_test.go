package nb

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/internal/fatal"
	"github.com/ledg-go/ledg/plots"
)

func point(x, y float64) plots.Point { return plots.Point{X: x, Values: []float64{y}} }

// What events tell of a run is what its records hold of it, epochs counted from 1.
func TestHistory(t *testing.T) {
	acc := func(target, val int) []result.Accuracy {
		return []result.Accuracy{{Split: result.TestSplit, Tally: result.Tally{Correct: target, Total: 4}}, {Split: result.ValSplit, Tally: result.Tally{Correct: val, Total: 2}}}
	}
	records := newHistory(3, []result.Record{
		{Epoch: 0, Labels: 5, Loss: result.Losses{{Name: "ce", Value: 9}, {Name: "ss", Value: 2}}, Accuracy: acc(1, 1)},
		{Epoch: 1, Labels: 8, Loss: result.Losses{{Name: "ss", Value: 1.5}}},
		{Epoch: 2, Labels: 8, Loss: result.Losses{{Name: "ss", Value: math.NaN()}}, Accuracy: acc(3, 2)},
	})
	events := new(history)
	nan := math.NaN()
	for _, e := range []ceg.Event{
		{Message: "a line"},
		{Epoch: 0, Step: 1, Loss: 3, Labelled: 5, TargetAcc: nan, ValAcc: nan},
		{Epoch: 0, Step: 2, Loss: 1, Labelled: 5, TargetAcc: nan, ValAcc: nan},
		{Epoch: 0, Step: 2, Loss: 2, Labelled: 5, TargetAcc: 0.25, ValAcc: 0.5, Done: true},
		{Epoch: 0, Step: 2, Loss: 7, Labelled: 5, TargetAcc: 0.25, ValAcc: 0.5, Done: true, Message: "said after it"},
		{Epoch: 1, Step: 1, Loss: 1.5, Labelled: 8, TargetAcc: 0.25, ValAcc: 0.5},
		{Epoch: 1, Step: 2, Loss: 1.5, Labelled: 8, TargetAcc: nan, ValAcc: nan, Done: true},
		{Epoch: 2, Step: 2, Loss: nan, Labelled: 8, TargetAcc: 0.75, ValAcc: 1, Done: true},
	} {
		e.Epochs, e.Steps = 3, 2
		events.add(e)
	}
	want := plots.TrainingData{Epochs: 3, Queried: []float64{1},
		Loss:   []plots.Point{point(1, 2), point(2, 1.5)},
		Target: []plots.Point{point(1, 25), point(3, 75)}, Source: []plots.Point{point(1, 50), point(3, 100)}}
	for name, h := range map[string]*history{"records": records, "events": events} {
		if !reflect.DeepEqual(h.TrainingData, want) {
			t.Errorf("%s give %+v\nwant %+v", name, h.TrainingData, want)
		}
	}
}

// While an epoch is on its loss is the mean over the steps so far.
func TestHistoryOfAnEpoch(t *testing.T) {
	h := new(history)
	if _, err := h.figure(0); err == nil {
		t.Error("a run that has not begun has a figure")
	}
	for step, loss := range []float64{4, 2} {
		h.add(ceg.Event{Epochs: 2, Steps: 4, Step: step + 1, Loss: loss, Labelled: 3, TargetAcc: math.NaN(), ValAcc: math.NaN()})
	}
	g := fatal.Get(h.figure(0.5))(t)
	if y := g.Panels[0].Plot.Y; y.Min >= 3 || y.Max <= 3 || len(h.Loss) != 0 {
		t.Errorf("the axis goes from %v to %v, and %d epochs are kept; want the loss 3 on it, none", y.Min, y.Max, len(h.Loss))
	}
}

// A run whose head is fitted at once, in closed form or by logistic regression, has no curves.
func TestHistoryAtOnce(t *testing.T) {
	h := newHistory(2, []result.Record{{Epoch: 0, Labels: 3, Loss: result.Losses{{Name: "total", Value: 0}}}})
	if _, err := h.figure(1); !errors.Is(err, errAtOnce) {
		t.Errorf("a run without a loss has a figure: %v", err)
	}
	h = newHistory(2, []result.Record{{Epoch: 0, Labels: 3, Loss: result.Losses{{Name: "total", Value: 0.1}}}, {Epoch: 1, Labels: 3, Loss: result.Losses{{Name: "total", Value: 0.1}}}})
	if _, err := h.figure(1); !errors.Is(err, errAtOnce) {
		t.Errorf("a run with one loss in all epochs has a figure: %v", err)
	}
	h = newHistory(2, []result.Record{{Epoch: 0, Labels: 3, Loss: result.Losses{{Name: "total", Value: 1}}}})
	if _, err := h.figure(1); err != nil {
		t.Error(err)
	}
}

// A run is shown by the first cell of a session that asks for it, and by that one again.
func TestFirstSeen(t *testing.T) {
	session := t.TempDir()
	t.Setenv("GONB_TMP_DIR", session)
	for i, c := range []struct {
		declared, cell, run string
		want                bool
	}{
		{"", "nb.Train(1)", "a", true},
		{"var more int", "nb.Compare(nb.Train(1))", "a", false},
		{"var more int", "nb.Train(1)", "a", true},
		{"", "nb.Train(1)", "b", true},
	} {
		program := "package main\n\n" + c.declared + "\nfunc main() {\n\tflag.Parse()\n" + c.cell + "\n}\n"
		fatal.If(t, os.WriteFile(filepath.Join(session, "main.go"), []byte(program), 0o600))
		if got := firstSeen(c.run); got != c.want {
			t.Errorf("cell %d shows run %s: %v, want %v", i, c.run, got, c.want)
		}
	}
}
