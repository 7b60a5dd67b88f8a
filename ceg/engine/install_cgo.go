//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

import (
	"runtime"

	"github.com/gomlx/go-xla/installer"
	"github.com/gomlx/go-xla/pjrt"
)

// fetch runs go-xla's installer. It prints to standard output.
func fetch(p Plan) error {
	if p.Kind == "cpu" {
		platform := runtime.GOOS + "_" + runtime.GOARCH
		return installer.CPUInstall(platform, pjrt.DefaultCPUVersion, p.Folder, true, installer.Normal)
	}
	return fetchCUDA(p)
}
