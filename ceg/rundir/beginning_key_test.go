package rundir

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Whatever can move a bit of the first epochs is in the key of a beginning, and
// what only chooses the queries is not.
func TestBeginningKey(t *testing.T) {
	type input struct {
		c               config.Config
		images, program string
		e               exactEngine
	}
	c := configtest.New(t, "glyphs", "photo", "ceg", config.Authors)
	base := input{c, "images", "program", exactEngine{Settings: engine.Settings{Backend: "xla:cuda", TF32: true}, Plugin: "p", Device: "d", CPU: "c"}}
	key := func(change func(*input)) string {
		in := base
		change(&in)
		k, err := beginningKey(in.c, in.images, in.program, in.e)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	want := key(func(*input) {})
	for what, change := range map[string]func(*input){
		"seed":       func(in *input) { in.c.Seed++ },
		"weights":    func(in *input) { in.c.Optimizer.BackboneRate /= 2 },
		"images":     func(in *input) { in.images = "others" },
		"executable": func(in *input) { in.program = "another build" },
		"backend":    func(in *input) { in.e.Settings.Backend = "go" },
		"TF32":       func(in *input) { in.e.Settings.TF32 = false },
		"plugin":     func(in *input) { in.e.Plugin = "another version" },
		"plugin API": func(in *input) { in.e.Settings.PluginAPI = "0.104" },
		"XLA_FLAGS":  func(in *input) { in.e.Settings.XLAFlags = "--xla_gpu_deterministic_ops" },
		"device":     func(in *input) { in.e.Device = "another GPU" },
		"CPU":        func(in *input) { in.e.CPU = "without AVX-512" },
	} {
		if key(change) == want {
			t.Errorf("runs with another %s share their beginning", what)
		}
	}
	for what, change := range map[string]func(*input){
		"method": func(in *input) { in.c.Method = "ceg w/o S_u" },
		"gamma1": func(in *input) { in.c.Exploration.Gamma1 = 0 },
	} {
		if key(change) != want {
			t.Errorf("runs with another %s do not share their beginning", what)
		}
	}
}

// The program's digest is the digest of the running file.
func TestProgramDigest(t *testing.T) {
	a, err := programDigest()
	if err != nil || len(a) != 64 {
		t.Errorf("digest %q, %v", a, err)
	}
	if _, err := regular.Digest("no such file"); err == nil {
		t.Error("a file that is not there has a digest")
	}
}
