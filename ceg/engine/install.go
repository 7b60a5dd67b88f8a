package engine

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg/engine/ort"
	"github.com/ledg-go/ledg/ceg/engine/pypi"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Kinds lists the plugins that [Install] can download, besides "cuda" and "rocm", which select
// by this machine's driver and ROCm. The last is ONNX Runtime.
var Kinds = []string{"cpu", "cuda12", "cuda13", "rocm7", "rocm10", "tpu", RuntimeName}

// GitHub is the source of GoMLX's plugin for the CPU.
const GitHub = "github"

// Sources lists the sources of plugins for the CPU, best first: packages on PyPI, pinned by
// version and SHA-256, and [GitHub].
func Sources() []string {
	var names []string
	for _, w := range wheelsFor("cpu", runtime.GOARCH, "") {
		names = append(names, w.Project)
	}
	return append(names, GitHub)
}

// Plan describes what [Install] would do, for the user's consent.
type Plan struct {
	Kind   string // one of Kinds
	What   string // downloaded files and approximate size
	From   string // the hosts that are contacted
	Folder string // where it is written; another one may be set, which is then not found by name

	source string // one of Sources, or "" for the first that can be had from PyPI
}

// pluginFile is the name under which GoMLX looks for a plugin of a kind: for its family.
func pluginFile(kind string) string {
	if kind == RuntimeName {
		return ort.File()
	}
	return "pjrt_c_api_" + strings.TrimRight(kind, "0123456789") + "_plugin.so"
}

// manual describes how to install the plugin by hand.
func (p Plan) manual() string {
	file := filepath.Join(p.Folder, pluginFile(p.Kind))
	if p.Kind == RuntimeName {
		return fmt.Sprintf("by hand: unpack %s of onnxruntime's wheel so that %s exists, or name the file with --backend onnxruntime:/path/to/%s", ort.File(), file, ort.File())
	}
	if ws := wheelsFor(p.Kind, runtime.GOARCH, ""); p.source != GitHub && len(ws) > 0 {
		other := ""
		if p.Kind == "cpu" {
			other = "; another source is --from " + GitHub
		}
		return fmt.Sprintf("by hand: `pip install %s==%s` in any Python environment, which is found when it is active, or unpack %s so "+
			"that %s exists, or name the file with --backend xla:/path/to/plugin.so%s", ws[0].Project, ws[0].version, ws[0].Name, file, other)
	}
	if p.Kind == "cpu" {
		return fmt.Sprintf("by hand: unpack pjrt_cpu_%s_%s.tar.gz of github.com/gomlx/pjrt-cpu-binaries/releases so that "+
			"%s exists, or name the file with --backend xla:/path/to/plugin.so", runtime.GOOS, runtime.GOARCH, file)
	}
	return fmt.Sprintf("by hand: `pip install \"jax[%s]\"` in any Python environment, or copy the folders jax_plugins and nvidia "+
		"from the site-packages of a machine that has it, and name the file with --backend xla:/path/to/jax_plugins/xla_%s/xla_cuda_plugin.so",
		p.Kind, p.Kind)
}

// NewPlan returns the installation plan for kind: one of [Kinds], "cuda" for the CUDA version of
// this machine's driver, "rocm" for its ROCm, or "" for CUDA on machines with an NVIDIA GPU and
// the CPU on others. A plugin for the CPU comes from source, one of [Sources]; if empty, from
// the first that PyPI has. An unknown kind or source is an error.
func NewPlan(kind, source string) (Plan, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Plan{}, fmt.Errorf("no folder to install into: %w", err)
	}
	if kind == "" {
		kind = "cpu"
		if hasNVIDIA("") {
			kind = "cuda"
		}
	}
	if kind == "cuda" {
		kind = cudaForDriver(driverVersion())
	}
	if kind == "rocm" {
		kind = rocmFor("/opt/rocm/.info/version")
	}
	p := Plan{Kind: kind, Folder: filepath.Join(home, ".local", "lib", "go-xla"), source: source}
	if kind == RuntimeName {
		p.Folder = runtimeFolder(home)
	}
	switch {
	case source != "" && !slices.Contains(Sources(), source):
		return Plan{}, fmt.Errorf("source %q: want %s", source, strings.Join(Sources(), ", "))
	case source != "" && kind != "cpu":
		return Plan{}, fmt.Errorf("source %q: only plugins for the CPU have a choice", source)
	}
	device := map[string]string{"cpu": "the CPU", "rocm7": "ROCm 7", "rocm10": "ROCm 10", "tpu": "Google's TPUs"}[kind]
	switch kind {
	case "cpu", "rocm7", "rocm10", "tpu", RuntimeName:
		ws := wheelsFor(kind, runtime.GOARCH, source)
		if len(ws) == 0 && kind == RuntimeName {
			return Plan{}, fmt.Errorf("%s: there is none for %s on %s", kind, runtime.GOOS, runtime.GOARCH)
		}
		if len(ws) == 0 && kind != "cpu" {
			return Plan{}, fmt.Errorf("plugin %q: there is one for Linux on amd64 only, this is %s on %s", kind, runtime.GOOS, runtime.GOARCH)
		}
		if len(ws) == 0 { // GitHub, or an architecture without a wheel
			p.source = GitHub
			p.What, p.From = "XLA's PJRT plugin for the CPU, about 100 MB, checked by nothing but the connection: its source publishes no checksum, and whoever controls it runs code as you", "github.com (gomlx/pjrt-cpu-binaries)"
			break
		}
		c, err := pypi.Here().Config()
		if err != nil {
			return Plan{}, err
		}
		p.What = fmt.Sprintf("XLA's PJRT plugin for %s (%s), %d MB, checked by SHA-256", device, ws[0], ws[0].Size/1e6)
		if kind == RuntimeName {
			p.What = fmt.Sprintf("ONNX Runtime (%s), which computes networks from ONNX files, %d MB, checked by SHA-256", ws[0], ws[0].Size/1e6)
		}
		p.From = strings.Join(hosts(append(c.FindLinks, c.Indexes...)), ", ") + " (" + ws[0].Name + ")"
	case "cuda12", "cuda13":
		p.What = "XLA's PJRT plugin for CUDA " + kind[len("cuda"):] + " and NVIDIA's libraries, about 2 to 3 GB, in their latest versions, checked by the SHA-256 that PyPI itself says and by none that ledg knows; " +
			"replaces what " + filepath.Join(p.Folder, "nvidia") + " holds"
		p.From = "pypi.org (jax-" + kind + "-pjrt, nvidia-*)"
	default:
		return Plan{}, fmt.Errorf("plugin %q: want cuda, rocm, %s", kind, strings.Join(Kinds, ", "))
	}
	return p, nil
}

