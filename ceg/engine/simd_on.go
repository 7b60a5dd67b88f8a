//go:build goexperiment.simd

package engine

// builtWithSIMD is true if this binary has the Go backend's vector kernels.
const builtWithSIMD = true
