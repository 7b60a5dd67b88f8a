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

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// goldenNet is the network of testdata/losses.json.
var goldenNet = nets.Backbone{
	Name: "golden",
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		x = o.ReLU(o.BatchNorm(o.Conv(x, "conv1", 8, 3, 1, 1, false), "bn1"))
		return o.ReLU(o.Conv(x, "conv2", 12, 3, 2, 1, true))
	},
	Pooling: config.MeanPool,
}

func goldenOptions() Options {
	return Options{
		Backbone:   goldenNet,
		DomainHead: nets.DomainHead{Hidden: []int{10}, ReLU: true},
		Objective: objective.CEG{
			Consistency: config.OnUnlabelled, Tau: 0.95,
			Delta: 0.3, IntraWeight: 0.5, InterWeight: 0.5, DomainLoss: true,
			Reduction: config.MeanOverDomains, BatchNorm: config.Joint, TargetPass: config.UpdateStats, DomainFeatures: config.Reuse,
		}.Objective(),
		ImageSize: 8, Classes: 7, Domains: 3, PerDomain: 4,
		Momentum: 0.9, WeightDecay: 5e-4,
	}
}

// inGolden is a parameter's name in the golden files.
func inGolden(name string) string { return strings.Replace(name, "domain.", "dom", 1) }

func TestLossesGradientsAndStepsMatchPyTorch(t *testing.T) {
	var expected struct {
		Expected map[string]map[string]any
	}
	raw := fatal.Get(os.ReadFile(filepath.Join("testdata", "losses.json")))(t)
	fatal.If(t, json.Unmarshal(raw, &expected))
	backend := enginetest.Open(t)
	for _, kind := range enginetest.Kinds(backend) {
		backend.Kind = kind
		t.Run(fmt.Sprintf("kind %d", kind), func(t *testing.T) {
			g := nettest.Open(t, filepath.Join("testdata", "losses.npz"))
			l := fatal.Get(New(backend, goldenOptions(), 1))(t)
			start := fatal.Get(l.State())(t)
			for i, p := range l.params {
				start.Weights[i] = g.Floats("w0." + inGolden(p.Name))
			}
			fatal.If(t, l.SetState(start))
			vector := func(v any) *tensors.Tensor { return tensors.MustFromAnyValue(v) }
			batch := map[string]*tensors.Tensor{
				"x_weak": g.Tensor("in.x"), "u_weak": g.Tensor("in.u_weak"), "u_strong": g.Tensor("in.u_strong"), "r_strong": g.Tensor("in.rel"),
				"y": vector(g.Ints("in.y")), "r_label": vector(g.Ints("in.rel_y")), "u_domain": vector(g.Ints("in.domain")),
				"intra_lambda": vector(g.Floats("in.lambda_intra")), "inter_lambda": vector(g.Floats("in.lambda_inter")),
				"intra_partner": vector(partners(g.Ints("in.perm_intra"), 4)),
			}
			step := func(phase string) {
				t.Helper()
				got := fatal.Get(l.Trace(batch, published, mixing))(t)
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
				want := g.Ints(phase + ".u_weak_argmax")
				wantMask := nettest.Values[uint8](g, phase+".mask")
				for i := range want {
					if label[i] != want[i] || mask[i] != float32(wantMask[i]) {
						t.Errorf("%s: image %d has pseudo-label %d with mask %v, want %d with %d", phase, i, label[i], mask[i], want[i], wantMask[i])
					}
				}
				if want := 11; len(got.Grads) != want {
					t.Errorf("gradients of %d parameters, want %d", len(got.Grads), want)
				}
				for name, v := range got.Grads {
					nettest.Near(t, phase+" gradient of "+name, tensors.MustCopyFlatData[float32](v), g.Floats(phase+".grad."+inGolden(name)), 1e-4, 1e-4)
				}
			}
			l.evaluation = true
			step("eval")
			l.evaluation = false
			fatal.If(t, l.SetState(start))
			for _, phase := range []string{"step1", "step2"} {
				step(phase)
				for i, p := range l.params {
					nettest.Near(t, phase+" "+p.Name, tensors.MustCopyFlatData[float32](l.weights[i]), g.Floats(phase+".after."+inGolden(p.Name)), 1e-5, 0)
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
