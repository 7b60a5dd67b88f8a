package engine

import (
	"github.com/gomlx/compute"
	"github.com/pkg/errors"
)

// Backend is an open compute backend and what the rest of the program has to know about it.
type Backend struct {
	// Compute is the backend in GoMLX's terms.
	Compute compute.Backend
	// Name is short and stable: "go", "xla:cuda", "xla:cpu".
	Name string
	// Description says in one line which backend this is and why it was chosen.
	Description string
	// Notice is empty or one sentence that the user should read, such as a slow build. Nothing is printed here.
	Notice string
	// FastConv says to lower convolutions to shifted copies and matrix products; false: use the native convolution.
	FastConv bool
	// CPU says that XLA computes on a CPU, of whose convolutions only some are fast.
	CPU bool
	// Settings belong in a run's records.
	Settings Settings
}

// Close releases the backend; nothing made with it may be used afterwards. Closing twice, or a zero Backend, does
// nothing.
func (b Backend) Close() {
	if b.Compute != nil && !b.Compute.IsFinalized() {
		b.Compute.Finalize()
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
// Options of XLA follow after a comma, as in xla:cuda,tf32=false: see [Settings] for tf32, preallocate, memory_fraction
// and device; GoMLX's allocator, visible_devices, use_tfrt_gpu_client and shared_buffers are handed on. The names
// stablehlo, hlo and shlo stand for xla, as in GoMLX.
//
// A spec that makes no sense is a [*SpecError]. A backend that was asked for by name and does not work is an error, too;
// with auto it is a reason to take another.
func Open(spec string) (Backend, error) {
	return Work{}.Open(spec)
}

// Work is what a backend is opened for. The zero Work is light, or not known.
type Work struct {
	// Exact opens any backend with tf32=false: products and convolutions of float32 keep all bits of their inputs.
	Exact bool
	// Heavy says that a network is trained for which XLA was measured to be faster than Go on a CPU, and compiling
	// pays. It matters to auto alone.
	Heavy bool
}

// Open is the package's Open for the work.
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

// openBackend opens what r asks for.
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
		return Backend{}, errors.WithMessagef(err, "%s %s", r.origin, r.spec)
	}
	switch {
	case r.origin == compute.ConfigEnvVar:
		b.Description += ", asked for by " + r.origin
	case r.kind != kindAuto:
		b.Description += ", asked for"
	}
	return b, nil
}

var atTrim []func()

// AtTrim has f called whenever memory that C code has freed is to be given back to the
// system, for a program that keeps some. It is to be called before a backend is opened.
func AtTrim(f func()) { atTrim = append(atTrim, f) }

// Compiled is to be called when graphs have been compiled and before they compute: XLA's
// compiler leaves hundreds of megabytes with the process otherwise, beside those that the
// computation takes. It gives back, too, what is kept from one computation to the next.
func (b Backend) Compiled() {
	if b.Settings.Plugin != "" {
		trim()
	}
}
