package engine

import (
	"os"
	"strconv"
	"strings"
)

// PeakMemory returns the peak resident memory of this process in bytes, or 0 on
// systems that do not tell (it reads VmHWM of /proc/self/status).
func PeakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib * 1024
		}
	}
	return 0
}
