package run_test

import (
	"os"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The average changes the predictions and not the training, and a run's model has the averaged
// weights.
func TestAverageOfWeights(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Authors, "schedule.timing", config.Once, "schedule.epochs", 2)
	plainDir, plain := trained(t, c)
	c.Generalization.Average = config.EMA
	dir, averaged := trained(t, c)
	losses := func(dir string) (v []result.Losses) {
		records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
		for _, r := range records {
			v = append(v, r.Loss)
		}
		return v
	}
	if a, b := losses(plainDir), losses(dir); !slices.EqualFunc(a, b, func(x, y result.Losses) bool { return slices.Equal(x, y) }) {
		t.Errorf("losses %v, with an average %v: they belong to the same training", a, b)
	}
	if plain.Labels != averaged.Labels {
		t.Errorf("%d labels, with an average %d", plain.Labels, averaged.Labels)
	}
	m, _ := fatal.Get2(run.LoadModel(run.Options{Dir: dir}))(t)
	last, _ := fatal.Get2(run.LoadModel(run.Options{Dir: plainDir}))(t)
	if len(m.Params) != len(last.Params) || len(m.Values) != len(m.Params) {
		t.Fatalf("%d values of %d parameters, want %d", len(m.Values), len(m.Params), len(last.Params))
	}
	for i, p := range m.Params {
		if p.Name != last.Params[i].Name || len(m.Values[i]) != len(last.Values[i]) {
			t.Errorf("parameter %s of %d values, want %s of %d", p.Name, len(m.Values[i]), last.Params[i].Name, len(last.Values[i]))
		}
		if p.Kind.Trained() && slices.Equal(m.Values[i], last.Values[i]) {
			t.Errorf("%s is that of the last step, not its average", p.Name)
		}
	}
	// A method that predicts by other heads refuses.
	c = tiny(t, "uniform+dael", config.Authors)
	c.Generalization.Average = config.EMA
	if err := c.Validate(); err == nil {
		t.Error("no error for an average of dael")
	}
}

// With BatchNorm the running statistics of the last step come along.
func TestAverageWithBatchNorm(t *testing.T) {
	c := tiny(t, "uniform-ce", config.Authors, "schedule.timing", config.Once, "schedule.epochs", 1, "data.pool_share", 0.3)
	c.Network.Name, c.Data.ImageSize = "resnet18", 32
	c.Generalization.Average = config.EMA
	dir, _ := trained(t, c)
	m, _ := fatal.Get2(run.LoadModel(run.Options{Dir: dir}))(t)
	for i, p := range m.Params {
		if p.Name == "layer4.1.bn2.running_mean" {
			if slices.Max(m.Values[i]) == 0 && slices.Min(m.Values[i]) == 0 {
				t.Errorf("%s is what it began with", p.Name)
			}
			return
		}
	}
	t.Error("there are no running statistics")
}
