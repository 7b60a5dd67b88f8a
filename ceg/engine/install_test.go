package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine/ort"
)

// yes agrees to every plan.
func yes(Plan) bool { return true }

func TestNewPlan(t *testing.T) {
	t.Setenv("HOME", "/h")
	for _, c := range []struct{ kind, folder, what, err string }{
		{kind: "cpu", folder: "/h/.local/lib/go-xla", what: "publishes no checksum"},
		{kind: RuntimeName, folder: "/h/.local/lib/onnxruntime", what: "checked by SHA-256"},
		{kind: "cuda", err: `pip install "jax[cuda13]"`},
		{kind: "npu", err: `backend "npu": want cpu or onnxruntime`},
	} {
		if _, ok := thisWheel(); c.kind == RuntimeName && !ok {
			c.what, c.folder, c.err = "", "", "there is none for"
		}
		p, err := NewPlan(c.kind)
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || c.err == "" && err != nil {
			t.Errorf("%s: got error %v, want %q", c.kind, err, c.err)
		}
		if p.Folder != c.folder || !strings.Contains(p.What, c.what) {
			t.Errorf("%s: got %+v", c.kind, p)
		}
	}
	for machine, w := range runtimeWheels {
		if f := w.file(); len(f.SHA256) != 64 || f.Size < 1<<20 {
			t.Errorf("%s: %+v", machine, f)
		}
	}
}

// Nothing is fetched without consent, or after the end of the context, and an unreachable source
// is one error that says what to do.
func TestInstallRefused(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("SSL_CERT_FILE", os.DevNull) // no server can be trusted
	t.Setenv("SSL_CERT_DIR", home)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for kind, hint := range map[string]string{"cpu": "--backend xla:/path/to/plugin.so", RuntimeName: "pip download --no-deps onnxruntime=="} {
		p, err := NewPlan(kind)
		if err != nil || kind == "cpu" && !xlaBuilt || kind == RuntimeName && ort.Unbuilt != nil {
			continue
		}
		for name, consent := range map[string]func(Plan) bool{"nil": nil, "no": func(Plan) bool { return false }} {
			if _, err := Install(t.Context(), p, consent); err == nil || !strings.Contains(err.Error(), "no consent") {
				t.Errorf("%s, %s: got error %v", kind, name, err)
			}
		}
		if _, err := Install(ended, p, yes); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got error %v, want the context's", kind, err)
		}
		if _, err = Install(t.Context(), p, yes); err == nil || !strings.Contains(err.Error(), "installing "+kind+" failed: ") || !strings.Contains(err.Error(), hint) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got error %v, want one line with %q", kind, err, hint)
		}
		if _, err := os.Stat(p.file()); err == nil {
			t.Errorf("%s: there is a file", kind)
		}
	}
}
