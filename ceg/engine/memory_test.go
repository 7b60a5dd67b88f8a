package engine

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFreeMemory(t *testing.T) {
	const meminfo = "MemTotal:       16384 kB\nMemFree:        1 kB\nMemAvailable:    8192 kB\nSwapFree:           4 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is told":    {nil, 0},
		"an old kernel":      {map[string]string{"proc/meminfo": "MemTotal: 16384 kB\n"}, 0},
		"no group":           {map[string]string{"proc/meminfo": meminfo}, 8196 << 10},
		"no limit":           {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 8196 << 10},
		"a limit":            {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1048576\n"}, 1028 << 10},
		"a parent's":         {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1048576\n", "sys/fs/cgroup/a/b/memory.max": "2097152\n"}, 1028 << 10},
		"in a container":     {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1048576\n"}, 1028 << 10},
		"outside of it":      {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../a\n", "sys/fs/cgroup/memory.max": "1048576\n"}, 1028 << 10},
		"version 1":          {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpu:/b\n2:hugetlb,memory:/a\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1048576\n"}, 1028 << 10},
		"more than there is": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "2:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8196 << 10},
	} {
		fsys := fstest.MapFS{}
		for file, text := range maps.All(c.files) {
			fsys[file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := freeMemory(fsys); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

func TestRoom(t *testing.T) {
	if freeMemory(system) == 0 {
		t.Skip("the system does not tell")
	}
	if err := Room("a test", 1); err != nil {
		t.Error(err)
	}
	if err := Room("a test", 1e18); err == nil || !strings.HasPrefix(err.Error(), "a test needs about 1000000000.0 GB of memory or more, and ") {
		t.Error(err)
	}
}
