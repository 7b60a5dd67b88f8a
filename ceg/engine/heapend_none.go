//go:build !goexperiment.simd || !linux || race

package engine

func mapAhead() (notice string) { return "" }
