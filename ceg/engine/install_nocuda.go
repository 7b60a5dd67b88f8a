//go:build cgo && !noxla && linux && arm64

package engine

import "errors"

func fetchCUDA(Plan) error {
	return errors.New("go-xla installs CUDA plugins on amd64 only")
}
