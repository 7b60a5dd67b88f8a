package engine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
)

// Listing is a backend found on this machine, with its status.
type Listing struct {
	// Name is the argument of [Open]: "go", "xla:cuda", or "xla:" and the file's path if the
	// name selects another plugin. "onnxruntime" is an argument of [OpenRuntime].
	Name string `json:"name"`
	// Plugin is its file; the zero Plugin for the Go backend.
	Plugin Plugin `json:"plugin,omitzero"`
	// API is the version of the plugin's PJRT interface, such as "0.104", or of ONNX Runtime.
	API string `json:"api,omitempty"`
	// Devices are its devices.
	Devices []Device `json:"devices,omitempty"`
	// Unusable is the reason why the backend does not work; empty if it does.
	Unusable string `json:"unusable,omitempty"`
}

// List returns the backends of this machine, best first, the Go backend last. Each plugin is
// tried in a child process, which takes seconds on machines with a GPU.
func List() []Listing {
	return listOn(thisMachine())
}

func listOn(s search) []Listing {
	var list []Listing
	taken := map[string]bool{}
	for _, p := range s.plugins(true) {
		l := Listing{Name: "xla:" + p.Family(), Plugin: p}
		if taken[l.Name] {
			l.Name = "xla:" + p.Path
		}
		if f, err := examine(p); err != nil {
			l.Unusable = brief(err)
			if p.Family() == "cuda" && !hasNVIDIA(s.root) {
				l.Unusable = noGPU + "; " + l.Unusable
			}
		} else {
			l.API, l.Devices = f.API, f.Devices
			taken[l.Name] = true
		}
		list = append(list, l)
	}
	for _, p := range s.runtimes() {
		list = append(list, listRuntime(p, len(list) > 0 && list[len(list)-1].Name == RuntimeName))
	}
	cpu := Device{Name: fmt.Sprintf("%d cores", runtime.GOMAXPROCS(0)), MemoryBytes: hostMemory()}
	return append(list, Listing{Name: "go", Devices: []Device{cpu}})
}

// examine tries p with default options.
func examine(p Plugin) (finding, error) {
	if !xlaBuilt {
		return finding{}, errNoXLA
	}
	l, _, err := newLaunch(p, defaultXLAOptions(), os.Getenv)
	if err != nil {
		return finding{}, err
	}
	f, err := probe(l)
	if err == nil && p.Family() == "cpu" {
		f.Devices = slices.Clone(f.Devices) // the probe remembers its own
		for i := range f.Devices {
			f.Devices[i].MemoryBytes = hostMemory()
		}
	}
	return f, err
}
