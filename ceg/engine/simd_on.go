//go:build goexperiment.simd

package engine

// builtWithSIMD says that the Go backend's vector kernels are in this binary.
const builtWithSIMD = true
