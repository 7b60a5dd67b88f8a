package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// Evaluation holds a run's recorded accuracies.
type Evaluation struct {
	Dir      string         `json:"dir"`
	Finished bool           `json:"finished"`
	Epochs   int            `json:"epochs"`
	Labels   int            `json:"labels"`
	Accuracy result.Choices `json:"accuracy"`
}

// Evaluation returns the run's accuracies by model selection rule.
func (run *RecordedRun) Evaluation() Evaluation {
	last := run.Records[len(run.Records)-1]
	return Evaluation{run.Path, run.Result != nil, len(run.Records), last.Labels + last.Queried, run.Choices}
}

// Table returns a table of the three model selection rules.
func (run *RecordedRun) Table() *result.Table {
	t := &result.Table{
		Title: run.Path,
		Columns: []result.Column{
			{Name: "rule"}, {Name: "epoch", Right: true}, {Name: "labels", Right: true},
			{Name: "target accuracy %", Right: true}, {Name: "right", Right: true}, {Name: "source val %", Right: true},
		},
	}
	without := run.Config.Data.Target == config.NoTarget // so there is nothing to say of a target
	if without {
		t.Columns = slices.Delete(t.Columns, 3, 5)
	}
	for _, rule := range run.Choices.Rules() {
		if without {
			if c := rule.Choice; c != nil && c.SourceVal.Total > 0 {
				t.AddRow(rule.Title, fmt.Sprint(c.Epoch+1), fmt.Sprint(c.Labels), percent(c.SourceVal))
			}
			continue
		}
		c := rule.Choice
		if c == nil {
			t.AddRow(rule.Title, "-", "-", "-", "-", "-")
			continue
		}
		t.AddRow(rule.Title, fmt.Sprint(c.Epoch+1), fmt.Sprint(c.Labels), percent(c.Target), c.Target.String(), percent(c.SourceVal))
	}
	if held := run.Records[len(run.Records)-1].HeldOut(); held.Total > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("test: %d of %d right (%s%%), on the held-out test images of the data set, at the last epoch.", held.Correct, held.Total, percent(held)))
	}
	if t.Rows == nil {
		t.Columns = nil
	} else {
		t.Notes = append(t.Notes, "n = 1 run. Epochs count from 1 here and from 0 in the records. labels: those that the epoch trained with.")
	}
	if run.weights() != "" {
		t.Notes = append(t.Notes, "The network started from "+run.weights()+".")
	}
	if r := run.Result; r != nil {
		t.Title = fmt.Sprintf("%s: %s on %s, target %s, preset %s, seed %d", run.Path, run.Config.Arm().Name(), TitleOfRun(run.Run, r.Target), r.Target, r.Preset, r.Seed)
		t.Notes = append(t.Notes, ruleNotes(r)...)
		t.Notes = append(t.Notes, labelNotes(r)...)
		if !without {
			t.Notes = append(t.Notes, "The run's result.json agrees with its records.")
		}
	} else {
		t.Notes = append(t.Notes, fmt.Sprintf("The run is unfinished: %d epochs are recorded.", len(run.Records)))
	}
	return t
}

// ruleNotes says what the selection rules have looked at.
func ruleNotes(r *result.Result) []string {
	var notes []string
	switch {
	case r.ValLabels == 0 && r.Target == config.NoTarget:
	case r.ValLabels == 0:
		notes = append(notes, "best source val: there are no validation splits.")
	case r.ValInBudget:
		notes = append(notes, fmt.Sprintf("best source val uses %d validation labels, which count towards the budget.", r.ValLabels))
	default:
		notes = append(notes, fmt.Sprintf("best source val uses %d validation labels, which do not count towards the budget.", r.ValLabels))
	}
	switch r.Note {
	case result.WithoutTarget: // the table has no column of it
		return notes
	case "":
	default:
		return append(notes, strings.ToUpper(r.Note[:1])+r.Note[1:]+".")
	}
	return append(notes, "best target uses the test labels. Compare it only with papers that report it.")
}

// labelNotes says what became of labels that people gave.
func labelNotes(r *result.Result) (notes []string) {
	for _, n := range []struct {
		count     int
		one, more string
	}{{r.Unqueried, "label was added without a query", "labels were added without a query"},
		{r.Withdrawn, "label was withdrawn", "labels were withdrawn"}, {r.Bad, "bad image was removed from the pool", "bad images were removed from the pool"},
		{len(r.None), "image shows none of the classes and was removed from the pool", "images show none of the classes and were removed from the pool"}} {
		switch n.count {
		case 0:
		case 1:
			notes = append(notes, fmt.Sprintf("1 %s.", n.one))
		default:
			notes = append(notes, fmt.Sprintf("%d %s.", n.count, n.more))
		}
	}
	if note := r.LeftOutNote(); note != "" {
		notes = append(notes, note)
	}
	if g := r.Groups; g != nil {
		notes = append(notes, fmt.Sprintf("%d labels come from %d groups, the %d images of the pool from %d groups.", r.Labels, g.Labels, r.Pool, g.Pool))
	}
	if n := len(r.Unsure); n > 0 {
		const shown = 20
		var list []string
		for _, id := range r.Unsure[:min(shown, n)] {
			if strings.ContainsFunc(id, func(c rune) bool { return !unicode.IsPrint(c) }) {
				id = strconv.Quote(id)
			}
			list = append(list, id)
		}
		if n > shown {
			list = append(list, fmt.Sprintf("and %d more in %s", n-shown, result.ResultFile))
		}
		what := "images"
		if n == 1 {
			what = "image"
		}
		notes = append(notes, fmt.Sprintf("An annotator is unsure of %d %s: %s.", n, what, strings.Join(list, ", ")))
	}
	return notes
}

// percent formats a tally's share, "-" for an empty one.
func percent(t result.Tally) string {
	if t.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*t.Share())
}
