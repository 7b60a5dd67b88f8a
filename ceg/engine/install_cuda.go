//go:build cgo && !noxla && linux && amd64

package engine

import "github.com/gomlx/go-xla/installer"

// fetchCUDA installs a CUDA plugin. The installer first deletes the libraries of an earlier one,
// so the network is checked before.
func fetchCUDA(p Plan) error {
	if _, _, err := installer.CudaGetPJRTPipInfo(p.Kind); err != nil {
		return err
	}
	return installer.CudaInstall(p.Kind, "latest", p.Folder, true, installer.Normal)
}
