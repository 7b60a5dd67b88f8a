//go:build goexperiment.simd && linux && !race

package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// What is beside a buffer of the sizes that the Go backend allocates can be read, as its
// kernels do, once a backend is open. In a process of its own, whose heap is small.
func TestBuffersDoNotEndWithTheHeap(t *testing.T) {
	const child = "LEDG_TEST_HEAP_END"
	switch os.Getenv(child) {
	case "":
		for _, which := range []string{"before", "after"} {
			c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
			c.Env = append(os.Environ(), child+"="+which)
			out, err := c.CombinedOutput()
			_, rest, found := strings.Cut(string(out), "at the end: ")
			var n int
			if _, scan := fmt.Sscan(rest, &n); err != nil || !found || scan != nil {
				t.Fatalf("%s: %v\n%s", which, err, out)
			}
			if which == "before" && n == 0 {
				t.Error("no buffer ends with the heap before a backend is open: is mapAhead still of use?")
			}
			if which == "after" && n > 0 {
				t.Errorf("%d of 300 buffers end with the heap", n)
			}
		}
		return
	case "after":
		b, err := Open("go")
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
	}
	var keep [][]byte
	n := 0
	for i := range 300 {
		b := make([]byte, []int{4 << 20, 1 << 20, 3 << 19, 3 << 20, 1 << 15}[i%5])
		keep = append(keep, b)
		if !readable(t, uintptr(unsafe.Pointer(unsafe.SliceData(b)))+uintptr(len(b))) {
			n++
		}
	}
	fmt.Printf("of %d buffers at the end: %d\n", len(keep), n)
}

// Where the address space is limited, the process that opens a backend is informed. And the
// collector's settings stay. In a process of its own.
func TestMapAheadSaysWhereItCannot(t *testing.T) {
	const child = "LEDG_TEST_NO_ADDRESSES"
	if os.Getenv(child) != "" {
		debug.SetGCPercent(73)
		debug.SetMemoryLimit(3 << 30)
		b, err := Open("go")
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		fmt.Printf("notice %q, collector %d and %d\n", b.Notice, debug.SetGCPercent(73), debug.SetMemoryLimit(-1))
		return
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for limit, want := range map[string]string{"unlimited": `notice "", collector 73 and 3221225472`, "8000000": "ulimit -v"} {
		c := exec.Command(shell, "-c", `ulimit -v "$1" && exec "$0" "-test.run=^TestMapAheadSaysWhereItCannot$" -test.v`, os.Args[0], limit)
		c.Env = append(os.Environ(), child+"=yes")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("ulimit -v %s: %v, want %q in\n%s", limit, err, want, out)
		}
	}
}

// Opening a backend in a program whose heap was in use up to its end touches none of
// what it maps ahead. In a process of its own, which is ended if it does.
func TestMapAheadTakesNoMemory(t *testing.T) {
	const child = "LEDG_TEST_MAP_AHEAD"
	if os.Getenv(child) != "" {
		var used [][]byte
		for range 64 {
			used = append(used, bytes.Repeat([]byte{1}, 1<<20))
		}
		clear(used)
		runtime.GC()
		b, err := Open("go")
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
		return
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), child+"=yes")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for tick := time.Tick(10 * time.Millisecond); ; {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return
		case <-tick:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
			_, rest, _ := strings.Cut(string(status), "VmRSS:")
			var kb int
			if fmt.Sscan(rest, &kb); kb > 1<<19 {
				c.Process.Kill()
				<-ended
				t.Fatalf("it has %d MB in memory", kb>>10)
			}
		}
	}
}

// readable reports whether the process may read a byte.
func readable(t *testing.T, at uintptr) bool {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var first, end uintptr
		var may string
		if _, err := fmt.Sscanf(s.Text(), "%x-%x %s", &first, &end, &may); err == nil && at >= first && at < end {
			return may[0] == 'r'
		}
	}
	return false
}
