package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// Spread returns backend specs for n concurrent jobs of one process, so that they share the
// devices of the backend that spec names: the k-th spec selects device k modulo the number of
// devices. With one device, every spec is spec itself.
//
// If spec is "go" and there are at least as many jobs as cores, the specs have each job compute the
// operations of a graph one after the other. Results are identical. On two cores, two jobs then
// take 62.0 to 65.4 s for 60 runs on features (scripts/demo.sh), and 66.7 to 70.5 s otherwise (n = 4
// each). A run that is alone at the end of a study is slower.
func Spread(spec string, n int) ([]string, error) {
	return spread(spec, n, thisMachine())
}

func spread(spec string, n int, s search) ([]string, error) {
	specs := make([]string, n)
	for k := range specs {
		specs[k] = spec
	}
	r, err := resolve(spec, s.getenv)
	if err != nil {
		return nil, err
	}
	if r.kind == kindGo && len(r.goOptions) == 0 && n > 1 && n >= runtime.GOMAXPROCS(0) {
		return slices.Repeat([]string{"go:" + strings.Join(inOrder, ",")}, n), nil
	}
	if n < 2 || r.kind == kindGo || r.xla.device >= 0 {
		return specs, nil
	}
	b, err := r.openBackend(s)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	devices := b.Compute.NumDevices()
	if b.Settings.Plugin == "" || devices < 2 {
		return specs, nil
	}
	base := r.spec
	if r.kind == kindAuto {
		base = "xla:" + b.Settings.Plugin
	}
	if !strings.Contains(base, ":") {
		base += ":"
	}
	for k := range specs {
		specs[k] = fmt.Sprintf("%s,device=%d", base, k%devices)
	}
	return specs, nil
}

// parseDevice reads the number of a device.
func parseDevice(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && n < 0 {
		err = strconv.ErrRange
	}
	return n, err
}

// onDevice is a backend whose only device, number 0, is a device of another backend: everything
// that uses the first device computes there.
type onDevice struct {
	compute.Backend
	device compute.DeviceNum
}

// NumDevices returns 1.
func (d *onDevice) NumDevices() int { return 1 }

// DeviceDescription describes the device.
func (d *onDevice) DeviceDescription(compute.DeviceNum) string {
	return d.Backend.DeviceDescription(d.device)
}

// Builder returns a builder of computations for the device.
func (d *onDevice) Builder(name string) compute.Builder {
	return builderOn{d.Backend.Builder(name), d}
}

// BufferFromFlatData copies data to the device.
func (d *onDevice) BufferFromFlatData(_ compute.DeviceNum, flat any, shape shapes.Shape) (compute.Buffer, error) {
	b, err := d.Backend.BufferFromFlatData(d.device, flat, shape)
	return d.wrap(b), err
}

// NewSharedBuffer makes a buffer that the device and the host share.
func (d *onDevice) NewSharedBuffer(_ compute.DeviceNum, shape shapes.Shape) (compute.Buffer, any, error) {
	b, flat, err := d.Backend.NewSharedBuffer(d.device, shape)
	return d.wrap(b), flat, err
}

func (d *onDevice) wrap(b compute.Buffer) compute.Buffer {
	if b == nil {
		return nil
	}
	return bufferOn{b, d}
}

// bufferOn is a buffer on the device of an onDevice.
type bufferOn struct {
	compute.Buffer
	on *onDevice
}

// Backend returns the backend with one device.
func (b bufferOn) Backend() compute.Backend { return b.on }

// DeviceNum returns 0.
func (b bufferOn) DeviceNum() (compute.DeviceNum, error) { return 0, nil }

// CopyToDevice returns an error: there is no other device.
func (b bufferOn) CopyToDevice(n compute.DeviceNum) (compute.Buffer, error) {
	return nil, fmt.Errorf("copying a buffer to device %d: the backend has one device", n)
}

// builderOn builds computations for the device of an onDevice.
type builderOn struct {
	compute.Builder
	on *onDevice
}

// Compile compiles for any device; Execute chooses.
func (b builderOn) Compile() (compute.Executable, error) {
	e, err := b.Builder.Compile()
	if err != nil {
		return nil, err
	}
	return executableOn{e, b.on}, nil
}

// executableOn computes on the device of an onDevice.
type executableOn struct {
	compute.Executable
	on *onDevice
}

// Execute computes on the device.
func (e executableOn) Execute(inputs []compute.Buffer, donate []bool, _ compute.DeviceNum) ([]compute.Buffer, error) {
	own := make([]compute.Buffer, len(inputs))
	for i, b := range inputs {
		w, ok := b.(bufferOn)
		if !ok || w.on != e.on {
			return nil, fmt.Errorf("input %d is not on the computation's device", i)
		}
		own[i] = w.Buffer
	}
	outputs, err := e.Executable.Execute(own, donate, e.on.device)
	for i, b := range outputs {
		outputs[i] = e.on.wrap(b)
	}
	return outputs, err
}

// take returns b with the given device as its only one; below 0, b itself.
func take(b compute.Backend, device int) (compute.Backend, error) {
	if device < 0 {
		return b, nil
	}
	if n := b.NumDevices(); device >= n {
		b.Finalize()
		return nil, fmt.Errorf("device=%d: there are %d, counted from 0", device, n)
	}
	return &onDevice{b, compute.DeviceNum(device)}, nil
}
