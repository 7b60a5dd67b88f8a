package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// Every value of the records is a row, in full precision and in the same order in both formats.
func TestFrame(t *testing.T) {
	folder := handFolder(t)
	f, err := NewFrame(folder.Path)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := result.OpenAll(folder.Path)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, row := range f.Rows {
		key := fmt.Sprint(row.Run, row.Epoch, row.Domain, row.Split, row.Metric)
		if _, twice := values[key]; twice {
			t.Fatalf("%s has two rows", key)
		}
		values[key] = row.Value
	}
	accuracies := 0
	for _, run := range runs {
		for _, r := range run.Records {
			for _, a := range r.Accuracy {
				if a.Tally.Total == 0 {
					continue
				}
				accuracies++
				key := fmt.Sprint(run.Path, r.Epoch+1, a.Domain, a.Split, "accuracy")
				if want := float64(a.Tally.Correct) / float64(a.Tally.Total); values[key] != want {
					t.Errorf("%s is %v, want %v", key, values[key], want)
				}
			}
			for _, l := range r.Loss {
				key := fmt.Sprint(run.Path, r.Epoch+1, "", result.TrainSplit, "loss_"+l.Name)
				if v, ok := values[key]; !ok || v != l.Value {
					t.Errorf("%s is %v, want %v", key, v, l.Value)
				}
			}
		}
	}
	if accuracies == 0 {
		t.Fatal("the runs have no accuracies")
	}

	var text, columns bytes.Buffer
	if err := f.WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(lines) != len(f.Rows)+1 {
		t.Fatalf("%d lines, %v, want %d", len(lines), err, len(f.Rows)+1)
	}
	if want := []string{"run", "method", "preset", "dataset", "target", "seed", "budget", "labels", "epoch", "domain", "split", "metric", "value"}; !slices.Equal(lines[0][:len(want)], want) {
		t.Errorf("columns %q, want %q and settings", lines[0], want)
	}
	// The settings of hand.yaml.
	if want := []string{"schedule.epochs", "exploration.initial_share", "exploration.weight_u", "generalization.tau"}; !slices.Equal(lines[0][13:], want) {
		t.Errorf("columns of settings %q, want %q", lines[0][13:], want)
	}
	if err := f.WriteParquet(&columns); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(columns.Bytes()), int64(columns.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	for _, c := range file.Schema().Columns() {
		head = append(head, c[0])
	}
	if !slices.Equal(head, lines[0]) {
		t.Errorf("Parquet has columns %q, CSV %q", head, lines[0])
	}
	rows := parquet.NewReader(file)
	for i := range f.Rows {
		row := map[string]any{}
		if err := rows.Read(&row); err != nil {
			t.Fatal(err)
		}
		for j, name := range head {
			if got := fmt.Sprint(row[name]); got != lines[i+1][j] {
				t.Fatalf("row %d: %s is %s in Parquet, %s in CSV", i, name, got, lines[i+1][j])
			}
		}
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
