package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/gomlx/compute"
)

// Settings are the properties of a backend that can change a result or its cost, for a run's
// records.
type Settings struct {
	// Backend is the Backend's Name.
	Backend string `json:"backend"`
	// Plugin is the path of the PJRT plugin. It is empty on the Go backend, like the fields
	// below except Hardware.
	Plugin string `json:"plugin,omitempty"`
	// PluginAPI is the version of the plugin's PJRT interface, such as "0.104".
	PluginAPI string `json:"plugin_api,omitempty"`
	// PluginSHA256 is the digest of the plugin's file, which distinguishes builds with the same
	// PJRT version.
	PluginSHA256 string `json:"plugin_sha256,omitempty"`
	// TF32 permits float32 matrix products and convolutions to round their inputs to TF32 (10
	// bits of mantissa), XLA's default on CUDA. ",tf32=false" after the backend's name disables
	// it, and so does NVIDIA_TF32_OVERRIDE=0.
	TF32 bool `json:"tf32"`
	// Hardware selects kernels: "amd64 avx512" or "arm64 neon" on the Go backend, with any
	// variables GOMLX_GO_...; the CPU's instructions for XLA; or the GPUs.
	Hardware string `json:"hardware"`
	// Device is the number of the only device in use, from 0, set by ",device=2"; empty for all.
	Device string `json:"device,omitempty"`
	// XLAFlags is the environment variable XLA_FLAGS as read by the plugin.
	XLAFlags string `json:"xla_flags,omitempty"`
}

// launch is everything that one process needs to start a plugin.
type launch struct {
	Plugin  Plugin   `json:"plugin"`
	Config  string   `json:"config"`  // GoMLX's configuration string, without "xla:"
	Env     []string `json:"env"`     // "NAME=value", to set before loading
	Preload []string `json:"preload"` // libraries to load before the plugin
}

// newLaunch prepares to start p with the given options.
func newLaunch(p Plugin, o xlaOptions, getenv func(string) string) (launch, Settings, error) {
	if strings.Contains(p.Path, ",") {
		return launch{}, Settings{}, errors.New("GoMLX cannot load a plugin from a path with a comma; link to it from elsewhere")
	}
	cuda := p.Family() == "cuda"
	s := Settings{Backend: "xla:" + p.Family(), Plugin: p.Path}
	other := strings.Join(o.other, ",")
	if !cuda && (o.device >= 0 || strings.Contains(other, "preallocate") || strings.Contains(other, "memory_fraction")) {
		return launch{}, Settings{}, fmt.Errorf("preallocate, memory_fraction and device are for CUDA plugins, not %s", p.Name)
	}
	l := launch{Plugin: p, Preload: p.preloads()}
	config := []string{p.Path}
	if !strings.Contains(other, "shared_buffers") {
		// GoMLX would derive it from the path. Only the CPU's memory can be shared with the
		// host.
		config = append(config, "shared_buffers="+strconv.FormatBool(p.Family() == "cpu"))
	}
	if o.device >= 0 {
		s.Device = strconv.Itoa(o.device)
		config = append(config, "visible_devices="+s.Device) // the client takes memory of every device that it sees
	}
	const override = "NVIDIA_TF32_OVERRIDE" // cuBLAS and cuDNN obey it; GoMLX's own option covers matrix products alone
	s.TF32 = cuda && o.tf32 && getenv(override) != "0"
	config = append(config, "tf32="+strconv.FormatBool(s.TF32))
	s.XLAFlags = getenv("XLA_FLAGS")
	if cuda {
		if !s.TF32 {
			l.Env = append(l.Env, override+"=0")
		}
		if !strings.Contains(other, "preallocate") {
			config = append(config, "preallocate=false") // GoMLX would derive it from the path
		}
		if dir := p.cudaDataDir(); dir != "" && !strings.Contains(s.XLAFlags, "xla_gpu_cuda_data_dir") {
			s.XLAFlags = strings.TrimSpace(s.XLAFlags + " --xla_gpu_cuda_data_dir=" + dir)
			l.Env = append(l.Env, "XLA_FLAGS="+s.XLAFlags)
		}
		l.Env = append(l.Env, "GOPJRT_CUDA_CHECKS=0") // GoMLX warns of a folder that only its own installer makes
	}
	l.Config = strings.Join(append(config, o.other...), ",")
	return l, s, nil
}

// tf32InProcess is the TF32 setting of the first CUDA backend that this process opened: NVIDIA's libraries read theirs
// once.
var tf32InProcess struct {
	sync.Mutex
	set, on bool
}

// agreeTF32 returns an error where an earlier CUDA backend of this process was opened with the other setting.
func agreeTF32(on bool) error {
	tf32InProcess.Lock()
	defer tf32InProcess.Unlock()
	if tf32InProcess.set && tf32InProcess.on != on {
		return fmt.Errorf("tf32=%v: this process already opened a CUDA backend with tf32=%v, which cannot be changed", on, !on)
	}
	tf32InProcess.set, tf32InProcess.on = true, on
	return nil
}

// openPlugin opens one plugin: first in a process of its own, so that one which crashes or hangs takes nothing with it,
// then here.
func openPlugin(p Plugin, o xlaOptions) (Backend, error) {
	if !xlaBuilt {
		return Backend{}, errNoXLA
	}
	l, s, err := newLaunch(p, o, os.Getenv)
	if err != nil {
		return Backend{}, err
	}
	f, err := probe(l)
	if err != nil {
		return Backend{}, err
	}
	if p.Family() == "cuda" {
		if err := agreeTF32(s.TF32); err != nil {
			return Backend{}, err
		}
	}
	var c compute.Backend
	kept := !f.onCPU()
	if kept {
		c, err = keep(l.Config, func() (compute.Backend, error) { return start(l) })
	} else {
		c, err = start(l)
	}
	if err != nil {
		return Backend{}, err
	}
	s.PluginAPI, s.PluginSHA256 = f.API, f.SHA256
	if s.Hardware = strings.Join(f.deviceNames(), ", "); f.onCPU() {
		s.Hardware = cpuHardware()
	}
	kind := XLA
	if f.onCPU() {
		kind = XLAOnCPU
	}
	return Backend{
		Compute:     c,
		Name:        s.Backend,
		Description: fmt.Sprintf("backend %s: %s (PJRT %s, from %s)", s.Backend, strings.Join(f.deviceNames(), ", "), f.API, p.Source),
		Kind:        kind,
		Settings:    s,
		kept:        kept,
	}, nil
}

