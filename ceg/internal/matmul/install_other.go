//go:build !(arm64 && goexperiment.simd)

package matmul

// Install does nothing here, and says so.
func Install() bool { return false }
