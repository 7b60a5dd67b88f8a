//go:build cgo && !noxla && ((linux && (amd64 || arm64)) || (darwin && arm64))

package engine

import (
	"runtime"

	"github.com/gomlx/go-xla/installer"
	"github.com/gomlx/go-xla/pjrt"
)

// fetchCPU has go-xla's installer fetch GoMLX's plugin for the CPU into a folder. It prints to standard output.
func fetchCPU(dir string) error {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	return installer.CPUInstall(platform, pjrt.DefaultCPUVersion, dir, true, installer.Normal)
}
