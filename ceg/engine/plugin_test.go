//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/datasets/regular"
)

// build compiles C into a shared library, and skips the test where that is impossible.
func build(t *testing.T, out string, args ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to build a plugin with")
	}
	cmd := exec.Command(cc, append([]string{"-shared", "-fPIC", "-o", out}, args...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, msg)
	}
}

// buildPlugin compiles testdata/plugin.c.
func buildPlugin(t *testing.T, out string, args ...string) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/gomlx/go-xla").Output()
	if err != nil {
		t.Skip("no Go toolchain to find go-xla's header with")
	}
	build(t, out, append(args, "-I", filepath.Join(strings.TrimSpace(string(dir)), "pjrt"), "testdata/plugin.c", "-ldl")...)
}

// bare is a machine with nothing installed and no GPU.
func bare(t *testing.T) search {
	return machine(t.TempDir(), nil)
}

func digestOf(t *testing.T, file string) string {
	t.Helper()
	digest, err := regular.Digest(file)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestOpenPlugin(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	buildPlugin(t, file)
	s := bare(t)
	s.getenv = func(name string) string { return map[string]string{"PJRT_PLUGIN_LIBRARY_PATH": dir}[name] }
	for _, test := range []struct{ spec, why string }{
		{"xla:" + file, "requested"},
		{"xla:cpu", "requested"},
		{"xla", "requested"},
		{"hlo:cpu", "requested"},
		{"auto", "chosen as the best that works here"},
		{"", "chosen as the best that works here"},
	} {
		t.Run(test.spec, func(t *testing.T) {
			b, err := openWith(test.spec, s)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			want := Settings{Backend: "xla:cpu", Plugin: file, PluginAPI: "0.104", PluginSHA256: digestOf(t, file), Hardware: "FakeDevice"}
			if b.Name != "xla:cpu" || b.Kind == Go || b.Settings != want {
				t.Errorf("got %+v", b)
			}
			for _, part := range []string{"backend xla:cpu: FakeDevice (PJRT 0.104, from ", test.why} {
				if !strings.Contains(b.Description, part) {
					t.Errorf("description %q: want %q in it", b.Description, part)
				}
			}
			sum, err := graph.CallOnce(b.Compute, func(x *graph.Node) *graph.Node { return graph.ReduceAllSum(x) }, []float32{1, 2})
			if err != nil {
				t.Fatal(err)
			}
			if got := tensors.ToScalar[float32](sum); got != 5184 {
				t.Errorf("the plugin computed %v", got)
			}
		})
	}
	t.Run("auto where Go is faster", func(t *testing.T) {
		s := s
		s.goIsFaster = true
		for _, test := range []struct {
			spec string
			work Work
			want string
		}{
			{"auto", Work{}, "go"},
			{"auto", Work{Exact: true}, "go"},
			{"auto", Work{Heavy: true}, "xla:cpu"},
			{"go", Work{Heavy: true}, "go"},
			{"xla", Work{}, "xla:cpu"},
		} {
			spec, want := test.spec, test.want
			b, err := test.work.openBackend(spec, s)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if b.Name != want || spec == "auto" && (want == "go") != strings.Contains(b.Description, file+": "+slowerPlugin) {
				t.Errorf("%s: got %s, %q; want %s", spec, b.Name, b.Description, want)
			}
		}
	})
	t.Run("wrong name", func(t *testing.T) {
		_, err := openWith("xla:cuda", s)
		if err == nil || !strings.Contains(err.Error(), "no cuda plugin found") {
			t.Errorf("got error %v", err)
		}
	})
}

// Check and Open have the same error for a plugin that is not there.
func TestCheck(t *testing.T) {
	for spec, want := range map[string]string{
		"":                    "",
		"auto":                "",
		"go:parallelism=-1":   "",
		"warp":                "warp",
		"xla:rocket":          "xla:rocket",
		"xla:/nowhere/api.so": "/nowhere/api.so",
	} {
		err := Check(spec)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", spec, err)
			}
			continue
		}
		_, opened := Open(spec)
		if err == nil || opened == nil || err.Error() != opened.Error() || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, and Open says %v", spec, err, opened)
		}
	}
}

