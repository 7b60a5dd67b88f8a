package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestNewPlan(t *testing.T) {
	t.Setenv("HOME", "/h")
	t.Setenv("PATH", "/nowhere") // no nvidia-smi
	for _, test := range []struct{ kind, want, what, err string }{
		{kind: "cpu", want: "cpu", what: "for the CPU"},
		{kind: "cuda12", want: "cuda12", what: "CUDA 12"},
		{kind: "cuda13", want: "cuda13", what: "replaces what /h/.local/lib/go-xla/nvidia holds"},
		{kind: "cuda", want: "cuda13", what: "CUDA 13"},
		{kind: "rocm", want: "rocm7", what: "for ROCm 7 (jax-rocm7-pjrt 0.12.0), 133 MB, checked by SHA-256"},
		{kind: "rocm10", want: "rocm10", what: "for ROCm 10 (jax-rocm10-pjrt"},
		{kind: "tpu", want: "tpu", what: "for Google's TPUs (libtpu 0.0.52), 137 MB"},
		{kind: "onnxruntime", want: "onnxruntime", what: "ONNX Runtime (onnxruntime 1.32.0), which computes networks from ONNX files, "},
		{kind: "npu", err: `plugin "npu": want cuda, rocm, cpu, cuda12, cuda13, rocm7, rocm10, tpu, onnxruntime`},
	} {
		if device := strings.TrimRight(test.kind, "0123456789"); runtime.GOOS+runtime.GOARCH != "linuxamd64" && (device == "rocm" || device == "tpu") {
			test.err = fmt.Sprintf("plugin %q: there is one for Linux on amd64 only, this is %s on %s", test.want, runtime.GOOS, runtime.GOARCH)
		}
		p, err := NewPlan(test.kind, "")
		if test.err != "" {
			if err == nil || err.Error() != test.err {
				t.Errorf("%s: got error %v, want %s", test.kind, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		folder := "/h/.local/lib/go-xla"
		if test.kind == RuntimeName {
			folder = "/h/.local/lib/onnxruntime"
		}
		if p.Kind != test.want || p.Folder != folder || !strings.Contains(p.What, test.what) {
			t.Errorf("%s: got %+v", test.kind, p)
		}
	}
}

func TestInstallNeedsConsent(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	p, err := NewPlan("cpu", "")
	if err != nil {
		t.Fatal(err)
	}
	want := "no consent"
	if !xlaBuilt {
		want = errNoXLA.Error()
	}
	for name, consent := range map[string]func(Plan) bool{"nil": nil, "no": func(Plan) bool { return false }} {
		if _, err := Install(context.Background(), p, consent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", name, err, want)
		}
	}
}

// TestInstallOffline also checks that an older installation survives the attempt.
func TestInstallOffline(t *testing.T) {
	if !xlaBuilt {
		t.Skip(errNoXLA)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1") // nobody listens there
	}
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_FIND_LINKS", "")
	t.Setenv("PIP_PROXY", "http://127.0.0.1:1")
	t.Setenv("PIP_RETRIES", "0")
	older := filepath.Join(home, ".local/lib/go-xla/nvidia/pjrt_c_api_cuda_plugin.so")
	if err := os.MkdirAll(filepath.Dir(older), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(older, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	for kind, hint := range map[string]string{
		"cpu":    filepath.Join(home, ".local/lib/go-xla/pjrt_c_api_cpu_plugin.so"),
		"cuda13": `pip install "jax[cuda13]"`,
	} {
		p, err := NewPlan(kind, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = Install(context.Background(), p, func(Plan) bool { return true })
		if err == nil {
			t.Fatalf("%s: installed without a network", kind)
		}
		for _, part := range []string{"installing " + kind + " failed", hint, "127.0.0.1:1"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got error %q, want %q in it", kind, err, part)
			}
		}
	}
	if got, err := os.ReadFile(older); err != nil || string(got) != "old" {
		t.Errorf("the older plugin is gone: %q, %v", got, err)
	}
}

func TestInstallCancelled(t *testing.T) {
	if !xlaBuilt {
		t.Skip(errNoXLA)
	}
	t.Setenv("HOME", t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := NewPlan("cpu", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Install(ctx, p, func(Plan) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the context's", err)
	}
}
