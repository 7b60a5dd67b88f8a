package engine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"
)

// goHardware is what the Go backend chooses its kernels by: the architecture, its vector instructions where this
// program was built with kernels for them, and compute's variables in the environment.
func goHardware(environ []string) string {
	words := []string{runtime.GOARCH}
	if builtWithSIMD {
		switch x := cpu.X86; {
		case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL:
			words = append(words, "avx512")
		case x.HasAVX2:
			words = append(words, "avx2")
		case runtime.GOARCH == "arm64":
			words = append(words, "neon") // of our own kernels
		}
	}
	for _, e := range slices.Sorted(slices.Values(environ)) {
		if strings.HasPrefix(e, "GOMLX_GO_") {
			words = append(words, e)
		}
	}
	return strings.Join(words, " ")
}

// cpuHardware names the instructions that XLA's compiler and its libraries can choose on this CPU.
func cpuHardware() string {
	words := []string{runtime.GOARCH}
	for _, i := range []struct {
		name string
		has  bool
	}{
		{"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA}, {"avx512", cpu.X86.HasAVX512F}, {"avx512bf16", cpu.X86.HasAVX512BF16},
		{"amx", cpu.X86.HasAMXTile}, {"asimd", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if i.has {
			words = append(words, i.name)
		}
	}
	return strings.Join(words, " ")
}

// Machine returns processor, number of cores and system: "Intel(R) Xeon(R) Processor, 2 cores,
// linux".
func Machine() string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			key, value, _ := strings.Cut(line, ":")
			if strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s", model, runtime.NumCPU(), runtime.GOOS)
}
