package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg/engine/ort"
	"github.com/ledg-go/ledg/ceg/internal/fetch"
)

// Plan describes what [Install] would do, for the user's consent.
type Plan struct {
	Kind   string // "cpu" or RuntimeName
	What   string // downloaded file and approximate size
	From   string // the host that is contacted
	Folder string // where it is written; another one may be set, which is then not found by name
}

// runtimeVersion is the version of ONNX Runtime that [Install] downloads.
const runtimeVersion = "1.32.0"

// runtimeWheel is a Python package of ONNX Runtime. Its library is none of Python's.
type runtimeWheel struct {
	folder, platform, member string // at PyPI, in the wheel's name, in onnxruntime/capi
	size                     int64
	sha256                   string
}

// runtimeWheels are the packages by system and architecture. That for Linux needs glibc 2.28, that
// for macOS version 14.
var runtimeWheels = map[string]runtimeWheel{
	"linux amd64": {"a3/81/55845186c20cba59f614991f4065dea148e48eeb9749893768c85ce64327", "manylinux_2_28_x86_64", "libonnxruntime.so.1.32.0",
		27780211, "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8"},
	"linux arm64": {"4a/8f/1e43fb994513c7c7a9c6965272ef89d963c1bd4080993a6267bf913701d1", "manylinux_2_28_aarch64", "libonnxruntime.so.1.32.0",
		23196724, "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054"},
	"darwin arm64": {"6f/a4/480cd367bc135dd9951c89d461cc6af6be9302cd2ce91e231f6cb0e7ee1b", "macosx_14_0_arm64", "libonnxruntime.1.32.0.dylib",
		22519308, "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e"},
	"windows amd64": {"a9/3e/27039badc39a1b01628b6b40b1ff1bf4a886e6dfb2f311c483606b7c86f7", "win_amd64", "onnxruntime.dll",
		16698767, "efe7456952c243a05a53d5b8732953625144642c2f3989094277f6217f0c0c40"},
	"windows arm64": {"5d/e1/2ee4e15cebe7c2868e1d9ef391450db0951e6bbb2f01b2eb926722e19397", "win_arm64", "onnxruntime.dll",
		16030610, "64d394c69d561af3efd4d4f49dcac8f11d0ce135a20701c16d53b74056cd4cf8"},
}

// thisWheel is the package for this machine, if there is one.
func thisWheel() (w runtimeWheel, ok bool) {
	w, ok = runtimeWheels[runtime.GOOS+" "+runtime.GOARCH]
	return w, ok
}

func (w runtimeWheel) file() fetch.File {
	return fetch.File{
		URL:  "https://files.pythonhosted.org/packages/" + w.folder + "/onnxruntime-" + runtimeVersion + "-cp312-cp312-" + w.platform + ".whl",
		Size: w.size, SHA256: w.sha256,
	}
}

// NewPlan returns the plan to install XLA's plugin for the CPU, "cpu", or ONNX Runtime,
// [RuntimeName]. The error for another kind names pip, which has JAX's plugins.
func NewPlan(kind string) (Plan, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Plan{}, fmt.Errorf("no folder to install into: %w", err)
	}
	switch kind {
	case "cpu":
		return Plan{
			Kind:   kind,
			What:   "XLA's PJRT plugin for the CPU, about 100 MB, checked by nothing but the connection: its source publishes no checksum, and whoever controls it runs code as you",
			From:   "github.com (gomlx/pjrt-cpu-binaries)",
			Folder: filepath.Join(home, ".local", "lib", "go-xla"),
		}, nil
	case RuntimeName:
		w, ok := thisWheel()
		if !ok {
			return Plan{}, fmt.Errorf("%s: there is none for %s on %s", kind, runtime.GOOS, runtime.GOARCH)
		}
		return Plan{
			Kind:   kind,
			What:   fmt.Sprintf("ONNX Runtime (onnxruntime %s), which computes networks from ONNX files, %d MB, checked by SHA-256", runtimeVersion, w.size/1e6),
			From:   "files.pythonhosted.org (" + path.Base(w.file().URL) + ")",
			Folder: runtimeFolder(home),
		}, nil
	}
	return Plan{}, fmt.Errorf("backend %q: want cpu or %s; plugins for GPUs are JAX's: run `pip install \"jax[cuda13]\"` in the active Python environment", kind, RuntimeName)
}

