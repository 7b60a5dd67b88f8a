package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine/ort"
)

// A requested library is used, or else the installed one.
func TestOpenRuntime(t *testing.T) {
	if ort.Unbuilt != nil {
		t.Skip(ort.Unbuilt)
	}
	empty := machine(t.TempDir(), nil)
	broken := machine(tree(t), nil)
	broken.home = t.TempDir()
	file := filepath.Join(runtimeFolder(broken.home), ort.File())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("text"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec      string
		s         search
		why, want string
	}{
		{"go", broken, "", ""},
		{"xla:cpu", broken, "", ""},
		{"auto", empty, "", ""},
		{"", broken, "ONNX Runtime does not work here: ", ""},
		{"onnxruntime", empty, "", "backend onnxruntime: there is no ONNX Runtime here: run `ledg backend install onnxruntime`, or name the file"},
		{"onnxruntime", broken, "", file},
		{"onnxruntime:/nowhere/lib.so", empty, "", "/nowhere/lib.so"},
		{"onnx", empty, "", `backend "onnx": want auto, go, `},
	} {
		rt, why, err := openRuntime(c.spec, c.s)
		if rt != nil || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %v, %q, want %q", c.spec, rt, why, c.why)
		}
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: error %v, want one line with %q", c.spec, err, c.want)
		}
	}
	list := listOn(broken)
	if len(list) != 2 || list[0].Name != RuntimeName || !strings.Contains(list[0].Unusable, file) {
		t.Errorf("the list is %+v", list)
	}
}

// ONNX Runtime is offered where the choice is open, and there is neither a GPU nor an installed one.
func TestRuntimePlan(t *testing.T) {
	if ort.Unbuilt != nil {
		t.Skip(ort.Unbuilt)
	}
	if _, ok := thisWheel(); !ok {
		t.Skip("there is no ONNX Runtime for this machine")
	}
	installed := machine(t.TempDir(), nil)
	installed.home = installed.root
	if err := errors.Join(os.MkdirAll(runtimeFolder(installed.home), 0o755), os.WriteFile(filepath.Join(runtimeFolder(installed.home), ort.File()), nil, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec string
		s    search
		want bool
	}{
		{"auto", machine(t.TempDir(), nil), true},
		{"", machine(t.TempDir(), nil), true},
		{"", machine(t.TempDir(), map[string]string{"GOMLX_BACKEND": "go"}), false},
		{"go", machine(t.TempDir(), nil), false},
		{"onnxruntime", machine(t.TempDir(), nil), false},
		{"onnx", machine(t.TempDir(), nil), false},
		{"auto", machine(tree(t, "dev/nvidia0"), nil), false},
		{"auto", installed, false},
	} {
		p, ok, err := runtimePlan(c.spec, c.s)
		if err != nil || ok != c.want || ok != strings.Contains(p.What, "ONNX Runtime (onnxruntime 1.") {
			t.Errorf("%q: %+v, %v, %v, want %v", c.spec, p, ok, err, c.want)
		}
	}
}

// The installed one is found, and auto uses it where there is no GPU.
func TestInstalledRuntime(t *testing.T) {
	from := os.Getenv("LEDG_TEST_ORT")
	if from == "" {
		t.Skip("ONNX Runtime not tested: LEDG_TEST_ORT names no library; scripts/test.sh --all fetches one")
	}
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	root := tree(t)
	s := machine(root, nil)
	s.home = t.TempDir()
	file := filepath.Join(runtimeFolder(s.home), ort.File())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"auto", "onnxruntime"} {
		rt, why, err := openRuntime(spec, s)
		if err != nil || rt == nil || why != "" || rt.Description != "backend onnxruntime: ONNX Runtime "+rt.Version {
			t.Fatalf("%s: %+v, %q, %v", spec, rt, why, err)
		}
	}
	if list := listOn(s); len(list) != 2 || list[0].Unusable != "" || list[0].API == "" || list[0].Plugin.Path != file {
		t.Errorf("the list is %+v", list)
	}
	if err := os.MkdirAll(filepath.Join(root, "dev"), 0o755); err == nil {
		if err := os.WriteFile(filepath.Join(root, "dev", "nvidia0"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if rt, why, err := openRuntime("auto", s); rt != nil || why != "" || err != nil {
		t.Errorf("auto with a GPU: %v, %q, %v", rt, why, err)
	}
}

// It does nothing but networks from files.
func TestRuntimeAlone(t *testing.T) {
	_, err := Open("onnxruntime")
	var spec *SpecError
	if !errors.As(err, &spec) || !strings.Contains(err.Error(), "networks from ONNX files alone") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}
