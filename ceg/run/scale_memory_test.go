package run

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// scaleSizes returns the numbers of images in LEDG_SCALE, such as 10000,100000,1000000, by default 2000.
func scaleSizes(b *testing.B) []int {
	b.Helper()
	text := os.Getenv("LEDG_SCALE")
	if text == "" {
		return []int{2000}
	}
	var list []int
	for s := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			b.Fatalf("LEDG_SCALE: %q is not a number of images", s)
		}
		list = append(list, n)
	}
	return list
}

// resetPeak frees unused memory and resets the process's peak memory, on systems that support
// it.
func resetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// reportPeak reports the peak memory since resetPeak minus less bytes, in GiB, on Linux.
func reportPeak(b *testing.B, less int64, unit string) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.Fields(rest + " -")[0], 10, 64)
	if err == nil {
		b.ReportMetric(float64(kilobytes<<10-less)/(1<<30), unit)
	}
}

// cpuSeconds returns the processor time of this process in seconds, or 0 on systems that do not report
// it. On a shared machine it is more reliable than wall-clock time.
func cpuSeconds() float64 {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may hold blanks
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11]) // utime and stime, proc(5), in ticks of 10 ms
	system, _ := strconv.Atoi(f[12])
	return float64(user+system) / 100
}
