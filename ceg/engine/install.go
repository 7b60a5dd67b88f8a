package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/pkg/errors"
	"golang.org/x/term"
)

// Kinds are the plugins that [Install] can fetch, besides "cuda", which is the one for this machine's driver.
var Kinds = []string{"cpu", "cuda12", "cuda13"}

// Plan says what [Install] would do, for its consent.
type Plan struct {
	Kind   string // one of Kinds
	What   string // what is downloaded, and about how much
	From   string // the hosts that are contacted
	Folder string // where it is written
}

// manual says how to get the plugin without Install.
func (p Plan) manual() string {
	if p.Kind == "cpu" {
		return fmt.Sprintf("by hand: unpack pjrt_cpu_linux_%s.tar.gz of github.com/gomlx/pjrt-cpu-binaries/releases so that "+
			"%s exists, or name the file with --backend xla:/path/to/plugin.so",
			runtime.GOARCH, filepath.Join(p.Folder, "pjrt_c_api_cpu_plugin.so"))
	}
	return fmt.Sprintf("by hand: `pip install \"jax[%s]\"` in any Python environment, or copy the folders jax_plugins and nvidia "+
		"from the site-packages of a machine that has it, and name the file with --backend xla:/path/to/jax_plugins/xla_%s/xla_cuda_plugin.so",
		p.Kind, p.Kind)
}

// NewPlan returns what [Install] would do for kind: one of [Kinds], "cuda" for the CUDA version of this machine's
// driver, or "" for CUDA where there is an NVIDIA GPU and the CPU elsewhere. An unknown kind is an error.
func NewPlan(kind string) (Plan, error) {
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
	p := Plan{Kind: kind, Folder: filepath.Join(home, ".local", "lib", "go-xla")}
	switch kind {
	case "cpu":
		p.What, p.From = "XLA's PJRT plugin for the CPU, about 100 MB; its source publishes no checksum", "github.com (gomlx/pjrt-cpu-binaries)"
	case "cuda12", "cuda13":
		p.What = "XLA's PJRT plugin for CUDA " + kind[len("cuda"):] + " and NVIDIA's libraries, about 2 to 3 GB, checked by SHA-256; " +
			"replaces what " + filepath.Join(p.Folder, "nvidia") + " holds"
		p.From = "pypi.org (jax-" + kind + "-pjrt, nvidia-*)"
	default:
		return Plan{}, fmt.Errorf("plugin %q: want cuda, %s", kind, strings.Join(Kinds, ", "))
	}
	return p, nil
}

// Install downloads the plugin that p describes into p.Folder, where [Open] finds it, with go-xla's installer, and
// tries it. Nothing is fetched unless consent returns true; progress goes to the terminal on stderr, if there is one. A
// cancelled context ends the wait, and what was downloaded so far stays in the user's cache.
func Install(ctx context.Context, p Plan, consent func(Plan) bool) (Plugin, error) {
	if !xlaBuilt {
		return Plugin{}, errNoXLA
	}
	if consent == nil || !consent(p) {
		return Plugin{}, fmt.Errorf("%s not installed: no consent to download from %s", p.Kind, p.From)
	}
	if err := ctx.Err(); err != nil {
		return Plugin{}, err
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
	done := make(chan error, 1)
	go func() {
		var err error
		withoutStdout(progress, func() { err = fetch(p) })
		done <- err
	}()
	select {
	case <-ctx.Done():
		return Plugin{}, fmt.Errorf("installing %s: %w", p.Kind, ctx.Err())
	case err := <-done:
		if err != nil {
			return Plugin{}, fmt.Errorf("installing %s failed: %w; %s", p.Kind, err, p.manual())
		}
	}
	file := filepath.Join(p.Folder, "pjrt_c_api_cpu_plugin.so")
	if p.Kind != "cpu" {
		file = filepath.Join(p.Folder, "nvidia", "pjrt_c_api_cuda_plugin.so")
	}
	plugin := pluginAt(file, p.Folder)
	if _, err := examine(plugin); err != nil {
		return plugin, errors.WithMessagef(err, "%s is installed in %s, but does not work", p.Kind, file)
	}
	return plugin, nil
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
