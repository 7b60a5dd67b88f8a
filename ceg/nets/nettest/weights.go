// Package nettest reads golden values for tests of networks: arrays from .npz files, and weights
// computed from parameter names, so that fixtures need not store them.
package nettest

import (
	"hash/crc32"
	"math"
	"strings"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// Weights returns deterministic values of a parameter, or of an input if the name begins with
// "input", of shape [out, in, ...], from its name and a seed. They are in +-sqrt(6/fan-in);
// statistics and biases have values typical of a trained network. gain multiplies all values.
func Weights(name string, shape []int, seed uint32, gain float64) []float32 {
	fmix := func(h uint32) uint32 {
		h ^= h >> 16
		h *= 0x85EBCA6B
		h ^= h >> 13
		h *= 0xC2B2AE35
		return h ^ h>>16
	}
	h := uint32(0x811C9DC5)
	for _, b := range []byte(name) {
		h = (h ^ uint32(b)) * 0x01000193
	}
	s := fmix(h + 0x9E3779B9*seed)
	n, fanIn := 1, 1
	for i, d := range shape {
		n *= d
		if i > 0 {
			fanIn *= d
		}
	}
	out := make([]float32, n)
	for i := range out {
		v := float64(2*int64(fmix(fmix(uint32(i)+1)^s)>>8)+1-(1<<24)) / (1 << 24)
		switch {
		case strings.HasPrefix(name, "input"):
			v *= 2
		case strings.HasSuffix(name, "running_mean"):
			v *= 0.1
		case strings.HasSuffix(name, "running_var"):
			v = 2 + 0.5*v
		case strings.HasSuffix(name, "bias"):
			v *= 0.1
		case len(shape) == 1:
			v = 1 + 0.25*v
		default:
			v *= math.Sqrt(6 / float64(fanIn))
		}
		out[i] = float32(float64(float32(v)) * gain)
	}
	return out
}

// CRC32 returns the checksum of values as little-endian bytes.
func CRC32(v []float32) uint32 {
	return crc32.ChecksumIEEE(safetensors.AppendFloats(nil, v))
}
