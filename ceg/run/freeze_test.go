package run_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What is frozen is after a run what it was before, running statistics included, and the rest
// has learnt.
func TestFreeze(t *testing.T) {
	for _, c := range []struct {
		network string // empty for a file
		freeze  string
		frozen  func(p nets.Param) bool
	}{
		{"smallcnn", "2", func(p nets.Param) bool {
			return strings.HasPrefix(p.Name, "conv1") || strings.HasPrefix(p.Name, "conv2")
		}},
		{"resnet18", "norm", func(p nets.Param) bool { return p.Kind == nets.Scale || p.Kind == nets.Shift || !p.Kind.Trained() }},
		{"", "head", func(p nets.Param) bool { return strings.HasPrefix(p.Name, "onnx.") }},
	} {
		t.Run(c.network+" "+c.freeze, func(t *testing.T) {
			var dir string
			begin := func(p nets.Param, seed uint64) []float32 { return p.Init(seed) }
			if c.network != "" {
				dir, _ = trained(t, tiny(t, "uniform-ce", config.Authors, "network.name", c.network, "network.freeze", c.freeze,
					"network.width", 2, "schedule.epochs", 1, "data.pool_share", 0.3))
			} else {
				k, file, o := ofFile(t, config.Authors)
				k.Network.Freeze = config.Freeze(c.freeze)
				k.Generalization.TargetPass = config.UpdateStats
				fatal.Get(run.Run(t.Context(), k, o))(t)
				source := values(t, file, k.Data.ImageSize)
				dir, begin = o.Dir, func(p nets.Param, seed uint64) []float32 {
					if v, ok := source[p.Name]; ok {
						return v
					}
					return p.Init(seed)
				}
			}
			m, _ := fatal.Get2(run.LoadModel(run.Options{Dir: dir}))(t)
			for i, p := range m.Params {
				if same := slices.Equal(begin(p, m.Config.Seed), m.Values[i]); same != c.frozen(p) {
					t.Errorf("%s is what it was: %v, want %v", p.Name, same, !same)
				}
			}
		})
	}
}

// A run of head epochs alone ends with the weights of one whose backbone is frozen, of a network
// with BatchNorm, whose published timing asks and mixes in between.
func TestHeadEpochsAreFrozenOnes(t *testing.T) {
	var ends [2][][]float32
	for i, set := range [][]any{{"network.freeze", "head"}, {"network.head_epochs", 2}} {
		dir, _ := trained(t, tiny(t, "ceg", config.Authors, append(set, "network.name", "resnet18", "network.width", 2, "schedule.epochs", 2, "data.pool_share", 0.3)...))
		m, _ := fatal.Get2(run.LoadModel(run.Options{Dir: dir}))(t)
		ends[i] = m.Values
	}
	if !reflect.DeepEqual(ends[0], ends[1]) {
		t.Error("the weights differ")
	}
}
