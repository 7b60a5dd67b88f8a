package run_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var update = flag.Bool("update", false, "rewrite testdata/machines.json")

// A tiny run of CEG's training gives on every machine what it gave on one with AVX-512: the
// losses of its epochs and its accuracies. testdata/README.md says how near.
func TestMachines(t *testing.T) {
	c := tiny(t, "uniform", config.Authors, "schedule.epochs", 3)
	c.Generalization.Tau = 0.1
	c.Optimizer.BackboneRate, c.Optimizer.ClassHeadRate, c.Optimizer.DomainHeadRate = 0.01, 0.01, 0.01 // so that it learns
	dir, _ := trained(t, c)
	records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
	type epoch struct {
		Loss     map[string]float64
		Accuracy map[string]float64
	}
	var got, want []epoch
	for _, r := range records {
		e := epoch{map[string]float64{}, map[string]float64{}}
		text := fatal.Get(json.Marshal(r.Loss))(t)
		fatal.If(t, json.Unmarshal(text, &e.Loss))
		for _, a := range r.Accuracy {
			e.Accuracy[a.Domain+" "+a.Split] = float64(a.Tally.Correct) / float64(a.Tally.Total)
		}
		got = append(got, e)
	}
	file := filepath.Join("testdata", "machines.json")
	if *update {
		text, _ := json.MarshalIndent(got, "", " ")
		fatal.If(t, os.WriteFile(file, append(text, '\n'), 0o644))
	}
	text := fatal.Get(os.ReadFile(file))(t)
	fatal.If(t, json.Unmarshal(text, &want))
	if len(got) != len(want) || len(got[0].Loss) == 0 || len(got[0].Loss) != len(want[0].Loss) || len(got[0].Accuracy) != len(want[0].Accuracy) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	worst, moved := 0.0, 0.0
	for i := range want {
		for name, w := range want[i].Loss {
			worst = max(worst, math.Abs(got[i].Loss[name]-w)/max(math.Abs(w), 1))
		}
		for name, w := range want[i].Accuracy {
			moved = max(moved, math.Abs(got[i].Accuracy[name]-w))
		}
	}
	b := fatal.Get(engine.Open("go"))(t)
	defer b.Close()
	t.Logf("%s: losses differ by up to %.1e, accuracies by up to %.4f", b.Settings.Hardware, worst, moved)
	if !(worst <= lossesApart) || !(moved <= accuraciesApart) {
		t.Errorf("on %s losses are up to %.2g apart, accuracies %.2g; want at most %g and %g", runtime.GOARCH, worst, moved, lossesApart, accuraciesApart)
	}
}

const lossesApart, accuraciesApart = 1e-5, 0.005
