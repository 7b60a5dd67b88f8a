package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// backend runs a backend command in this process, on a machine with one broken plugin.
func backend(t *testing.T, args ...string) (stdout string, plugin string, err error) {
	t.Helper()
	dir := t.TempDir()
	plugin = filepath.Join(dir, "pjrt_c_api_cpu_plugin.so")
	fatal.If(t, os.WriteFile(plugin, []byte("not a library\n"), 0o644))
	t.Setenv("HOME", dir)
	t.Setenv("PATH", "")
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", dir)
	cmd := newBackendCommand()
	var out, errs bytes.Buffer
	cmd.SetIn(strings.NewReader("y\n"))
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return out.String(), plugin, err
}

func TestBackendList(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "")
	out, plugin := fatal.Get2(backend(t, "list"))(t)
	for _, part := range []string{"xla:cpu", "does not work: ", filepath.Dir(plugin), "this program", "auto: backend go: pure Go"} {
		if !strings.Contains(out, part) {
			t.Errorf("got\n%s\nwant %q in it", out, part)
		}
	}
}

func TestBackendListJSON(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	out, plugin := fatal.Get2(backend(t, "list", "--json"))(t)
	var got struct {
		Backends []engine.Listing
		Auto     string
		Why      string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if got.Auto != "go" || !strings.Contains(got.Why, "requested by GOMLX_BACKEND") {
		t.Errorf("auto is %q because %q", got.Auto, got.Why)
	}
	last := got.Backends[len(got.Backends)-1]
	if last.Name != "go" || last.Unusable != "" || len(last.Devices) != 1 {
		t.Errorf("the last backend is %+v, want go", last)
	}
	found := false
	for _, b := range got.Backends {
		found = found || b.Plugin.Path == plugin && b.Unusable != ""
	}
	if !found {
		t.Errorf("%s is not listed as unusable: %+v", plugin, got.Backends)
	}
}

func TestBackendRefuses(t *testing.T) {
	for _, test := range []struct {
		env  string
		args []string
		want string
	}{
		{args: []string{"install", "metal"}, want: `backend "metal": want cpu or onnxruntime`},
		{args: []string{"install", "cpu"}, want: "--yes"},
		{env: "onnx", args: []string{"list"}, want: `GOMLX_BACKEND "onnx": want auto`},
	} {
		t.Setenv("GOMLX_BACKEND", test.env)
		_, _, err := backend(t, test.args...)
		var usage interface{ ExitStatus() int }
		if !errors.As(err, &usage) || usage.ExitStatus() != 2 || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want an error of usage with %q", test.args, err, test.want)
		}
	}
}

func TestConfirm(t *testing.T) {
	for reply, want := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "": false, "yolo\n": false} {
		var out bytes.Buffer
		if got := confirm(strings.NewReader(reply), &out, engine.Plan{What: "much", From: "afar", Folder: "here"}); got != want {
			t.Errorf("%q: got %v", reply, got)
		}
		if got := out.String(); !strings.Contains(got, "much") || !strings.Contains(got, "afar") || !strings.Contains(got, "here") {
			t.Errorf("asked %q", got)
		}
	}
}
