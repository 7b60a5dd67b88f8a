package report

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"
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
	for _, rule := range run.Choices.Rules() {
		switch c := rule.Choice; {
		case c != nil && (!without || c.SourceVal.Total > 0):
			t.AddRow(rule.Title, fmt.Sprint(c.Epoch+1), fmt.Sprint(c.Labels), percent(c.Target), c.Target.String(), percent(c.SourceVal))
		case !without:
			t.AddRow(rule.Title, "-", "-", "-", "-", "-")
		}
	}
	names, paying := NamesAlone(run.Run)
	if names != nil {
		t.AddRow(namesRow, "-", "0", percent(names.Target), names.Target.String(), percent(names.SourceVal))
	}
	if without {
		t = t.Pick(func(column int) bool { return t.Rows != nil && column != 3 && column != 4 })
	}
	if r := run.Result; r != nil {
		t.Title = fmt.Sprintf("%s: %s on %s, target %s, preset %s, seed %d", run.Path, run.Config.Arm().Name(), TitleOfRun(run.Run, r.Target), r.Target, r.Preset, r.Seed)
	}
	t.Notes = notes("run", struct {
		Held         result.Tally
		Rows, Target bool
		Weights      string
		Result       *result.Result
		Epochs       int
	}{run.Records[len(run.Records)-1].HeldOut(), t.Rows != nil, !without, run.weights(), run.Result, len(run.Records)})
	if names != nil {
		t.Notes = append(t.Notes, paying)
	}
	return t
}

//go:embed notes.txt.tmpl
var noteText string

var noteTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"percent":       percent,
	"upper":         func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	"withoutTarget": func() string { return result.WithoutTarget },
	"few":           few,
	"join":          strings.Join,
	"chosenName":    func() string { return chosenName },
	"undecided":     func() string { return undecided },
}).Parse(noteText))

// notes executes a template of notes below a table: one note a line.
func notes(name string, data any) []string {
	var b strings.Builder
	if err := noteTemplates.ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // the templates fit their data
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' })
}

// few lists the first of many images; a name with unprintable characters is quoted.
func few(ids []string) string {
	const shown = 20
	var list []string
	for _, id := range ids[:min(shown, len(ids))] {
		if strings.ContainsFunc(id, func(c rune) bool { return !unicode.IsPrint(c) }) {
			id = strconv.Quote(id)
		}
		list = append(list, id)
	}
	if n := len(ids) - shown; n > 0 {
		list = append(list, fmt.Sprintf("and %d more in %s", n, result.ResultFile))
	}
	return strings.Join(list, ", ")
}

// percent formats a tally's share, "-" for an empty one.
func percent(t result.Tally) string {
	if t.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*t.Share())
}
