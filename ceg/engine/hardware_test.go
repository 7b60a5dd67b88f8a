package engine

import (
	"runtime"
	"strings"
	"testing"
)

func TestHardware(t *testing.T) {
	got := goHardware([]string{"HOME=/", "GOMLX_GO_SIMD_AVX512=0", "GOMLX_GO_FUSION=0", "GOMLX_BACKEND=go"})
	if !strings.HasPrefix(got, runtime.GOARCH) || !strings.HasSuffix(got, " GOMLX_GO_FUSION=0 GOMLX_GO_SIMD_AVX512=0") {
		t.Errorf("got %q", got)
	}
	if plain := goHardware(nil); strings.Contains(plain, "avx") && !builtWithSIMD {
		t.Errorf("a build without vector kernels has %q", plain)
	}
	if plain := goHardware(nil); runtime.GOARCH == "arm64" && strings.HasSuffix(plain, " neon") != builtWithSIMD {
		t.Errorf("on arm64 kernels are chosen by %q, built with SIMD %v", plain, builtWithSIMD)
	}
	if x := cpuHardware(); !strings.HasPrefix(x, runtime.GOARCH) || strings.Contains(goHardware(nil), "avx512") && !strings.Contains(x, " avx512") {
		t.Errorf("XLA has %q, Go %q", x, goHardware(nil))
	}
}
