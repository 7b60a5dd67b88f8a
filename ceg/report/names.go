package report

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
)

// namesRow is the row of class names alone.
const namesRow = "names alone (0 labels)"

// byNames is the "run" of class names alone that a run on features with names recorded; nil without.
func byNames(out *result.Run) *RecordedRun {
	if out.Result == nil || out.Result.Names == nil {
		return nil
	}
	rec := result.Record{Accuracy: out.Result.Names.Accuracy}
	choices, err := result.Choose([]result.Record{rec})
	if err != nil {
		return nil
	}
	return &RecordedRun{&result.Run{Path: out.Path, Config: out.Config, Records: []result.Record{rec}}, choices}
}

// addNames enters what names alone reach on the target of a finished run, once for each target and seed. A measure
// that needs more than their predictions has no value.
func (t *grid) addNames(r result.PlannedRun, out *result.Run) {
	names := byNames(out)
	if names == nil {
		return
	}
	v, err := t.o.value(names)
	if err != nil {
		return
	}
	if t.names == nil {
		t.names = &row{PaperRow: PaperRow{Method: namesRow}, name: namesRow, short: "names", label: namesRow, preset: t.group.preset, budget: "0", other: true, cells: map[string][]result.Trial{}}
	}
	trial := result.Trial{Key: fmt.Sprint(r.Seed), Value: v}
	if cell := t.names.cells[r.Target]; !slices.ContainsFunc(cell, func(x result.Trial) bool { return x.Key == trial.Key }) {
		t.names.cells[r.Target] = append(cell, trial)
		t.names.planned++
	}
}

// NamesAlone returns what class names alone reach on the target of a finished run, and compares the run with them, with
// a warning if labels do not pay; nil where nothing was measured.
func NamesAlone(out *result.Run) (c *result.Choice, paying string) {
	names := byNames(out)
	if names == nil || !names.Choices.Measured() {
		return nil, ""
	}
	c = &names.Choices.LastEpoch
	n, t := out.Result.Names, c.Target
	gain := audit.Gain(audit.Paired{Both: t.Correct - n.Lost, Lost: n.Lost, Won: n.Won, Neither: t.Total - t.Correct - n.Won})
	paying = fmt.Sprintf("At the last epoch, training gains %+.1f points over names alone, 95%% interval %+.1f to %+.1f", 100*gain.Share, 100*gain.Low, 100*gain.High)
	if says := gain.OverNames(); says != "" {
		paying += ": " + says
	}
	return c, paying + "."
}
