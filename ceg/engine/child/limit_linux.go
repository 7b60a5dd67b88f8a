package child

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// limit lets this process allocate at most this number of bytes in addition to what it has.
func limit(bytes int64) error {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(text), "\nVmData:")
	var has int64
	if _, err := fmt.Sscan(rest, &has); err != nil {
		return fmt.Errorf("VmData of /proc/self/status: %w", err)
	}
	most := uint64(has<<10 + bytes)
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
}