// hosts returns the hosts of URLs; other texts are returned unchanged.
func hosts(links []string) []string {
	list := make([]string, len(links))
	for i, link := range links {
		list[i] = link
		if u, err := url.Parse(link); err == nil && u.Host != "" {
			list[i] = u.Host
		}
	}
	return list
}

// Install downloads the plugin of p into p.Folder, where [Open] finds it, if consent returns
// true or the plugin is already there. A plugin is verified and tried before it atomically
// replaces an older one, which running programs keep using. A CUDA plugin is installed by
// go-xla's installer and tried afterwards. Progress is written to stderr if it is a terminal. A
// cancelled context ends the wait.
func Install(ctx context.Context, p Plan, consent func(Plan) bool) (Plugin, error) {
	if p.Kind == RuntimeName {
		if ort.Unbuilt != nil {
			return Plugin{}, ort.Unbuilt
		}
	} else if !xlaBuilt {
		return Plugin{}, errNoXLA
	}
	if err := ctx.Err(); err != nil {
		return Plugin{}, err
	}
	cuda := strings.HasPrefix(p.Kind, "cuda")
	if !cuda && p.source != GitHub {
		if plugin, ok := alreadyThere(p); ok {
			return plugin, nil
		}
	}
	if consent == nil || !consent(p) {
		return Plugin{}, fmt.Errorf("%s not installed: no consent to download from %s", p.Kind, p.From)
	}
	progress := os.Stderr
	if !term.IsTerminal(int(progress.Fd())) {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return Plugin{}, err
		}
		defer null.Close()
		progress = null
	}
	var plugin Plugin
	var err error
	if cuda {
		plugin, err = installCUDA(ctx, p, progress)
	} else {
		plugin, err = installPinned(ctx, p, progress)
	}
	if err != nil && ctx.Err() != nil {
		return Plugin{}, fmt.Errorf("installing %s: %w", p.Kind, ctx.Err())
	}
	return plugin, err
}

// installCUDA has go-xla's installer put a CUDA plugin into place, and tries it.
func installCUDA(ctx context.Context, p Plan, progress *os.File) (Plugin, error) {
	if err := waitFor(ctx, progress, func() error { return fetchCUDA(p) }); err != nil {
		return Plugin{}, fmt.Errorf("installing %s failed: %w; %s", p.Kind, err, p.manual())
	}
	file := filepath.Join(p.Folder, "nvidia", "pjrt_c_api_cuda_plugin.so")
	plugin := pluginAt(file, p.Folder)
	if _, err := examine(plugin); err != nil {
		return plugin, fmt.Errorf("%s is installed in %s, but does not work: %w", p.Kind, file, err)
	}
	return plugin, nil
}

// waitFor runs f, which prints to standard output and cannot be stopped, until it ends or the context does.
func waitFor(ctx context.Context, progress *os.File, f func() error) error {
	done := make(chan error, 1)
	go func() {
		var err error
		withoutStdout(progress, func() { err = f() })
		done <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		return err
	}
}

