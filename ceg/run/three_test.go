package run

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What predicts is the mean of the last weights, of their average and of the best by
// source validation, whose accuracy is the best of the last weights' in a run without it.
func TestThree(t *testing.T) {
	root := embeddingtest.Glyphs(t, 1)
	run := func(a config.Average) (Config, string, float64) {
		c := configtest.New(t, "features", "sketch", "uniform-ce", config.Authors, "schedule.epochs", 4, "schedule.timing", config.Once)
		c.Exploration.Budget, c.Schedule.PerDomain, c.Generalization.Average = "60", 8, a
		dir := filepath.Join(t.TempDir(), "run")
		r := fatal.Get(Run(t.Context(), c, Options{Dir: dir, Root: root, Backend: "go"}))(t)
		return c, dir, r.Accuracy.BestSourceVal.SourceVal.Share()
	}
	_, _, best := run("")
	c, dir, _ := run(config.Three)
	d, _ := fatal.Get2(examples.Open(c.Data, dir, result.Place{}))(t)
	options := model.LearnerOptions(fatal.Get(nets.New(c.Network, model.Vector(d)))(t), c, len(d.Classes), len(d.Domains)-1)
	l := newTestLearner(t, options)
	_, state, ok, err := checkpoint.Read(dir, c, l.Params())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	values := map[string][]float32{}
	for i, p := range l.Params() {
		values[p.Name] = state.Weights[i]
	}
	if got := values[objective.BestAccuracy][0]; math.Abs(float64(got)-best) > 1e-6 {
		t.Errorf("the best validation is %v, want %v", got, best)
	}
	for _, name := range []string{"fc.weight", "fc.bias"} {
		last, average, best := values[name], values["average."+name], values["best."+name]
		for j, v := range values["three."+name] {
			if want := (last[j] + average[j] + best[j]) / 3; math.Abs(float64(v-want)) > 1e-6 {
				t.Fatalf("%s[%d] is %v, want %v, the mean of %v, %v and %v", name, j, v, want, last[j], average[j], best[j])
			}
		}
	}
	m, _ := fatal.Get2(LoadModel(Options{Dir: dir}))(t)
	if w := m.Values[len(m.Values)-2]; w[0] != values["three.fc.weight"][0] {
		t.Error("the model has other weights than those that predict")
	}
}

// newTestLearner is a learner of some options on the Go backend.
func newTestLearner(t *testing.T, o learner.Options) *learner.Learner {
	t.Helper()
	b := fatal.Get(engine.Open("go"))(t)
	l := fatal.Get(learner.New(b, o, 1))(t)
	t.Cleanup(func() {
		l.Close()
		b.Close()
	})
	return l
}
