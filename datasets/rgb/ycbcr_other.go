//go:build !goexperiment.simd || !amd64

package rgb

func fromChromaVectors(row, luma, cb, cr []uint8) int { return 0 }

func sumVectors(sums []int16, near, far []uint8, weights [2]int16) int { return 0 }

func widenVectors(dst []uint8, s []int16, left, right int16, shift int) int { return 0 }
