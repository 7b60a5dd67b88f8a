package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ledg-go/ledg/ceg/engine/child"
)

// probeService is the name of the service that tries a plugin in a copy of this program.
const probeService = "plugin"

// probeTimeout ends a probe that hangs. Starting CUDA takes seconds, on a machine with many GPUs or with its libraries
// on a cold network disk tens of them or more.
var probeTimeout = 5 * time.Minute

// finding is what a probe learned of a plugin that works, or why it does not.
type finding struct {
	API     string   `json:"api"`
	SHA256  string   `json:"sha256"` // of the plugin
	Devices []Device `json:"devices"`
}

// Device is a device of a backend.
type Device struct {
	// Name is the plugin's or driver's name: "NVIDIA H200".
	Name string `json:"name"`
	// MemoryBytes is its memory, 0 if unknown.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
}

func (f finding) deviceNames() []string {
	names := make([]string, len(f.Devices))
	for i, d := range f.Devices {
		names[i] = d.Name
	}
	return names
}

// onCPU reports whether the devices are CPUs. PJRT's client names a device after its platform and number, "cpu:0" or
// "CpuDevice(id=0)", whatever the plugin's file is called.
func (f finding) onCPU() bool {
	return len(f.Devices) > 0 && strings.Contains(strings.ToLower(f.Devices[0].Name), "cpu")
}

// probed remembers the findings of this process by launch.
var probed sync.Map

// probe starts the plugin in a copy of this program and lets it compute a small convolution. A plugin is C++ that ends
// its process when it dislikes a driver or a library, so trying it anywhere else would risk the run.
func probe(l launch) (finding, error) {
	task, err := json.Marshal(l)
	if err != nil {
		return finding{}, err
	}
	if f, ok := probed.Load(string(task)); ok {
		return f.(finding), nil
	}
	if err := unloadable(l.Plugin.Path); err != nil {
		return finding{}, err
	}
	p, err := child.Start(context.Background(), probeService, 0)
	if err != nil {
		return finding{}, err
	}
	defer p.Close()
	var text []byte
	if err := p.Call("Try", probeTimeout, task, &text); err != nil {
		if limit := child.LimitError(""); errors.As(err, &limit) {
			return finding{}, fmt.Errorf("the plugin did not compute anything within %v", probeTimeout)
		}
		return finding{}, err
	}
	var f finding
	if err := json.Unmarshal(text, &f); err != nil {
		return finding{}, fmt.Errorf("the plugin's trial run answered %q: %w", text, err)
	}
	probed.Store(string(task), f)
	return f, nil
}
