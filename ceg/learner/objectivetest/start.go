package objectivetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// passes compares a view's result with the array of that name, or with its parts NAME_0, NAME_1
// and so on in turn. It notes the arrays in seen. Views that the fixture does not know are left
// alone.
func passes(t *testing.T, a nettest.Arrays, name string, got *tensors.Tensor, tolerance float64, seen map[string]bool) {
	t.Helper()
	if a.Has(name) {
		seen[name] = true
		nettest.Near(t, name, nettest.Floats(got), a.LikeTensor(name), tolerance, 0)
		return
	}
	var want []float32
	for k := 0; a.Has(fmt.Sprint(name, "_", k)); k++ {
		seen[fmt.Sprint(name, "_", k)] = true
		want = append(want, a.LikeTensor(fmt.Sprint(name, "_", k))...)
	}
	if len(want) > 0 {
		nettest.Near(t, name, nettest.Floats(got), want, tolerance, 0)
	}
}

// start gives the learner the fixture's weights.
func (f fixture) start(t *testing.T, l *learner.Learner, c Case) {
	t.Helper()
	n := f.Nets[c.Net]
	start := map[string][]float32{}
	for _, w := range n.Weights {
		start[w.Name] = nettest.Weights(w.Name, w.Shape, n.WeightSeed, w.Gain)
	}
	for prefix, b := range f.Blend {
		for _, w := range n.Weights {
			student, ok := strings.CutPrefix(w.Name, prefix)
			if !ok {
				continue
			}
			own, from := start[w.Name], start[student]
			mixed := make([]float32, len(own))
			for i := range own {
				mixed[i] = float32((1-b.Own)*float64(from[i]) + b.Own*float64(own[i]))
			}
			start[w.Name] = mixed
		}
	}
	for _, w := range n.Weights {
		if got := nettest.CRC32(start[w.Name]); got != w.CRC32 {
			t.Fatalf("starting values of %s have the CRC-32 %d, want %d (first %v, want %v)", w.Name, got, w.CRC32, start[w.Name][0], w.First4[0])
		}
	}
	state := fatal.Get(l.State())(t)
	known := 0
	for i, p := range l.Params() {
		if v, ok := start[p.Name]; ok {
			state.Weights[i] = v
			known++
		} else if c.Others != nil {
			state.Weights[i] = c.Others(p.Name, p.Shape)
		}
	}
	if known != len(n.Weights) {
		t.Fatalf("the learner has %d of the fixture's %d parameters", known, len(n.Weights))
	}
	fatal.If(t, l.SetState(state))
}
