package learner

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/sbinet/npyio/npz"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// goldenNet is the network of testdata/losses.json.
var goldenNet = nets.Backbone{
	Name: "golden",
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		x = o.ReLU(o.BatchNorm(o.Conv(x, "conv1", 8, 3, 1, 1, false), "bn1"))
		return o.ReLU(o.Conv(x, "conv2", 12, 3, 2, 1, true))
	},
	Pooling: nets.MeanPool,
}

func goldenOptions() Options {
	return Options{
		Backbone:   goldenNet,
		DomainHead: nets.DomainHead{Hidden: []int{10}, ReLU: true},
		Objective: objective.CEG{
			Consistency: objective.OnUnlabelled, Tau: 0.95,
			Delta: 0.3, IntraWeight: 0.5, InterWeight: 0.5, DomainLoss: true,
			Reduction: objective.MeanOverDomains, BatchNorm: objective.Joint, TargetPass: objective.UpdateStats, DomainFeatures: objective.Reuse,
		}.Objective(),
		ImageSize: 8, Classes: 7, Domains: 3, PerDomain: 4,
		Momentum: 0.9, WeightDecay: 5e-4,
	}
}

// golden reads arrays from testdata/losses.npz.
type golden struct {
	t *testing.T
	z *npz.Reader
}

func openGolden(t *testing.T) golden {
	t.Helper()
	z, err := npz.Open(filepath.Join("testdata", "losses.npz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return golden{t, z}
}

func (g golden) floats(name string) (v []float32) {
	g.t.Helper()
	if err := g.z.Read(name+".npy", &v); err != nil {
		g.t.Fatalf("%s: %v", name, err)
	}
	return v
}

func (g golden) ints(name string) []int32 {
	g.t.Helper()
	var wide []int64
	if err := g.z.Read(name+".npy", &wide); err != nil {
		g.t.Fatalf("%s: %v", name, err)
	}
	v := make([]int32, len(wide))
	for i, x := range wide {
		v[i] = int32(x)
	}
	return v
}

// images turns [12, 3, 8, 8] into [12, 8, 8, 3].
func (g golden) images(name string) *tensors.Tensor {
	v := g.floats(name)
	out := make([]float32, len(v))
	for i := range v {
		n, c, yx := i/(3*64), i/64%3, i%64
		out[(n*64+yx)*3+c] = v[i]
	}
	return tensors.FromFlatDataAndDimensions(out, 12, 8, 8, 3)
}

// inGolden is a parameter's name in the golden files.
func inGolden(name string) string { return strings.Replace(name, "domain.", "dom", 1) }

// within fails unless every value is within abs + rel*|want| of its golden one.
func within(t *testing.T, name string, got, want []float32, abs, rel float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d values, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= abs+rel*math.Abs(float64(want[i]))) {
			t.Errorf("%s[%d] = %v, want %v", name, i, got[i], want[i])
			return
		}
	}
}

func TestLossesGradientsAndStepsMatchPyTorch(t *testing.T) {
	var expected struct {
		Expected map[string]map[string]any
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "losses.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &expected); err != nil {
		t.Fatal(err)
	}
	backend := enginetest.Open(t)
	for _, fast := range []bool{true, false} {
		backend.FastConv = fast
		t.Run(fmt.Sprintf("fast convolutions %v", fast), func(t *testing.T) {
			g := openGolden(t)
			l, err := New(backend, goldenOptions(), 1)
			if err != nil {
				t.Fatal(err)
			}
			start, err := l.State()
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range l.params {
				start.Weights[i] = g.floats("w0." + inGolden(p.Name))
			}
			if err := l.SetState(start); err != nil {
				t.Fatal(err)
			}
			vector := func(v any) *tensors.Tensor { return tensors.MustFromAnyValue(v) }
			batch := map[string]*tensors.Tensor{
				"x.weak": g.images("in.x"), "u.weak": g.images("in.u_weak"), "u.strong": g.images("in.u_strong"), "r.strong": g.images("in.rel"),
				"x.label": vector(g.ints("in.y")), "r.label": vector(g.ints("in.rel_y")), "u.domain": vector(g.ints("in.domain")),
				"intra.lambda": vector(g.floats("in.lambda_intra")), "inter.lambda": vector(g.floats("in.lambda_inter")),
				"intra.partner": vector(partners(g.ints("in.perm_intra"), 4)),
			}
			step := func(phase string) {
				t.Helper()
				got, err := l.Trace(batch, published, mixing)
				if err != nil {
					t.Fatal(err)
				}
				names := map[string]string{"ce": "L_ce", "ac": "L_ac", "eg_intra": "L_intra", "eg_inter": "L_inter", "eg": "L_eg", "ss": "L_ss", "dd": "L_dd"}
				if len(got.Terms) != len(names) {
					t.Errorf("%s: terms %v", phase, got.Terms)
				}
				for _, term := range got.Terms {
					want := expected.Expected[phase][names[term.Name]].(float64)
					if d := math.Abs(term.Value - want); !(d <= 1e-4) {
						t.Errorf("%s: %s = %v, want %v", phase, term.Name, term.Value, want)
					}
				}
				label, mask := tensors.MustCopyFlatData[int32](got.PseudoLabel), tensors.MustCopyFlatData[float32](got.Sure)
				want := g.ints(phase + ".u_weak_argmax")
				var wantMask []uint8
				if err := g.z.Read(phase+".mask.npy", &wantMask); err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if label[i] != want[i] || mask[i] != float32(wantMask[i]) {
						t.Errorf("%s: image %d has pseudo-label %d with mask %v, want %d with %d", phase, i, label[i], mask[i], want[i], wantMask[i])
					}
				}
				if want := 11; len(got.Grads) != want {
					t.Errorf("gradients of %d parameters, want %d", len(got.Grads), want)
				}
				for name, v := range got.Grads {
					within(t, phase+" gradient of "+name, tensors.MustCopyFlatData[float32](v), g.floats(phase+".grad."+inGolden(name)), 1e-4, 1e-4)
				}
			}
			l.evaluation = true
			step("eval")
			l.evaluation = false
			if err := l.SetState(start); err != nil {
				t.Fatal(err)
			}
			for _, phase := range []string{"step1", "step2"} {
				step(phase)
				for i, p := range l.params {
					within(t, phase+" "+p.Name, tensors.MustCopyFlatData[float32](l.weights[i]), g.floats(phase+".after."+inGolden(p.Name)), 1e-5, 0)
				}
			}
		})
	}
}

// partners turns permutations within domains [K, B] into rows of the batch.
func partners(perm []int32, perDomain int) []int32 {
	rows := make([]int32, len(perm))
	for i, p := range perm {
		rows[i] = int32(i/perDomain*perDomain) + p
	}
	return rows
}
