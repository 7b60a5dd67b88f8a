package learner

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/internal/fatal"
)

// residual is a ResNet's beginning and one of its blocks, with a shortcut.
var residual = nets.Backbone{
	Name: "residual", Pooling: config.MeanPool,
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		x = o.MaxPool(o.ReLU(o.BatchNorm(o.Conv(x, "conv1", 8, 7, 2, 3, false), "bn1")), 3, 2, 1)
		y := o.ReLU(o.BatchNorm(o.Conv(x, "conv2", 16, 3, 2, 1, false), "bn2"))
		y = o.BatchNorm(o.Conv(y, "conv3", 16, 3, 1, 1, false), "bn3")
		return o.ReLU(o.Add(y, o.BatchNorm(o.Conv(x, "short", 16, 1, 2, 0, false), "bn4")))
	},
}

// dumpVariable names the folder that XLA writes its programs to, in a process of which it
// was asked as the plugin was loaded.
const dumpVariable = "LEDG_TEST_XLA_DUMP"

// TestDevices takes steps on the Go backend and on several devices of XLA's plugin for the
// CPU: losses, gradients, weights and running statistics have to be the same but for
// rounding, and the program that XLA made has to leave each device its part of the images.
// Sums in another order differ by some 2^-24 of what they sum, and each BatchNorm over a few
// small maps enlarges that: in a ResNet-18, gradients were off by up to 1.4e-5 of their length,
// on two and four devices as on one in another form. Were a device to normalise by its own
// images, or its gradient not to arrive, they would be off by as much as they are long.
func TestDevices(t *testing.T) {
	spec := enginetest.XLA(t)
	dump := os.Getenv(dumpVariable)
	if dump == "" { // XLA reads its flags once
		dump = t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDevices$", "-test.v")
		cmd.Env = append(os.Environ(), dumpVariable+"="+dump,
			"XLA_FLAGS=--xla_dump_hlo_as_text --xla_dump_hlo_module_re=step --xla_dump_to="+dump+
				" --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true") // to compile quickly
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	b := fatal.Get(engine.Open(spec))(t)
	defer b.Close()
	resnet18 := fatal.Get(nets.ResNet(18, 8))(t)
	values := map[string]map[string][]float32{} // of the weights in files
	file := func(name string) nets.Backbone {
		n, err := imported.OpenTrainable("../nets/onnx/imported/testdata/train/"+name+".onnx", "", "", "", 32)
		if err == nil {
			values[name], err = n.Values()
		}
		if err != nil {
			t.Fatal(err)
		}
		return nets.OfGraph(name, n, nets.Pixels{})
	}
	joint := authors
	joint.BatchNorm, joint.TargetPass, joint.DomainFeatures = config.Joint, config.FrozenStats, config.Reuse
	for _, c := range []struct {
		name      string
		net       nets.Backbone
		objective objective.Objective
		devices   int
		// images are those with gradients in a step, 24 of which are a batch.
		images int
	}{
		{"ceg, ResNet-18", resnet18, authors.Objective(), 2, 120},
		{"ceg", residual, authors.Objective(), 4, 120},
		{"ceg, joint statistics", residual, joint.Objective(), 3, 120},
		{"fixmatch", residual, objective.FixMatch(0.2, config.Both, objective.DomainByDomain), 2, 72},
		{"ceg, a ResNet from a file", file("resnet"), authors.Objective(), 2, 120},
		{"ceg, a ViT from a file", file("vit"), authors.Objective(), 2, 120},
	} {
		t.Run(fmt.Sprintf("%s, %d devices", c.name, c.devices), func(t *testing.T) {
			o := authorsOptions(c.net, 32)
			o.PerDomain, o.Objective = 8, c.objective
			run := func(on engine.Backend, devices int) (losses []Term, first State) {
				o.Devices = devices
				l := fatal.Get(New(on, o, 1))(t)
				defer l.Close()
				if values := values[c.net.Name]; values != nil {
					s := fatal.Get(l.State())(t)
					for i, p := range l.Params() {
						if v := values[p.Name]; v != nil {
							s.Weights[i] = v
						}
					}
					fatal.If(t, l.SetState(s))
				}
				batch := l.RandomBatch()
				stage := Stage{Reliable: o.Objective.Uses(objective.Reliable)}
				for step := range 2 {
					out := fatal.Get(l.Step(batch, published, stage))(t)
					terms := fatal.Get(out.Terms())(t)
					losses = append(losses, terms...)
					if step > 0 {
						break
					}
					first = fatal.Get(l.State())(t)
				}
				for device, list := range l.elsewhere {
					for i, copied := range list {
						if !copied.IsOnDevice(compute.DeviceNum(device + 1)) {
							t.Errorf("tensor %d is not on device %d", i, device+1)
						}
					}
				}
				return losses, first
			}
			losses, first := run(enginetest.Open(t), 1)
			gotLosses, gotFirst := run(b, c.devices)
			for i, want := range losses {
				if got := gotLosses[i]; !(math.Abs(got.Value-want.Value) <= 1e-4*max(1, want.Value)) {
					t.Errorf("step %d: %s is %v, want %v", 2*i/len(losses), got.Name, got.Value, want.Value)
				}
			}
			compare := func(what string, got, want [][]float32) {
				worst := 0.
				for i, v := range want {
					var difference, length float64
					for j, w := range v {
						d := float64(got[i][j] - w)
						difference, length = difference+d*d, length+float64(w)*float64(w)
					}
					difference, length = math.Sqrt(difference), math.Sqrt(length)
					if !(difference <= 1e-4*length) {
						t.Errorf("%s %d: off by %v, of a length of %v", what, i, difference, length)
					}
					if length > 0 { // the domain head has no gradient in FixMatch
						worst = max(worst, difference/length)
					}
				}
				t.Logf("%s: off by up to %.2g of their length", what, worst)
			}
			// The momentum is the gradient, beside the decay of weights that were the same.
			compare("gradients", gotFirst.Velocity, first.Velocity)
			compare("weights", gotFirst.Weights, first.Weights)

			files, err := filepath.Glob(filepath.Join(dump, "*step_*after_optimizations.txt"))
			if err != nil || len(files) == 0 {
				t.Fatalf("XLA wrote no program: %v", err)
			}
			raw := fatal.Get(os.ReadFile(files[len(files)-1]))(t)
			program := string(raw)
			maps := func(images int) string {
				return regexp.MustCompile(fmt.Sprintf(`f32\[%d,\d+,\d+,\d+\]`, images)).FindString(program)
			}
			for _, want := range []string{fmt.Sprintf("num_partitions=%d", c.devices), "all-reduce("} {
				if !strings.Contains(program, want) {
					t.Errorf("%s: no %s", files[len(files)-1], want)
				}
			}
			if part := c.images / c.devices; maps(part) == "" {
				t.Errorf("%s: no maps of %d images", files[len(files)-1], part)
			}
			if all := maps(c.images); all != "" {
				t.Errorf("a device has the maps of all images: %s", all)
			}
		})
	}
	for _, c := range []struct {
		perDomain, devices int
		want               string
	}{
		{8, b.Compute.NumDevices() + 1, fmt.Sprintf("network.devices: want %d, and there are %d: backend xla:cpu", b.Compute.NumDevices()+1, b.Compute.NumDevices())},
		{3, 2, "network.devices: the 9 images of a batch (3 of each of 3 domains) cannot be divided equally among 2"},
	} {
		o := authorsOptions(residual, 32)
		o.PerDomain, o.Devices = c.perDomain, c.devices
		if _, err := New(b, o, 1); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%d devices: %v, want %s", c.devices, err, c.want)
		}
	}
}

func TestDevicesNeedXLA(t *testing.T) {
	b := fatal.Get(engine.Open("go"))(t)
	defer b.Close()
	o := authorsOptions(residual, 32)
	o.Devices = 2
	const want = "network.devices: 2 need XLA, and this is backend go"
	if _, err := New(b, o, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
