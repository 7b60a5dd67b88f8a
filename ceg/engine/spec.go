package engine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/compute"
)

// kind is the family of a requested backend.
type kind uint8

const (
	kindAuto kind = iota
	kindGo
	kindXLA
	kindRuntime
)

// request is a parsed spec.
type request struct {
	spec string // as given
	kind kind
	// plugin is for kindXLA: "" any, a name such as "cuda", or an absolute path; for kindRuntime the first or the last.
	plugin string
	// goOptions are the Go backend's own options, in order.
	goOptions []string
	// xla holds the options of kindXLA.
	xla xlaOptions
	// origin is the source of the spec: "backend" (the caller) or "GOMLX_BACKEND".
	origin string
}

// xlaOptions are the options after the first comma of an xla spec.
type xlaOptions struct {
	tf32   bool
	device int      // the only one to use, from 0; below 0: all
	other  []string // for GoMLX, which checks their values
}

// xlaAliases are the names under which GoMLX registers its XLA backend.
var xlaAliases = []string{"xla", "stablehlo", "hlo", "shlo"}

// grammar is what a spec may be, for error messages.
const grammar = "auto, go, xla, xla:cpu, xla:cuda, xla:/path/to/plugin.so or, for networks from ONNX files, onnxruntime"

// SpecError is the error of a spec with an unknown name or option, or a value out of range.
type SpecError struct {
	Origin string // source of the spec: "backend" for the caller, or "GOMLX_BACKEND"
	Spec   string // the spec
	Err    error  // the reason
}

func (e *SpecError) Error() string { return fmt.Sprintf("%s %q: %v", e.Origin, e.Spec, e.Err) }

func (e *SpecError) Unwrap() error { return e.Err }

// resolve parses spec. The empty spec and "auto" yield to the environment variable GOMLX_BACKEND where it is set.
func resolve(spec string, getenv func(string) string) (request, error) {
	origin := "backend"
	if spec == "" || spec == "auto" {
		if env := getenv(compute.ConfigEnvVar); env != "" {
			spec, origin = env, compute.ConfigEnvVar
		}
	}
	r, err := parse(spec)
	if err != nil {
		return request{}, &SpecError{Origin: origin, Spec: spec, Err: err}
	}
	r.spec, r.origin = spec, origin
	return r, nil
}

// parse reads one spec: a backend, then after a colon its plugin or options.
func parse(spec string) (request, error) {
	name, rest, hasRest := strings.Cut(spec, ":")
	switch {
	case name == "" && !hasRest, name == "auto" && !hasRest:
		return request{kind: kindAuto, xla: defaultXLAOptions()}, nil
	case name == "go":
		var options []string
		if rest != "" {
			options = strings.Split(rest, ",")
		}
		return request{kind: kindGo, goOptions: options}, nil
	case name == RuntimeName:
		if rest != "" {
			var err error
			if rest, err = filepath.Abs(rest); err != nil {
				return request{}, err
			}
		}
		return request{kind: kindRuntime, plugin: rest}, nil
	case slices.Contains(xlaAliases, name):
		plugin, options, _ := strings.Cut(rest, ",")
		x, err := parseXLAOptions(options)
		if err != nil {
			return request{}, err
		}
		if plugin != "" && strings.ContainsRune(plugin, os.PathSeparator) {
			if plugin, err = filepath.Abs(plugin); err != nil {
				return request{}, err
			}
		}
		return request{kind: kindXLA, plugin: plugin, xla: x}, nil
	}
	return request{}, fmt.Errorf("want %s", grammar)
}

func defaultXLAOptions() xlaOptions { return xlaOptions{tf32: true, device: -1} }

// parseXLAOptions reads "tf32=false,preallocate,memory_fraction=0.5"; a boolean without a value is true.
func parseXLAOptions(s string) (xlaOptions, error) {
	x := defaultXLAOptions()
	for o := range strings.SplitSeq(s, ",") {
		if o == "" {
			continue
		}
		key, value, _ := strings.Cut(o, "=")
		var err error
		switch key {
		case "tf32":
			x.tf32, err = strconv.ParseBool(cmp.Or(value, "true"))
		case "device":
			x.device, err = strconv.Atoi(value)
			if err == nil && x.device < 0 {
				err = strconv.ErrRange
			}
		case "preallocate", "memory_fraction", "allocator", "visible_devices", "use_tfrt_gpu_client", "shared_buffers", "noshared_buffers":
			x.other = append(x.other, o)
		default:
			return x, fmt.Errorf("option %q: want tf32, preallocate, memory_fraction, device, allocator, visible_devices, "+
				"use_tfrt_gpu_client or shared_buffers", o)
		}
		if err != nil {
			return x, fmt.Errorf("option %q: bad value", o)
		}
	}
	return x, nil
}