// file is where the library is in the end.
func (p Plan) file() string {
	if p.Kind == RuntimeName {
		return filepath.Join(p.Folder, ort.File())
	}
	return filepath.Join(p.Folder, "pjrt_c_api_cpu_plugin.so")
}

// manual describes how to install it without this program.
func (p Plan) manual() string {
	if p.Kind == RuntimeName {
		return fmt.Sprintf("elsewhere, run `pip download --no-deps onnxruntime==%s`, unpack %s of the wheel (a zip file) to %s, or name it with --backend onnxruntime:/path/to/%s",
			runtimeVersion, ort.File(), p.file(), ort.File())
	}
	return fmt.Sprintf("elsewhere, unpack pjrt_cpu_%s_%s.tar.gz of https://github.com/gomlx/pjrt-cpu-binaries/releases, and name its plugin with --backend xla:/path/to/plugin.so",
		runtime.GOOS, runtime.GOARCH)
}

// Install downloads the library of p into p.Folder, where [Open] and [OpenRuntime] find it, if
// consent returns true or it is already there. go-xla's installer puts the plugin into place, and
// ONNX Runtime is checked by its SHA-256. Both are then tried. Progress is written to stderr if
// it is a terminal. A cancelled context ends the wait.
func Install(ctx context.Context, p Plan, consent func(Plan) bool) (Plugin, error) {
	plugin := pluginAt(p.file(), p.Folder)
	install, try := installCPU, func() error { _, err := examine(plugin); return err }
	if p.Kind == RuntimeName {
		if ort.Unbuilt != nil {
			return Plugin{}, ort.Unbuilt
		}
		if l, err := loadRuntime(plugin); err == nil && l.Version == runtimeVersion {
			return plugin, nil
		}
		install, try = installRuntime, func() error { _, err := loadRuntime(plugin); return err }
	} else if !xlaBuilt {
		return Plugin{}, errNoXLA
	}
	if err := ctx.Err(); err != nil {
		return Plugin{}, err
	}
	if consent == nil || !consent(p) {
		return Plugin{}, fmt.Errorf("%s not installed: no consent to download from %s", p.Kind, p.From)
	}
	err := install(ctx, p)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return Plugin{}, fmt.Errorf("installing %s: %w", p.Kind, cause)
	}
	if err != nil {
		return Plugin{}, fmt.Errorf("installing %s failed: %w; %s", p.Kind, err, p.manual())
	}
	if err := try(); err != nil {
		return Plugin{}, errors.Join(fmt.Errorf("%s was fetched, but does not work here: %w", p.Kind, err), os.Remove(p.file()))
	}
	return plugin, nil
}

// installRuntime fetches ONNX Runtime.
func installRuntime(ctx context.Context, p Plan) error {
	w, _ := thisWheel()
	bar := progressbar.DefaultBytesSilent(w.size)
	if term.IsTerminal(int(os.Stderr.Fd())) {
		bar = progressbar.DefaultBytes(w.size, p.Kind)
	}
	defer bar.Clear()
	return w.file().Unpack(ctx, "onnxruntime/capi/"+w.member, p.file(), bar)
}

// installCPU has go-xla's installer fetch the plugin for the CPU. It prints to standard output and
// cannot be stopped.
func installCPU(ctx context.Context, p Plan) error {
	progress := os.Stderr
	if !term.IsTerminal(int(progress.Fd())) {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		progress = null
	}
	done := make(chan error, 1)
	go func() {
		var err error
		withoutStdout(progress, func() { err = fetchCPU(p.Folder) })
		done <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		return err
	}
}