func TestBrokenPlugins(t *testing.T) {
	saved := probeTimeout
	probeTimeout = time.Second
	t.Cleanup(func() { probeTimeout = saved }) // after the parallel subtests
	for _, test := range []struct {
		broken, err string
	}{
		{broken: "NOSYMBOL", err: "it is no PJRT plugin: it has no function GetPjrtApi"},
		{broken: "NULL", err: "GetPjrtApi returns nothing"},
		{broken: "MAJOR", err: "it speaks PJRT 7.104, want 0.x"},
		{broken: "ABORT", err: "crash: F0000 00:00:1795269600.000000 1 cuda.cc:2] driver version is insufficient"},
		{broken: "AT_LOAD", err: "crash: "},
		{broken: "HANG", err: "did not compute anything within 1s"},
		{broken: "CLIENT", err: "no CUDA-capable device is detected"},
		{broken: "NODEVICE", err: "the plugin sees no device"},
		{broken: "COMPILE", err: "DNN library initialization failed"},
		{broken: "ARITHMETIC", err: "add up to 5000, want 5184"},
	} {
		t.Run(test.broken, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			buildPlugin(t, filepath.Join(dir, "pjrt_c_api_cpu_plugin.so"), "-DBROKEN_"+test.broken)
			refuse(t, dir, test.err)
		})
	}
	// Files that are no library of this machine, made of one that is.
	for _, test := range []struct {
		name, err string
		change    func(library []byte) []byte
	}{
		{"empty", "it is no shared library: it is empty", func([]byte) []byte { return nil }},
		{"short text", `it is no shared library: it begins with "not a library\n"`, func([]byte) []byte { return []byte("not a library\n") }},
		{"long text", `it is no shared library: it begins with "<!DOCTYPE html>\n404`, func([]byte) []byte {
			return []byte("<!DOCTYPE html>\n" + strings.Repeat("404 not found\n", 1000))
		}},
		{"archive", `it is no shared library: it begins with "PK\x03\x04`, func(b []byte) []byte { return append([]byte("PK\x03\x04"), b...) }},
		{"header alone", "it is cut off, after 40 bytes", func(b []byte) []byte { return b[:40] }},
		{"truncated", "it is cut off, after 9000 bytes", func(b []byte) []byte { return b[:9000] }},
		{"another architecture", "it is for EM_RISCV (ELFCLASS64), this machine is EM_", func(b []byte) []byte {
			b[18], b[19] = byte(elf.EM_RISCV), 0 // e_machine
			return b
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
			buildPlugin(t, file)
			library, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, test.change(library), 0o755); err != nil {
				t.Fatal(err)
			}
			refuse(t, dir, test.err)
		})
	}
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "pjrt_c_api_cpu_plugin.so"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, spec := range []string{"xla:cpu", "xla:" + filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")} {
			s := bare(t)
			s.getenv = func(name string) string { return map[string]string{"PJRT_PLUGIN_LIBRARY_PATH": dir}[name] }
			if _, err := openWith(spec, s); err == nil || !strings.Contains(err.Error(), "pjrt_c_api_cpu_plugin.so") {
				t.Errorf("%s: got error %v", spec, err)
			}
		}
	})
}

// refuse checks that a request for the CPU plugin in dir is an error in one line, and that auto
// selects Go.
func refuse(t *testing.T, dir, want string) {
	t.Helper()
	s := bare(t)
	s.getenv = func(name string) string { return map[string]string{"PJRT_PLUGIN_LIBRARY_PATH": dir}[name] }
	file := filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	for _, spec := range []string{"xla:cpu", "xla:" + file} {
		_, err := openWith(spec, s)
		if err == nil {
			t.Fatalf("%s: opened", spec)
		}
		for _, part := range []string{want, file, spec} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got error %q, want %q in it", spec, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error of several lines: %q", spec, err)
		}
	}
	b, err := openWith("auto", s)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Name != "go" || !strings.Contains(b.Description, want) || strings.Contains(b.Description, "\n") {
		t.Errorf("auto: got %s, %q; want go because of %q", b.Name, b.Description, want)
	}
}

