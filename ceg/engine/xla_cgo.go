//go:build cgo && !noxla && ((linux && (amd64 || arm64)) || (darwin && arm64))

package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/installer"
	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/child"
	"github.com/ledg-go/ledg/ceg/engine/internal/nohome"
	"github.com/ledg-go/ledg/datasets/regular"
)

// xlaBuilt is true if this binary can load PJRT plugins.
const xlaBuilt = true

func init() {
	nohome.Restore()
	// Never reach for the network when a backend is opened.
	xla.EnableAutoInstall(false)
	child.Serve(probeService, prober{})
}

// prober tries a plugin for another process: see probe.
type prober struct{}

// Try tries the plugin of a launch and returns a finding, both in JSON.
func (prober) Try(task []byte, text *[]byte) error {
	var l launch
	if err := json.Unmarshal(task, &l); err != nil {
		return err
	}
	f, err := tryPlugin(l)
	if err == nil {
		*text, err = json.Marshal(f)
	}
	return err
}

// tryPlugin does what probe promises.
func tryPlugin(l launch) (f finding, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	digest := make(chan string, 1)
	go func() {
		d, _ := regular.Digest(l.Plugin.Path)
		digest <- d
	}()
	b, err := start(l)
	if err != nil {
		return f, errors.New(cause(err))
	}
	if plugin, err := pjrt.GetPlugin(l.Plugin.Path); err == nil {
		major, minor := plugin.Version()
		f.API = fmt.Sprintf("%d.%d", major, minor)
	}
	for i := range b.NumDevices() {
		name, _, _ := strings.Cut(b.DeviceDescription(compute.DeviceNum(i)), " [processId=")
		f.Devices = append(f.Devices, Device{Name: name})
	}
	if l.Plugin.Family() == "cuda" {
		f.Devices = nameGPUs(f.Devices)
	}
	if err := tryConvolution(b); err != nil {
		return f, errors.New("computing a convolution: " + cause(err))
	}
	f.SHA256 = <-digest
	return f, nil
}

// cause is the error of the plugin or the loader, without the texts that GoMLX adds.
func cause(err error) string {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

// tryConvolution computes a 3x3 convolution of ones, and of its outputs' logarithm the exponential in a matrix product:
// that takes the compiler with CUDA's mathematical functions, the device's memory, cuDNN and cuBLAS.
func tryConvolution(b compute.Backend) error {
	const size, channels = 8, 4
	exec, err := graph.NewExec(b, func(x, w *graph.Node) *graph.Node {
		y := graph.Exp(graph.Log(graph.Convolve(x, w).NoPadding().Done()))
		y = graph.Reshape(y, -1, channels)
		ones := graph.Reshape(graph.Slice(w, graph.AxisElem(0), graph.AxisElem(0)), channels, channels)
		return graph.DivScalar(graph.ReduceAllSum(graph.MatMul(y, ones)), channels)
	})
	if err != nil {
		return err
	}
	defer exec.Finalize()
	// Arguments, as the compiler would compute a convolution of constants itself.
	x := tensors.FromScalarAndDimensions(float32(1), 1, size, size, channels)
	w := tensors.FromScalarAndDimensions(float32(1), 3, 3, channels, channels)
	out, err := exec.Call(x, w)
	if err != nil {
		return err
	}
	got := float64(tensors.ToScalar[float32](out[0]))
	if want := float64((size - 2) * (size - 2) * 9 * channels * channels); math.Abs(got-want) > 1e-3*want {
		return fmt.Errorf("its outputs add up to %v, want %v", got, want)
	}
	return nil
}

// start loads a plugin into this process and makes a backend of it.
func start(l launch) (b compute.Backend, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("GoMLX panics: %v", r)
		}
	}()
	for _, e := range l.Env {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	var complaints []string
	for _, lib := range l.Preload {
		if _, err := preload(lib); err != nil {
			complaints = append(complaints, err.Error())
		}
	}
	x, err := load(l)
	if err != nil {
		if len(complaints) > 0 {
			err = fmt.Errorf("%s; before that, of NVIDIA's libraries: %s", cause(err), complaints[0])
		}
		return nil, err
	}
	if x.NumDevices() == 0 {
		x.Finalize()
		return nil, errors.New("the plugin sees no device")
	}
	return x, nil
}

// load loads the plugin and makes GoMLX's backend of it.
func load(l launch) (*xla.Backend, error) {
	handle, err := preload(l.Plugin.Path)
	if err != nil {
		return nil, err
	}
	if _, err := purego.Dlsym(handle, pjrt.GetPJRTApiFunctionName); err != nil {
		return nil, fmt.Errorf("it is no PJRT plugin: it has no function %s", pjrt.GetPJRTApiFunctionName)
	}
	plugin, err := pjrt.GetPlugin(l.Plugin.Path)
	if err != nil {
		return nil, err
	}
	if plugin == nil {
		return nil, fmt.Errorf("its function %s returns nothing", pjrt.GetPJRTApiFunctionName)
	}
	if major, minor := plugin.Version(); major != pjrtMajor {
		return nil, fmt.Errorf("it speaks PJRT %d.%d, want %d.x", major, minor, pjrtMajor)
	}
	return xla.NewWithOptions(l.Config, nil)
}

// pjrtMajor is the major version of the PJRT interface of go-xla v0.4.13 (0.104). Minor versions
// are meant to be compatible both ways; a plugin that refuses an older caller fails its probe.
const pjrtMajor = 0

// preload loads a library for good.
func preload(path string) (handle uintptr, err error) {
	runtime.LockOSThread() // dlerror speaks of its own thread
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_LAZY|purego.RTLD_LOCAL)
}

// fetchCPU installs the plugin for the CPU that go-xla was tested with.
func fetchCPU(folder string) error {
	return installer.CPUInstall(runtime.GOOS+"_"+runtime.GOARCH, pjrt.DefaultCPUVersion, folder, true, installer.Quiet)
}
