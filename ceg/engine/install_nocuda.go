//go:build cgo && !noxla && (linux || darwin) && arm64

package engine

import "errors"

func fetchCUDA(Plan) error {
	return errors.New("go-xla installs CUDA plugins on Linux for amd64 only")
}
