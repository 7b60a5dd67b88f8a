package learner

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/sbinet/npyio/npz"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
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
		ImageSize:  8, Classes: 7, Domains: 3, PerDomain: 4,
		Consistency: Unlabelled, Tau: 0.95,
		Delta: 0.3, IntraWeight: 0.5, InterWeight: 0.5, DomainLoss: true,
		Reduction: MeanOverDomains, BatchNorm: Joint, TargetPass: UpdateStats, DomainFeatures: Reuse,
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

func (g golden) images(name string) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(g.floats(name), 12, 3, 8, 8)
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
			batch := []any{
				g.images("in.x"), g.images("in.u_weak"), g.images("in.u_strong"), g.images("in.rel"),
				g.ints("in.y"), g.ints("in.rel_y"),
				g.floats("in.lambda_intra"), g.floats("in.lambda_inter"), partners(g.ints("in.perm_intra"), 4),
				[]float32{0.003, 0.01, 0.01}, g.ints("in.domain"),
			}
			build := func(in []*Node) inputs {
				nhwc := func(x *Node) *Node { return TransposeAllAxes(x, 0, 2, 3, 1) }
				return inputs{
					xWeak: nhwc(in[0]), uWeak: nhwc(in[1]), uStrong: nhwc(in[2]), rStrong: nhwc(in[3]),
					xLabel: in[4], rLabel: in[5], lambdaIntra: in[6], lambdaInter: in[7], partner: in[8], uDomain: in[10],
				}
			}
			var gradients []string
			check := func(phase string, out []*tensors.Tensor) {
				t.Helper()
				values := tensors.MustCopyFlatData[float32](out[0])
				for i, name := range []string{"L_ce", "L_ac", "L_intra", "L_inter", "L_eg", "L_ss", "L_dd"} {
					want := expected.Expected[phase][name].(float64)
					if d := math.Abs(float64(values[i]) - want); !(d <= 1e-4) {
						t.Errorf("%s: %s = %v, want %v", phase, name, values[i], want)
					}
				}
				label, mask := tensors.MustCopyFlatData[int32](out[1]), tensors.MustCopyFlatData[float32](out[2])
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
				for i, name := range gradients {
					within(t, phase+" gradient of "+name, tensors.MustCopyFlatData[float32](out[3+i]), g.floats(phase+".grad."+inGolden(name)), 1e-4, 1e-4)
				}
			}
			outputs := func(l *Learner, loss losses, dd *Node, ddGrads map[string]*Node) []*Node {
				loss.dd = dd
				var scalars []*Node
				for _, v := range []*Node{loss.ce, loss.ac, loss.intra, loss.inter, loss.eg, loss.ss, loss.dd} {
					scalars = append(scalars, Reshape(v, 1))
				}
				out := []*Node{Concatenate(scalars, 0), loss.pseudoLabel, loss.mask}
				gradients = nil
				for _, p := range l.params {
					grad := loss.grads[p.Name]
					if grad == nil {
						grad = ddGrads[p.Name]
					}
					if grad != nil {
						gradients = append(gradients, p.Name)
						out = append(out, grad)
					}
				}
				return out
			}

			for _, c := range []struct {
				phase string
				train bool
			}{{"eval", false}, {"step1", true}} {
				args := []any{}
				for _, w := range l.weights {
					args = append(args, w)
				}
				out, err := ExecOnceN(backend.Compute, func(in []*Node) []*Node {
					params := named(l.params, in[:len(l.params)])
					batch := build(in[len(l.params):])
					loss := l.losses(params, batch, true, c.train)
					dd, grads := l.domainLoss(params, loss.domainFeatures, batch.uDomain)
					return outputs(l, loss, dd, grads)
				}, append(args, batch...)...)
				if err != nil {
					t.Fatal(err)
				}
				check(c.phase, out)
				if want := 11; len(gradients) != want {
					t.Errorf("gradients of %d parameters, want %d: %q", len(gradients), want, gradients)
				}
			}

			update := MustNewExec(backend.Compute, func(in []*Node) []*Node {
				n, m := len(l.weights), len(l.velocity)
				batch := in[n+m:]
				weights, velocity, loss := l.update(in[:n], in[n:n+m], batch[9], build(batch), true)
				return append(append(weights, velocity...), loss.ss)
			})
			for _, phase := range []string{"step1", "step2"} {
				var args []any
				for _, w := range append(append([]*tensors.Tensor{}, l.weights...), l.velocity...) {
					args = append(args, w)
				}
				out, err := update.Call(append(args, batch...)...)
				if err != nil {
					t.Fatal(err)
				}
				l.weights, l.velocity = out[:len(l.weights)], out[len(l.weights):len(out)-1]
				for i, p := range l.params {
					within(t, phase+" "+p.Name, tensors.MustCopyFlatData[float32](l.weights[i]), g.floats(phase+".after."+inGolden(p.Name)), 1e-5, 0)
				}
				ss := float64(tensors.ToScalar[float32](out[len(out)-1]))
				if want := expected.Expected[phase]["L_ss"].(float64); math.Abs(ss-want) > 1e-4 {
					t.Errorf("%s: L_ss = %v, want %v", phase, ss, want)
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
