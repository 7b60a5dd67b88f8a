package engine

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// tree makes empty files (or links, "link -> target") below a new folder and returns it.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range files {
		name, target, isLink := strings.Cut(f, " -> ")
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, nil, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// machine is a search of the machine below root, with environment variables in which ROOT stands for it.
func machine(root string, env map[string]string) search {
	return search{
		root: root,
		home: filepath.Join(root, "home"),
		getenv: func(name string) string {
			return strings.ReplaceAll(env[name], "ROOT", root)
		},
	}
}

func TestPlugins(t *testing.T) {
	for _, test := range []struct {
		name   string
		files  []string
		env    map[string]string
		python string   // what python3 says it imports from
		want   []string // "name path source"
	}{
		{name: "nothing"},
		{
			name: "go-xla's installer, one file with two names",
			files: []string{
				"home/.local/lib/go-xla/pjrt_c_api_cpu_v0.114.0_plugin.so",
				"home/.local/lib/go-xla/pjrt_c_api_cpu_plugin.so -> pjrt_c_api_cpu_v0.114.0_plugin.so",
				"home/.local/lib/go-xla/nvidia/pjrt_c_api_cuda_plugin.so",
				"home/.local/lib/go-xla/notes.txt",
			},
			want: []string{
				"cuda ROOT/home/.local/lib/go-xla/nvidia/pjrt_c_api_cuda_plugin.so ROOT/home/.local/lib/go-xla/nvidia",
				"cpu ROOT/home/.local/lib/go-xla/pjrt_c_api_cpu_plugin.so ROOT/home/.local/lib/go-xla",
			},
		},
		{
			name:  "PJRT_PLUGIN_LIBRARY_PATH replaces GoMLX's folders, in its order",
			files: []string{"home/.local/lib/go-xla/pjrt_c_api_tpu_plugin.so", "b/pjrt-plugin-cpu.so", "a/pjrt_plugin_cpu.so"},
			env:   map[string]string{"PJRT_PLUGIN_LIBRARY_PATH": "ROOT/b::ROOT/a"},
			want:  []string{"cpu ROOT/b/pjrt-plugin-cpu.so ROOT/b", "cpu ROOT/a/pjrt_plugin_cpu.so ROOT/a"},
		},
		{
			name: "JAX in the folders of Python, in its order",
			files: []string{
				"usr/local/lib/go-xla/pjrt_c_api_tpu_plugin.so",
				"site/jax_plugins/xla_cuda13/xla_cuda_plugin.so", "site/jax_cuda13_pjrt-0.11.2.dist-info/METADATA",
				"dist/jax_plugins/xla_cuda12/xla_cuda_plugin.so",
			},
			python: "\nROOT/nowhere\nROOT/site\nrelative\nROOT/dist",
			want: []string{
				"cuda13 ROOT/site/jax_plugins/xla_cuda13/xla_cuda_plugin.so JAX 0.11.2 in ROOT/site",
				"cuda12 ROOT/dist/jax_plugins/xla_cuda12/xla_cuda_plugin.so JAX in ROOT/dist",
				"tpu ROOT/usr/local/lib/go-xla/pjrt_c_api_tpu_plugin.so ROOT/usr/local/lib/go-xla",
			},
		},
		{
			name: "links that lead nowhere, or back",
			files: []string{
				"home/.local/lib/go-xla/pjrt_c_api_cpu_plugin.so -> gone.so",
				"home/.local/lib/go-xla/pjrt_c_api_tpu_plugin.so -> pjrt_c_api_tpu_plugin.so",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files...)
			s := machine(root, test.env)
			s.python = func() []string { return strings.Split(strings.ReplaceAll(test.python, "ROOT", root), "\n") }
			var got []string
			for _, p := range s.plugins(true) {
				got = append(got, strings.ReplaceAll(p.Name+" "+p.Path+" "+p.Source, root, "ROOT"))
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestPythonIsRunOnlyWhereItCanHelp(t *testing.T) {
	for _, test := range []struct {
		name     string
		files    []string
		thorough bool
		want     bool
	}{
		{name: "no GPU"},
		{name: "no GPU, thorough", thorough: true, want: true},
		{name: "GPU", files: []string{"dev/nvidia0"}, want: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			ran := false
			s := machine(tree(t, test.files...), nil)
			s.python = func() []string { ran = true; return nil }
			s.plugins(test.thorough)
			if ran != test.want {
				t.Errorf("python3 asked: %v, want %v", ran, test.want)
			}
		})
	}
}

func TestPluginNames(t *testing.T) {
	for _, test := range []struct{ path, name, family string }{
		{"/l/pjrt_c_api_cpu_plugin.so", "cpu", "cpu"},
		{"/l/pjrt_c_api_cpu_v0.114.0_plugin.so", "cpu_v0.114.0", "cpu"},
		{"/l/pjrt_c_api_gpu_plugin.so", "gpu", "cuda"},
		{"/l/pjrt-plugin-tpu.so", "tpu", "tpu"},
		{"/s/jax_plugins/xla_cuda13/xla_cuda_plugin.so", "cuda13", "cuda"},
		{"/home/cpu/My_CUDA_build.so", "cuda", "cuda"},
		{"/l/mine.so", "mine", "mine"},
	} {
		p := pluginAt(test.path, "")
		if p.Name != test.name || p.Family() != test.family {
			t.Errorf("%s: got %q of family %q, want %q of %q", test.path, p.Name, p.Family(), test.name, test.family)
		}
	}
}
