// Package engine opens the compute backend that everything else runs on: it is the only place that does. Call
// [Open] with what the user asked for ("auto", "go", ...), hand Backend.Compute to GoMLX, print Backend.Description
// once, and Close the backend when done:
//
//	b, err := engine.Open("auto")
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//	exec, err := graph.NewExec(b.Compute, ...)
package engine

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute"
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
}

// Close releases the backend; nothing made with it may be used afterwards. Closing twice, or a zero Backend, does
// nothing.
func (b Backend) Close() {
	if b.Compute != nil && !b.Compute.IsFinalized() {
		b.Compute.Finalize()
	}
}

// Open opens the backend that spec names: "go", optionally with the Go backend's own options
// ("go:ops_sequential"); "" and "auto" choose.
func Open(spec string) (Backend, error) {
	name, options, _ := strings.Cut(spec, ":")
	switch name {
	case "", "auto", "go":
		var list []string
		if options != "" {
			list = strings.Split(options, ",")
		}
		return openGo(list, "")
	}
	return Backend{}, fmt.Errorf("backend %q: want auto or go", spec)
}
