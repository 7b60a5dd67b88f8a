package active_test

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/activetest"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestStrategiesConform(t *testing.T) {
	for _, o := range []struct {
		name    string
		options active.Options
	}{
		{"paper", active.Options{Weights: active.Gammas(3, 1), WithoutBias: true}},
		{"authors", active.Options{Weights: active.Gammas(1./3, 1./3), Space: cluster.Augmented, SoftmaxTwice: true}},
		{"without S_u", active.Options{Weights: active.Weights{Representativeness: 1, Diversity: 1}}},
	} {
		o.options.Classes = 4
		for _, s := range active.Strategies(o.options) {
			t.Run(o.name+"/"+s.Name(), func(t *testing.T) { activetest.Run(t, s) })
		}
	}
}

func TestDividedStrategiesConform(t *testing.T) {
	for _, s := range active.Strategies(active.Options{Weights: active.Gammas(3, 1), Classes: 4}) {
		for _, d := range active.Divisions()[1:] {
			divided := fatal.Get(active.Divide(s, d))(t)
			t.Run(string(d)+"/"+s.Name(), func(t *testing.T) { activetest.Run(t, divided) })
		}
	}
}

func TestNames(t *testing.T) {
	want := []string{"ceg", "ceg-batch", "ceg-balanced", "uniform", "entropy", "bvsb", "confidence", "coreset", "badge", "kmeans",
		"typiclust", "probcover", "maxherding", "uherding", "uherding-s1", "bait", "bait-equal", "dropquery", "tcm"}
	if got := active.Names(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	o := active.Options{Weights: active.Gammas(2, 5), Space: cluster.Augmented, SoftmaxTwice: true, WithoutBias: true}
	for i, name := range want {
		s, err := active.ByName(name, o)
		if err != nil || s != active.Strategies(o)[i] {
			t.Errorf("ByName(%q) = %v, %v", name, s, err)
		}
	}
	if _, err := active.ByName("random", o); err == nil {
		t.Error("no error for a strategy that does not exist")
	}
}
