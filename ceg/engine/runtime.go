package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ledg-go/ledg/ceg/engine/ort"
)

// RuntimeName is the spec of ONNX Runtime, for [OpenRuntime] and [Install].
const RuntimeName = "onnxruntime"

// Runtime is a loaded ONNX Runtime, which only computes networks from ONNX files.
type Runtime struct {
	*ort.Library
	// Path is the library's file.
	Path string
	// Description is one line, as a [Backend] has it.
	Description string
}

// errRuntimeAlone is why no other work is done by ONNX Runtime.
var errRuntimeAlone = errors.New("ONNX Runtime computes networks from ONNX files alone, as in `ledg embed --net FILE.onnx`; for all else want auto, go or xla")

// OpenRuntime opens ONNX Runtime for a network from an ONNX file, if spec selects it:
//
//	onnxruntime             the one that [Install] downloaded, or else that of Python's package onnxruntime
//	onnxruntime:/path/lib   the one in that file
//	auto, or nothing        the one that Install downloaded, unless there is an NVIDIA GPU
//
// It returns nil if another backend is to compute; with auto, why is the reason if ONNX Runtime
// is installed.
func OpenRuntime(spec string) (rt *Runtime, why string, err error) {
	return openRuntime(spec, thisMachine())
}

func openRuntime(spec string, s search) (rt *Runtime, why string, err error) {
	r, err := resolve(spec, s.getenv)
	if err != nil {
		return nil, "", err
	}
	switch r.kind {
	case kindAuto:
		if hasNVIDIA(s.root) || ort.Unbuilt != nil {
			return nil, "", nil
		}
		p := s.installedRuntime()
		if p.Path == "" {
			return nil, "", nil
		}
		if rt, err = loadRuntime(p); err != nil {
			return nil, "ONNX Runtime does not work here: " + brief(err), nil
		}
		return rt, "", nil
	case kindRuntime:
		if rt, err = s.namedRuntime(r.plugin); err != nil {
			err = fmt.Errorf("%s %s: %s", r.origin, r.spec, brief(err))
		}
		return rt, "", err
	}
	return nil, "", nil
}

// RuntimePlan returns the plan to install ONNX Runtime, if spec permits it and it is not
// installed; otherwise ok is false. The error is the reason why this program cannot load it.
func RuntimePlan(spec string) (p Plan, ok bool, err error) { return runtimePlan(spec, thisMachine()) }

func runtimePlan(spec string, s search) (p Plan, ok bool, err error) {
	if r, err := resolve(spec, s.getenv); err != nil || r.kind != kindAuto || hasNVIDIA(s.root) || s.installedRuntime().Path != "" {
		return p, false, nil
	}
	if ort.Unbuilt != nil {
		return p, true, ort.Unbuilt
	}
	p, err = NewPlan(RuntimeName)
	return p, err == nil, nil // there is none for other systems
}

// BesideRuntime returns the spec of the backend for computations beside an ONNX network, such as
// a head on its features: "go" if spec names ONNX Runtime, else spec.
func BesideRuntime(spec string) string {
	if r, err := resolve(spec, os.Getenv); err == nil && r.kind == kindRuntime {
		return "go"
	}
	return spec
}

// namedRuntime opens the library at a path, or the first that is found here.
func (s search) namedRuntime(path string) (*Runtime, error) {
	if ort.Unbuilt != nil {
		return nil, ort.Unbuilt
	}
	if path != "" {
		return loadRuntime(pluginAt(path, path))
	}
	found := s.runtimes()
	if len(found) == 0 {
		return nil, errors.New("there is no ONNX Runtime here: run `ledg backend install onnxruntime`, or name the file, onnxruntime:/path/to/" + ort.File())
	}
	return loadRuntime(found[0])
}

func loadRuntime(p Plugin) (*Runtime, error) {
	if err := unloadable(p.Path); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	l, err := ort.Load(p.Path)
	if err != nil {
		return nil, err
	}
	return &Runtime{Library: l, Path: p.Path, Description: fmt.Sprintf("backend %s: ONNX Runtime %s", RuntimeName, l.Version)}, nil
}

// runtimeFolder is where [Install] puts ONNX Runtime.
func runtimeFolder(home string) string { return filepath.Join(home, ".local", "lib", RuntimeName) }

// installedRuntime is the ONNX Runtime that [Install] has put in its place; the zero Plugin where it has not.
func (s search) installedRuntime() Plugin {
	path := filepath.Join(runtimeFolder(s.home), ort.File())
	if s.home == "" || !exists(path) {
		return Plugin{}
	}
	return pluginAt(path, filepath.Dir(path))
}

// runtimes returns those that are found here, the installed one first.
func (s search) runtimes() (found []Plugin) {
	if p := s.installedRuntime(); p.Path != "" {
		found = append(found, p)
	}
	pattern := map[string]string{"darwin": "libonnxruntime.*.dylib", "windows": "onnxruntime.dll"}[runtime.GOOS]
	pattern = cmp.Or(pattern, "libonnxruntime.so.*")
	for _, site := range s.sitePackages() {
		files, _ := filepath.Glob(filepath.Join(site, "onnxruntime", "capi", pattern))
		slices.Sort(files)
		for _, file := range files {
			if !slices.ContainsFunc(found, func(p Plugin) bool { return p.Path == file }) {
				found = append(found, Plugin{Name: RuntimeName, Path: file, Source: "onnxruntime" + distVersion(site, RuntimeName) + " in " + site})
			}
		}
	}
	return found
}

// listRuntime tries one; another has its name already.
func listRuntime(p Plugin, taken bool) Listing {
	l := Listing{Name: RuntimeName, Plugin: p}
	if taken {
		l.Name += ":" + p.Path
	}
	rt, err := (*Runtime)(nil), ort.Unbuilt
	if err == nil {
		rt, err = loadRuntime(p)
	}
	if err != nil {
		l.Unusable = brief(err)
		return l
	}
	l.API = rt.Version
	l.Devices = []Device{{Name: fmt.Sprintf("%d cores, networks from ONNX files alone", runtime.GOMAXPROCS(0)), MemoryBytes: hostMemory()}}
	return l
}
