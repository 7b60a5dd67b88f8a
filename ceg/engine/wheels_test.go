//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/engine/pypi"
	"github.com/ledg-go/ledg/datasets/regular"
)

// fakeWheel packs testdata/plugin.c, compiled with the arguments, as the wheel of a project.
func fakeWheel(t *testing.T, project string, args ...string) (wheel, []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plugin.so")
	buildPlugin(t, file, args...)
	plugin, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	member := strings.ReplaceAll(project, "-", "_") + "/libpjrt_cpu.so"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create(member)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plugin); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return wheel{
		File: pypi.File{Project: project, Name: project + "-1.0.whl",
			SHA256: fmt.Sprintf("%x", sha256.Sum256(packed.Bytes())), Size: int64(packed.Len())},
		kind: "cpu", version: "1.0", arch: runtime.GOARCH, member: member, digest: fmt.Sprintf("%x", sha256.Sum256(plugin)),
	}, packed.Bytes()
}

// index serves wheels as pip's index, and makes them the known ones. asked counts the requests.
func index(t *testing.T, served map[string][]byte, known ...wheel) (requests *int) {
	t.Helper()
	requests = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests++
		project, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		data, ok := served[project]
		switch {
		case !ok:
			http.NotFound(w, r)
		case file == "":
			fmt.Fprintf(w, `<a href="%s-1.0.whl">it</a>`, project)
		default:
			w.Write(data)
		}
	}))
	t.Cleanup(s.Close)
	saved := wheels
	wheels = known
	t.Cleanup(func() { wheels = saved })
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_FIND_LINKS", "")
	t.Setenv("PIP_RETRIES", "0")
	t.Setenv("PIP_INDEX_URL", s.URL)
	return requests
}

// install installs a plugin for the CPU.
func install(t *testing.T, source string) (Plugin, error) {
	t.Helper()
	return installKind(t, "cpu", source)
}