// TestJAXInstallation opens the CUDA plugin of a JAX installation whose NVIDIA libraries are not
// in the loader's path, and need each other, in pip's folders.
func TestJAXInstallation(t *testing.T) {
	t.Setenv("XLA_FLAGS", "--xla_dump_to=x")
	t.Setenv("NVIDIA_TF32_OVERRIDE", "")
	venv := tree(t, "lib/python3.12/site-packages/jax_cuda13_pjrt-0.11.2.dist-info/METADATA",
		"lib/python3.12/site-packages/nvidia/cu13/bin/ptxas")
	site := filepath.Join(venv, "lib/python3.12/site-packages")
	plugin := filepath.Join(site, "jax_plugins/xla_cuda13/xla_cuda_plugin.so")
	buildPlugin(t, plugin, `-DNEEDS="libledgcudnn.so.9"`)
	c := filepath.Join(t.TempDir(), "lib.c")
	if err := os.WriteFile(c, []byte("int ledg_blas(void);\n#ifdef DNN\nint ledg_dnn(void) { return ledg_blas(); }\n#else\nint ledg_blas(void) { return 1; }\n#endif\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// The files are named as NVIDIA's; their own names are not, lest a real one is found.
	blas := filepath.Join(site, "nvidia/cu13/lib/libcublas.so.13")
	build(t, blas, c, "-Wl,-soname,libledgcublas.so.13")
	dnn := filepath.Join(site, "nvidia/cudnn/lib/libcudnn.so.9")
	build(t, dnn, c, "-DDNN", "-Wl,-soname,libledgcudnn.so.9", "-Wl,--no-as-needed", blas)

	s := machine(t.TempDir(), nil)
	s.python = func() []string { return []string{site} }
	if _, err := openWith("xla:"+plugin, machine(t.TempDir(), nil)); err != nil {
		t.Errorf("by its path: %v", err)
	}
	b, err := openWith("xla:cuda", s)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	flags := "--xla_dump_to=x --xla_gpu_cuda_data_dir=" + site + "/nvidia/cu13"
	want := Settings{Backend: "xla:cuda", Plugin: plugin, PluginAPI: "0.104", PluginSHA256: digestOf(t, plugin), TF32: true, XLAFlags: flags,
		Hardware: b.Settings.Hardware} // the fake's name has what it saw, in the trial
	if b.Settings != want || !strings.HasPrefix(want.Hardware, "FakeDevice ") {
		t.Errorf("got settings %+v, want %+v", b.Settings, want)
	}
	if part := "JAX 0.11.2 in " + site; !strings.Contains(b.Description, part) {
		t.Errorf("description %q: want %q in it", b.Description, part)
	}
	if got, want := b.Compute.DeviceDescription(0), "preallocate=0 XLA_FLAGS="+flags; !strings.Contains(got, want) {
		t.Errorf("the plugin saw %q, want %q", got, want)
	}
	if _, err := openWith("xla:cuda,tf32=false", s); err == nil || !strings.Contains(err.Error(), "already opened") {
		t.Errorf("another TF32 setting in the same process: got error %v", err)
	}
	if _, err := (Work{Exact: true}).openBackend("xla:cuda", s); err == nil || !strings.Contains(err.Error(), "tf32=false: this process already opened") {
		t.Errorf("exactly, in the same process: got error %v", err)
	}

	auto, err := openWith("auto", s)
	if err != nil {
		t.Fatal(err)
	}
	defer auto.Close()
	if auto.Name != "go" {
		t.Errorf("auto without a GPU: got %s, %q", auto.Name, auto.Description)
	}

	os.Remove(blas)
	os.Remove(dnn)
	if _, err := openWith("xla:cuda", s); err == nil || !strings.Contains(err.Error(), "libledgcudnn.so.9") {
		t.Errorf("without NVIDIA's libraries: got error %v", err)
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	buildPlugin(t, filepath.Join(dir, "pjrt_c_api_cpu_plugin.so"), "-DBROKEN_CLIENT")
	buildPlugin(t, filepath.Join(dir, "pjrt_c_api_cuda_plugin.so"))
	buildPlugin(t, filepath.Join(dir, "pjrt_c_api_gpu_plugin.so"))
	s := bare(t)
	s.getenv = func(name string) string { return map[string]string{"PJRT_PLUGIN_LIBRARY_PATH": dir}[name] }
	var got []string
	for _, l := range listOn(s) {
		line := l.Name
		for _, d := range l.Devices {
			line += " " + strings.Fields(d.Name)[0]
		}
		got = append(got, line+" "+l.API+" "+l.Unusable)
	}
	want := []string{
		"xla:cuda FakeDevice 0.104 ",
		"xla:" + dir + "/pjrt_c_api_gpu_plugin.so FakeDevice 0.104 ",
		"xla:cpu  PJRT error (code=13): no CUDA-capable device is detected",
		"go ",
	}
	if len(got) != len(want) {
		t.Fatalf("got %d backends, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func openWith(spec string, s search) (Backend, error) {
	return Work{}.openBackend(spec, s)
}
