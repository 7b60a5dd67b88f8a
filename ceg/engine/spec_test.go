package engine

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	xla := func(plugin string, change func(*xlaOptions)) request {
		r := request{kind: kindXLA, plugin: plugin, xla: defaultXLAOptions()}
		if change != nil {
			change(&r.xla)
		}
		return r
	}
	for _, test := range []struct {
		spec string
		want request
		err  string
	}{
		{spec: "", want: request{kind: kindAuto, xla: defaultXLAOptions()}},
		{spec: "auto", want: request{kind: kindAuto, xla: defaultXLAOptions()}},
		{spec: "go", want: request{kind: kindGo}},
		{spec: "go:", want: request{kind: kindGo}},
		{spec: "go:ops_sequential,dependency_order", want: request{kind: kindGo, goOptions: []string{"ops_sequential", "dependency_order"}}},
		{spec: "xla", want: xla("", nil)},
		{spec: "stablehlo:cpu", want: xla("cpu", nil)},
		{spec: "xla:cuda", want: xla("cuda", nil)},
		{spec: "xla:/a/b.so", want: xla("/a/b.so", nil)},
		{spec: "xla:/a/../b.so", want: xla("/b.so", nil)},
		{spec: "xla:,tf32=false", want: xla("", func(o *xlaOptions) { o.tf32 = false })},
		{spec: "xla:cuda,tf32,preallocate,memory_fraction=0.9", want: xla("cuda", func(o *xlaOptions) {
			o.other = []string{"preallocate", "memory_fraction=0.9"}
		})},
		{spec: "xla:cuda,allocator=cuda_async,visible_devices=0;1", want: xla("cuda", func(o *xlaOptions) {
			o.other = []string{"allocator=cuda_async", "visible_devices=0;1"}
		})},
		{spec: "xla:cuda,device=3", want: xla("cuda", func(o *xlaOptions) { o.device = 3 })},
		{spec: "xla:cuda,device=-1", err: `option "device=-1"`},
		{spec: "xla:cuda,device", err: `option "device"`},
		{spec: "gpu", err: "want auto, go, xla"},
		{spec: "auto:cuda", err: "want auto, go, xla"},
		{spec: ":cuda", err: "want auto, go, xla"},
		{spec: "cuda", err: "want auto, go, xla"},
		{spec: "xla:cuda,tf=1", err: `option "tf=1"`},
		{spec: "xla:cuda,tf32=maybe", err: `option "tf32=maybe"`},
		{spec: "xla:cuda,notf32", err: `option "notf32"`},
	} {
		t.Run(test.spec, func(t *testing.T) {
			got, err := parse(test.spec)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want %q in it", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestResolveEnvironment(t *testing.T) {
	for _, test := range []struct {
		spec, env    string
		kind         kind
		origin, fail string
	}{
		{spec: "", env: "", kind: kindAuto, origin: "backend"},
		{spec: "", env: "go", kind: kindGo, origin: "GOMLX_BACKEND"},
		{spec: "auto", env: "xla:cuda", kind: kindXLA, origin: "GOMLX_BACKEND"},
		{spec: "go", env: "xla:cuda", kind: kindGo, origin: "backend"},
		{spec: "auto", env: "auto", kind: kindAuto, origin: "GOMLX_BACKEND"},
		{spec: "", env: "onnx", fail: `GOMLX_BACKEND "onnx": want auto`},
		{spec: "nope", env: "go", fail: `backend "nope": want auto`},
	} {
		t.Run(test.spec+"/"+test.env, func(t *testing.T) {
			got, err := resolve(test.spec, func(name string) string {
				if name != "GOMLX_BACKEND" {
					t.Errorf("reads %s", name)
				}
				return test.env
			})
			if test.fail != "" {
				if err == nil || !strings.Contains(err.Error(), test.fail) {
					t.Fatalf("got error %v, want %q in it", err, test.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.kind != test.kind || got.origin != test.origin {
				t.Errorf("got kind %d from %s, want %d from %s", got.kind, got.origin, test.kind, test.origin)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "auto", "go:ops_sequential", "xla:cuda,tf32=false", "xla:/p.so,memory_fraction=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		r, err := parse(spec)
		if err != nil {
			return
		}
		if r.kind != kindXLA && r.plugin != "" {
			t.Errorf("%q: plugin %q without XLA", spec, r.plugin)
		}
	})
}

func TestSpecError(t *testing.T) {
	_, err := Open("xla:cuda,tf32=maybe")
	var bad *SpecError
	if !errors.As(err, &bad) || bad.Spec != "xla:cuda,tf32=maybe" || bad.Origin != "backend" {
		t.Errorf("got %v, want a SpecError that names the caller and the spec", err)
	}
	if _, err := Open("xla:/no/such/file.so"); err == nil || errors.As(err, &bad) {
		t.Errorf("a missing file: got %v, want an error that is no SpecError", err)
	}
}