// alreadyThere returns the plugin that Install would fetch if it lies there whole and works.
func alreadyThere(p Plan) (Plugin, bool) {
	file := filepath.Join(p.Folder, pluginFile(p.Kind))
	o, ws := readOrigin(file), wheelsFor(p.Kind, runtime.GOARCH, p.source)
	if len(ws) == 0 || o.SHA256 != ws[0].digest {
		return Plugin{}, false
	}
	if digest, err := regular.Digest(file); err != nil || digest != o.SHA256 {
		return Plugin{}, false
	}
	plugin := pluginAt(file, p.Folder)
	return plugin, try(plugin) == nil
}

// try tries a plugin, or ONNX Runtime.
func try(p Plugin) error {
	if p.Name == RuntimeName {
		_, err := ort.Load(p.Path)
		return err
	}
	_, err := examine(p)
	return err
}

// installPinned puts a plugin into place: the first of the plan's sources that can be had and works.
func installPinned(ctx context.Context, p Plan, progress *os.File) (Plugin, error) {
	if err := os.MkdirAll(p.Folder, 0o755); err != nil {
		return Plugin{}, err
	}
	var reasons []error
	attempt := func(what string, w *wheel, get func(dir string) (string, error)) (Plugin, bool) {
		plugin, err := putInPlace(filepath.Join(p.Folder, pluginFile(p.Kind)), w, get)
		if err != nil {
			reasons = append(reasons, fmt.Errorf("%s: %w", what, err))
		}
		return plugin, err == nil
	}
	if p.source == GitHub {
		plugin, ok := attempt(GitHub, nil, func(dir string) (string, error) {
			err := waitFor(ctx, progress, func() error { return fetchCPU(dir) })
			if err != nil {
				return "", err
			}
			return filepath.EvalSymlinks(filepath.Join(dir, pluginFile(p.Kind)))
		})
		if ok {
			return plugin, nil
		}
	} else {
		c, err := pypi.Here().Config()
		if err != nil {
			return Plugin{}, err
		}
		client, err := pypi.NewClient(c)
		if err != nil {
			return Plugin{}, err
		}
		for _, w := range wheelsFor(p.Kind, runtime.GOARCH, p.source) {
			bar := progressbar.NewOptions64(w.Size, progressbar.OptionSetWriter(progress), progressbar.OptionShowBytes(true),
				progressbar.OptionSetDescription(w.String()), progressbar.OptionClearOnFinish())
			client.Progress = func(done, _ int64) { bar.Set64(done) }
			plugin, ok := attempt(w.String(), &w, func(dir string) (string, error) { return fetchWheel(ctx, client, w, dir) })
			bar.Clear()
			if ok {
				return plugin, nil
			}
			if ctx.Err() != nil {
				break
			}
		}
	}
	return Plugin{}, fmt.Errorf("installing %s failed: %w; %s", p.Kind, errors.Join(reasons...), p.manual())
}

// putInPlace has get put a plugin into a new folder beside its place, the file, tries it there, and moves it to its place.
func putInPlace(file string, w *wheel, get func(dir string) (string, error)) (Plugin, error) {
	folder := filepath.Dir(file)
	removeStale(folder)
	dir, err := os.MkdirTemp(folder, stagingPrefix)
	if err != nil {
		return Plugin{}, err
	}
	defer os.RemoveAll(dir)
	fetched, err := get(dir)
	if err != nil {
		return Plugin{}, err
	}
	if err := try(pluginAt(fetched, folder)); err != nil {
		return Plugin{}, fmt.Errorf("it does not work here: %w", err)
	}
	if err := os.Remove(originFile(file)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Plugin{}, err
	}
	if err := os.Rename(fetched, file); err != nil {
		return Plugin{}, err
	}
	if w != nil {
		if err := writeOrigin(file, w.String(), w.digest); err != nil {
			return Plugin{}, err
		}
	}
	return pluginAt(file, folder), nil
}

// stagingPrefix begins the names of folders in which plugins wait for their trial.
const stagingPrefix = ".installing-"

// removeStale removes what installations left that were killed more than an hour ago.
func removeStale(folder string) {
	dirs, _ := filepath.Glob(filepath.Join(folder, stagingPrefix+"*"))
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.RemoveAll(dir)
		}
	}
}

// driverVersion returns the version of NVIDIA's driver, such as "580.159.03", or "".
func driverVersion() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").Output()
	if err != nil {
		return ""
	}
	return firstLine(string(out))
}

// cudaForDriver returns the newest CUDA plugin that a driver can run: CUDA 13 needs driver 580.
func cudaForDriver(version string) string {
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < 580 {
		return "cuda12"
	}
	return "cuda13"
}

// rocmFor returns the plugin for the ROCm that a file names ("7.2.4"), else for ROCm 7.
func rocmFor(file string) string {
	text, _ := os.ReadFile(file)
	major, _, _ := strings.Cut(string(text), ".")
	if n, err := strconv.Atoi(major); err == nil && n >= 10 {
		return "rocm10"
	}
	return "rocm7"
}
