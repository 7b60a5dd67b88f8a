package engine

import (
	"reflect"
	"strings"
	"testing"
)

func TestNewLaunch(t *testing.T) {
	cuda := Plugin{Name: "cuda13", Path: "/p.so"}
	for _, test := range []struct {
		name     string
		plugin   Plugin
		options  string
		env      map[string]string
		config   string
		wantEnv  []string
		settings Settings
		err      string
	}{
		{
			name: "CUDA", plugin: cuda,
			config:   "/p.so,shared_buffers=false,tf32=true,preallocate=false",
			wantEnv:  []string{"GOPJRT_CUDA_CHECKS=0"},
			settings: Settings{Backend: "xla:cuda", Plugin: "/p.so", TF32: true},
		},
		{
			name: "CUDA with options", plugin: cuda, options: "tf32=false,preallocate,memory_fraction=0.9,allocator=vmm",
			env:     map[string]string{"XLA_FLAGS": "--a"},
			config:  "/p.so,shared_buffers=false,tf32=false,preallocate,memory_fraction=0.9,allocator=vmm",
			wantEnv: []string{"NVIDIA_TF32_OVERRIDE=0", "GOPJRT_CUDA_CHECKS=0"},
			settings: Settings{
				Backend: "xla:cuda", Plugin: "/p.so", XLAFlags: "--a",
			},
		},
		{
			name: "TF32 forbidden by the environment", plugin: cuda, env: map[string]string{"NVIDIA_TF32_OVERRIDE": "0"},
			config:   "/p.so,shared_buffers=false,tf32=false,preallocate=false",
			wantEnv:  []string{"NVIDIA_TF32_OVERRIDE=0", "GOPJRT_CUDA_CHECKS=0"},
			settings: Settings{Backend: "xla:cuda", Plugin: "/p.so"},
		},
		{
			name: "CPU has no TF32", plugin: Plugin{Name: "cpu", Path: "/cuda/p.so"},
			config:   "/cuda/p.so,shared_buffers=true,tf32=false",
			settings: Settings{Backend: "xla:cpu", Plugin: "/cuda/p.so"},
		},
		{
			name: "shared buffers as asked", plugin: Plugin{Name: "cpu", Path: "/p.so"}, options: "noshared_buffers",
			config:   "/p.so,tf32=false,noshared_buffers",
			settings: Settings{Backend: "xla:cpu", Plugin: "/p.so"},
		},
		{
			name: "one GPU", plugin: cuda, options: "device=2",
			config:   "/p.so,shared_buffers=false,visible_devices=2,tf32=true,preallocate=false",
			wantEnv:  []string{"GOPJRT_CUDA_CHECKS=0"},
			settings: Settings{Backend: "xla:cuda", Plugin: "/p.so", TF32: true, Device: "2"},
		},
		{name: "one device of the CPU", plugin: Plugin{Name: "cpu", Path: "/p.so"}, options: "device=0", err: "device are for CUDA plugins, not cpu"},
		{name: "CPU does not preallocate", plugin: Plugin{Name: "cpu", Path: "/p.so"}, options: "preallocate", err: "are for CUDA plugins, not cpu"},
		{name: "comma", plugin: Plugin{Name: "cpu", Path: "/a,b/p.so"}, err: "comma"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, err := parseXLAOptions(test.options)
			if err != nil {
				t.Fatal(err)
			}
			l, s, err := newLaunch(test.plugin, o, func(name string) string { return test.env[name] })
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got error %v, want %q in it", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.Config != test.config || !reflect.DeepEqual(l.Env, test.wantEnv) {
				t.Errorf("got config %q, environment %q; want %q, %q", l.Config, l.Env, test.config, test.wantEnv)
			}
			if s != test.settings {
				t.Errorf("got settings %+v, want %+v", s, test.settings)
			}
		})
	}
}