// clients are the backends that [keep] has opened.
var clients struct {
	sync.Mutex
	open map[string]compute.Backend
}

// keep returns the backend of this key, which the first call opens. A GPU's backend is kept until
// the process ends, and jobs side by side share it: with twelve backends of one H200 (PJRT 0.115)
// some kernels failed to launch, and closing one crashed.
func keep(key string, open func() (compute.Backend, error)) (compute.Backend, error) {
	clients.Lock()
	defer clients.Unlock()
	if b := clients.open[key]; b != nil {
		return b, nil
	}
	b, err := open()
	if err != nil {
		return nil, err
	}
	if clients.open == nil {
		clients.open = map[string]compute.Backend{}
	}
	clients.open[key] = b
	return b, nil
}

// errNoXLA is why a binary with xlaBuilt false loads no plugin.
var errNoXLA = errors.New("this binary was built without XLA, which needs Linux (or macOS on Apple silicon), a C compiler (CGO_ENABLED=1) and no noxla tag")

// openXLA opens the first usable one of the requested plugins.
func openXLA(r request, s search) (Backend, error) {
	if !xlaBuilt {
		return Backend{}, errNoXLA
	}
	if filepath.IsAbs(r.plugin) {
		info, err := os.Stat(r.plugin)
		if err != nil {
			return Backend{}, err
		}
		if info.IsDir() {
			return Backend{}, fmt.Errorf("%s is a folder; name the plugin file in it", r.plugin)
		}
		b, err := openPlugin(pluginAt(r.plugin, r.plugin), r.xla)
		if err != nil {
			return Backend{}, errors.New(brief(err))
		}
		return b, nil
	}
	candidates, err := r.candidates(s)
	if err != nil {
		return Backend{}, err
	}
	b, reasons := firstUsable(candidates, r.xla)
	if reasons != nil {
		return Backend{}, errors.New(strings.Join(reasons, "; "))
	}
	return b, nil
}

// candidates lists the plugins that a request may mean; none is an error.
func (r request) candidates(s search) ([]Plugin, error) {
	var list []Plugin
	for _, p := range s.plugins(true) {
		if r.plugin == "" || p.is(r.plugin) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no %s plugin found: run `pip install \"jax[cuda13]\"` for a GPU or `ledg backend install cpu`, "+
			"or name the file, xla:/path/to/plugin.so", cmp.Or(r.plugin, "XLA"))
	}
	return list, nil
}

// goIsFaster makes auto select the Go backend of this build instead of a plugin for the CPU,
// unless the [Work] is heavy: some of XLA's convolutions are a hundred times slower than others on
// a CPU, such as those of a ResNet's last maps, it compiles for 2 to 20 seconds, and ledg embed and
// predictions take twice as long as Go's direct loops. Without GOEXPERIMENT=simd the Go backend is
// 8.5 times slower. On arm64 the two were never compared, and elsewhere Go has no vector kernels.
const goIsFaster = builtWithSIMD && runtime.GOARCH == "amd64"

// slowerPlugin is why auto leaves a plugin for the CPU alone.
const slowerPlugin = "on a CPU, Go is faster in this build and needs no compiling; auto takes XLA to train networks of ONNX files; --backend xla:cpu asks for it always"

// openAuto opens the best plugin for a device that is faster than the Go backend and works, else the Go backend.
func openAuto(r request, s search) (Backend, error) {
	if !xlaBuilt {
		return openGo(nil, "chosen because "+errNoXLA.Error())
	}
	candidates := s.plugins(false)
	if len(candidates) == 0 {
		return openGo(nil, "chosen because no XLA plugin is installed here")
	}
	var reasons []string
	var rest []Plugin
	for _, p := range candidates {
		switch {
		case p.Family() == "cuda" && !hasNVIDIA(s.root):
			reasons = append(reasons, fmt.Sprintf("%s: %s", p.Path, noGPU))
		case p.Family() == "cpu" && s.goIsFaster:
			reasons = append(reasons, fmt.Sprintf("%s: %s", p.Path, slowerPlugin))
		default:
			rest = append(rest, p)
		}
	}
	b, more := firstUsable(rest, r.xla)
	if b.Compute != nil {
		b.Description += ", chosen as the best that works here"
		return b, nil
	}
	return openGo(nil, "chosen because no XLA plugin is better here: "+strings.Join(append(reasons, more...), "; "))
}

// noGPU is why a CUDA plugin is not tried.
const noGPU = "no NVIDIA GPU on this machine (no /dev/nvidia*)"

// firstUsable opens the first plugin that works, or returns the error of each.
func firstUsable(candidates []Plugin, o xlaOptions) (b Backend, reasons []string) {
	for _, p := range candidates {
		b, err := openPlugin(p, o)
		if err == nil {
			return b, nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s", p.Path, brief(err)))
	}
	return Backend{}, reasons
}

// brief is an engine error as part of one line: newlines folded, and cut where a plugin pours out a page.
func brief(err error) string {
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(text) > 400 {
		text = append(text[:400], '…')
	}
	return string(text)
}
