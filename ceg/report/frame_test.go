package report

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// Every value of the records is a row, in full precision.
func TestFrame(t *testing.T) {
	folder := handFolder(t)
	f, err := Frame(nil, folder.Path)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := result.OpenAll(folder.Path)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, row := range f.Rows {
		key := fmt.Sprint(row[0].Text, " ", row[8].Text, row[9].Text, row[10].Text, row[11].Text)
		if _, twice := values[key]; twice {
			t.Fatalf("%s has two rows", key)
		}
		values[key] = row[12].Text
	}
	accuracies := 0
	for _, run := range runs {
		for _, r := range run.Records {
			want := func(domain, split, metric string, value float64) {
				key := fmt.Sprint(run.Path, " ", r.Epoch+1, domain, split, metric)
				if got, err := strconv.ParseFloat(values[key], 64); err != nil || got != value {
					t.Errorf("%s is %v, want %v", key, values[key], value)
				}
			}
			for _, a := range r.Accuracy {
				if a.Tally.Total > 0 {
					accuracies++
					want(a.Domain, a.Split, "accuracy", float64(a.Tally.Correct)/float64(a.Tally.Total))
				}
			}
			for _, l := range r.Loss {
				want("", result.TrainSplit, "loss_"+l.Name, l.Value)
			}
		}
	}
	if accuracies == 0 {
		t.Fatal("the runs have no accuracies")
	}
	var settings []string
	for _, c := range f.Columns[len(frameColumns):] {
		settings = append(settings, c.Name)
	}
	// The settings of hand.yaml.
	if want := []string{"schedule.epochs", "exploration.initial_share", "exploration.weight_u", "generalization.tau"}; !slices.Equal(settings, want) {
		t.Errorf("columns of settings %q, want %q", settings, want)
	}
}

// A strategy and an objective that this program has not registered count as settings by their code
// alone.
func TestFrameOfUnknownMethods(t *testing.T) {
	c := config.Must(config.Spec{Target: "photo", Strategy: "entropy", Objective: "jigen", Timing: config.Early})
	if list := notDefault(c); !slices.Equal(list, []string{"schedule.timing"}) {
		t.Errorf("settings %q", list)
	}
	c.Exploration.Strategy, c.Exploration.StrategyCode = "elsewhere", "0123"
	c.Generalization.Objective, c.Generalization.ObjectiveCode = "elsewhere", "4567"
	for _, path := range []string{"exploration.strategy_code", "generalization.objective_code"} {
		if list := notDefault(c); !slices.Contains(list, path) || slices.Contains(list, "generalization.consistency") || slices.Contains(list, "optimizer.backbone_rate") {
			t.Errorf("settings %q", list)
		}
	}
}
