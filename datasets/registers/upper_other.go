//go:build !goexperiment.simd || !amd64

package registers

// ClearUpper does nothing: no registers are left in use.
func ClearUpper() {}
