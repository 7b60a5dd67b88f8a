package engine

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
)

// Kind says which engine a backend is.
type Kind int

// The kinds of backends.
const (
	Go       Kind = iota + 1 // GoMLX's pure-Go backend
	XLA                      // XLA on an accelerator
	XLAOnCPU                 // XLA on a CPU
)

// Backend is an open compute backend with its properties.
type Backend struct {
	// Compute is GoMLX's backend.
	Compute compute.Backend
	// Name is a stable short name: "go", "xla:cuda", "xla:cpu".
	Name string
	// Description states in one line which backend this is and why it was chosen.
	Description string
	// Notice is one sentence for the user, such as about a slow build, or empty. This package
	// prints nothing.
	Notice string
	Kind   Kind
	// Settings are recorded with a run.
	Settings Settings

	kept bool // until the process ends
}

// Close frees the backend; nothing created with it may be used afterwards. Closing twice, or a
// zero Backend, has no effect. A GPU's backend stays open for others of this process.
func (b Backend) Close() {
	if b.Compute != nil && !b.Compute.IsFinalized() {
		if !b.kept {
			b.Compute.Finalize()
		}
		if b.Settings.Plugin != "" {
			trim()
		}
	}
}

// Open opens the backend that spec names:
//
//	go                     the pure-Go backend; its own options may follow, as in go:ops_sequential
//	xla                    the best plugin that works here
//	xla:cuda, xla:cpu      the plugin of that name
//	xla:/path/plugin.so    the plugin in that file
//	auto, or nothing       what GOMLX_BACKEND says if it is set, else the best plugin that works here if its device
//	                       computes faster than Go does, else go; on a CPU that depends on the [Work]
//
// Options of XLA follow after commas, as in xla:cuda,tf32=false: see [Settings] for tf32
// and device. GoMLX's preallocate, memory_fraction, allocator, visible_devices,
// use_tfrt_gpu_client and shared_buffers are passed on. The names stablehlo, hlo and shlo are
// aliases of xla, as in GoMLX.
//
// An invalid spec is a [*SpecError]. A named backend that does not work is an error; with auto,
// another one is used.
func Open(spec string) (Backend, error) {
	return Work{}.Open(spec)
}

// Check returns the error that Open would give for a malformed specification or for one whose
// plugin is nowhere on this machine. It opens nothing, so Open may still fail.
func Check(spec string) error {
	s := thisMachine()
	r, err := resolve(spec, s.getenv)
	switch {
	case err != nil:
		return err
	case r.kind != kindXLA:
		return nil
	case !xlaBuilt:
		err = errNoXLA
	case filepath.IsAbs(r.plugin):
		_, err = os.Stat(r.plugin)
	default:
		_, err = r.candidates(s)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.origin, r.spec, err)
	}
	return nil
}

// Work describes the computation that a backend is opened for. The zero Work is light or
// unknown.
type Work struct {
	// Exact opens any backend with tf32=false: float32 matrix products and convolutions use all
	// bits of their inputs.
	Exact bool
	// Heavy is true for training that is for XLA also on a CPU. Only auto reads it.
	Heavy bool
}

// Open opens a backend as the function Open does, for this work.
func (w Work) Open(spec string) (Backend, error) {
	return w.openBackend(spec, thisMachine())
}

func (w Work) openBackend(spec string, s search) (Backend, error) {
	r, err := resolve(spec, s.getenv)
	if err != nil {
		return Backend{}, err
	}
	if w.Exact {
		r.xla.tf32 = false
	}
	s.goIsFaster = s.goIsFaster && !w.Heavy
	return r.openBackend(s)
}

func (r request) openBackend(s search) (b Backend, err error) {
	switch r.kind {
	case kindAuto:
		b, err = openAuto(r, s)
	case kindGo:
		b, err = openGo(r.goOptions, "")
	case kindXLA:
		b, err = openXLA(r, s)
	case kindRuntime:
		return Backend{}, &SpecError{r.origin, r.spec, errRuntimeAlone}
	}
	if err != nil {
		return Backend{}, fmt.Errorf("%s %s: %w", r.origin, r.spec, err)
	}
	switch {
	case r.origin == compute.ConfigEnvVar:
		b.Description += ", requested by " + r.origin
	case r.kind != kindAuto:
		b.Description += ", requested"
	}
	return b, nil
}

// Compiled returns freed memory to the system; call it after graphs were compiled and before
// they run. XLA's compiler otherwise keeps hundreds of megabytes. It also frees buffers that are
// cached between computations.
func (b Backend) Compiled() {
	if b.Settings.Plugin != "" {
		trim()
	}
}
