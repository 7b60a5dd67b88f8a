package engine

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// system is the file system of the machine.
var system = os.DirFS("/")

// PeakMemory returns the peak resident memory of this process in bytes (VmHWM of
// /proc/self/status), or 0 on systems without it.
func PeakMemory() int64 { return bytesOf(system, "proc/self/status", "VmHWM") }

// hostMemory returns the size of the main memory in bytes, 0 on systems that do not tell.
func hostMemory() int64 { return bytesOf(system, "proc/meminfo", "MemTotal") }

// bytesOf returns a number of a file with lines such as "MemTotal: 16384 kB", in bytes,
// and 0 if it is not there.
func bytesOf(fsys fs.FS, file, key string) int64 {
	text, err := fs.ReadFile(fsys, file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key+":"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// Room returns an error with both numbers if need bytes exceed the main memory available to this
// process. what names the purpose. It returns nil on systems that do not report memory.
func Room(what string, need float64) error {
	if there := freeMemory(system); there > 0 && need > float64(there) {
		return fmt.Errorf("%s needs about %.1f GB of memory or more, and %.1f GB are free", what, need/1e9, float64(there)/1e9)
	}
	return nil
}

// freeMemory returns the bytes that processes can take without the memory of others, with
// the space to swap, and no more than the control groups of this process may have. It is 0
// on systems that do not tell.
func freeMemory(fsys fs.FS) int64 {
	free := bytesOf(fsys, "proc/meminfo", "MemAvailable")
	if free == 0 {
		return 0
	}
	return min(free, groupLimit(fsys)) + bytesOf(fsys, "proc/meminfo", "SwapFree")
}

// groupLimit returns the least limit of the control groups that this process is in, of
// either version.
func groupLimit(fsys fs.FS) int64 {
	least := int64(math.MaxInt64)
	groups, _ := fs.ReadFile(fsys, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) { // such as 0::/a/b, and 4:cpu,memory:/a/b of version 1
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		root, file := "sys/fs/cgroup", "memory.max"
		if fields[1] != "" {
			root, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			if !slices.Contains(strings.Split(fields[1], ","), "memory") {
				continue
			}
		}
		for group := path.Clean(fields[2]); ; group = path.Dir(group) {
			text, _ := fs.ReadFile(fsys, path.Join(root, group, file))
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // else "max"
				least = min(least, n)
			}
			if group == path.Dir(group) {
				break
			}
		}
	}
	return least
}
