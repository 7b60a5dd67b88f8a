package engine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
)

// Listing is one backend of this machine and whether it works.
type Listing struct {
	// Name is what [Open] takes: "go", "xla:cuda", or "xla:" and the file's path where that name means another plugin.
	// "onnxruntime" is for [OpenRuntime], likewise.
	Name string `json:"name"`
	// Plugin is the file behind it; the zero Plugin for the Go backend.
	Plugin Plugin `json:"plugin,omitzero"`
	// API is the version of the PJRT interface that the plugin speaks, such as "0.104"; of ONNX Runtime its own.
	API string `json:"api,omitempty"`
	// Devices are those it can compute on.
	Devices []Device `json:"devices,omitempty"`
	// Unusable says why the backend does not work; empty if it does.
	Unusable string `json:"unusable,omitempty"`
}

// List returns the backends of this machine, best first, the Go backend last. Each plugin is tried in a process of its
// own, which takes seconds where there is a GPU.
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