func installKind(t *testing.T, kind, source string) (Plugin, error) {
	t.Helper()
	p, err := NewPlan(kind, source)
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := Install(context.Background(), p, func(Plan) bool { return true })
	if left, _ := filepath.Glob(filepath.Join(p.Folder, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return plugin, err
}

// Plugins for other devices have places of their own, and one that does not work here takes none.
func TestInstallOthers(t *testing.T) {
	tpu, tpuData := fakeWheel(t, "libtpu")
	rocm, rocmData := fakeWheel(t, "rocm", "-DBROKEN_ABORT")
	tpu.kind, rocm.kind = "tpu", "rocm7"
	index(t, map[string][]byte{"libtpu": tpuData, "rocm": rocmData}, tpu, rocm)
	plugin, err := installKind(t, "tpu", "")
	if err != nil {
		t.Fatal(err)
	}
	if o := readOrigin(plugin.Path); filepath.Base(plugin.Path) != "pjrt_c_api_tpu_plugin.so" || plugin.Family() != "tpu" || o.SHA256 != tpu.digest {
		t.Errorf("got %+v from %+v", plugin, o)
	}
	if _, err := installKind(t, "rocm7", ""); err == nil || !strings.Contains(err.Error(), "installing rocm7 failed: rocm 1.0: it does not work here") {
		t.Errorf("a broken plugin: %v", err)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(plugin.Path), "*rocm*")); len(files) > 0 {
		t.Errorf("a broken plugin left %v", files)
	}
}

func TestInstallCPU(t *testing.T) {
	first, firstData := fakeWheel(t, "first")
	second, secondData := fakeWheel(t, "second", "-O2")
	broken, brokenData := fakeWheel(t, "broken", "-DBROKEN_ABORT")
	served := map[string][]byte{"first": firstData, "second": secondData, "broken": brokenData}
	requests := index(t, served, first, second)

	plugin, err := install(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if o := readOrigin(plugin.Path); o.Package != "first 1.0" || o.SHA256 != first.digest || plugin.Family() != "cpu" {
		t.Errorf("got %+v from %+v", plugin, o)
	}
	if digest, err := regular.Digest(plugin.Path); err != nil || digest != first.digest {
		t.Errorf("the plugin is %s, %v; want %s", digest, err, first.digest)
	}
	found := search{home: os.Getenv("HOME"), root: "/nowhere", getenv: func(string) string { return "" }}.installed()
	if len(found) != 1 || found[0].Path != plugin.Path || found[0].Source != "first 1.0 in "+filepath.Dir(plugin.Path) {
		t.Errorf("found %+v", found)
	}

	t.Run("again without asking anybody", func(t *testing.T) {
		*requests = 0
		if _, err := install(t, ""); err != nil || *requests != 0 {
			t.Errorf("%d requests, %v", *requests, err)
		}
	})
	t.Run("copied", func(t *testing.T) {
		now := time.Now().Add(-time.Hour)
		if err := os.Chtimes(plugin.Path, now, now); err != nil {
			t.Fatal(err)
		}
		if err := checkOrigin(plugin.Path); err != nil {
			t.Error(err)
		}
		if o := readOrigin(plugin.Path); o.Modified != now.UnixNano() {
			t.Errorf("the time is %d, want %d", o.Modified, now.UnixNano())
		}
	})
	t.Run("damaged", func(t *testing.T) {
		data, err := os.ReadFile(plugin.Path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)-1]++
		if err := os.WriteFile(plugin.Path, data, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := openPlugin(plugin, xlaOptions{device: -1}); err == nil || !strings.Contains(err.Error(), "is not the file that was installed from first 1.0") {
			t.Errorf("it is opened: %v", err)
		}
		if _, err := install(t, ""); err != nil {
			t.Fatal(err)
		}
		if digest, _ := regular.Digest(plugin.Path); digest != first.digest {
			t.Error("it is still damaged")
		}
	})
	t.Run("another source", func(t *testing.T) {
		if _, err := install(t, "second"); err != nil {
			t.Fatal(err)
		}
		if o := readOrigin(plugin.Path); o.Package != "second 1.0" {
			t.Errorf("it is from %+v", o)
		}
	})
	t.Run("what does not work stays out", func(t *testing.T) {
		wheels = []wheel{broken}
		if _, err := install(t, ""); err == nil || !strings.Contains(err.Error(), "broken 1.0: it does not work here: the plugin crashes") {
			t.Errorf("got error %v", err)
		}
		if digest, _ := regular.Digest(plugin.Path); digest != second.digest {
			t.Error("the older plugin is gone")
		}
	})
	t.Run("the next one", func(t *testing.T) {
		wheels = []wheel{broken, first}
		if _, err := install(t, ""); err != nil {
			t.Fatal(err)
		}
		if o := readOrigin(plugin.Path); o.Package != "first 1.0" {
			t.Errorf("it is from %+v", o)
		}
	})
	t.Run("another content", func(t *testing.T) {
		wheels = []wheel{second}
		changed := bytes.Clone(secondData)
		changed[len(changed)/2]++
		served["second"] = changed
		_, err := install(t, "")
		for _, part := range []string{"second 1.0: ", "/second-1.0.whl: its ", "want ", "pip install second==1.0"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("got error %v, want %q in it", err, part)
			}
		}
		if digest, _ := regular.Digest(plugin.Path); digest != first.digest {
			t.Error("the older plugin is gone")
		}
	})
}

func TestPackagedPlugins(t *testing.T) {
	w := wheelsFor("cpu", runtime.GOARCH, "")[0]
	dist := strings.ReplaceAll(w.Project, "-", "_") + "-" + w.version + ".dist-info"
	root := tree(t, "venv/lib/python3.12/site-packages/"+w.member, "venv/lib/python3.12/site-packages/"+dist+"/RECORD")
	found := machine(root, map[string]string{"VIRTUAL_ENV": "ROOT/venv"}).plugins(false)
	site := filepath.Join(root, "venv/lib/python3.12/site-packages")
	want := Plugin{Name: "cpu", Path: filepath.Join(site, w.member), Source: w.String() + " in " + site}
	if len(found) != 1 || found[0] != want {
		t.Errorf("got %+v, want %+v", found, want)
	}
}

// What is pinned is whole: a mistake here would show when somebody installs.
func TestWheels(t *testing.T) {
	for _, w := range wheels {
		if len(w.SHA256) != 64 || len(w.digest) != 64 || w.Size < 1<<20 || w.kind != RuntimeName && !strings.HasSuffix(w.member, ".so") ||
			!strings.HasPrefix(w.Name, strings.ReplaceAll(w.Project, "-", "_")+"-"+w.version+"-") {
			t.Errorf("%+v", w)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		if len(wheelsFor("cpu", arch, "")) == 0 {
			t.Errorf("no wheel for %s", arch)
		}
	}
}
