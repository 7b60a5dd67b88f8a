//go:build !(cgo && !noxla && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package engine

import "github.com/gomlx/compute"

// xlaBuilt is true if this binary can load PJRT plugins.
const xlaBuilt = false

func start(launch) (compute.Backend, error) { return nil, errNoXLA }

func trim() {}

func fetchCPU(string) error { return errNoXLA }
