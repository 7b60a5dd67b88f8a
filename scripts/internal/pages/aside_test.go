//go:build cgo && !noxla && linux && (amd64 || arm64)

package pages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/scripts/internal/pages/exercise"
)

const childVariable = "LEDG_TEST_PAGES"

// child takes and gives back blocks on several threads, and prints whether they come from
// this package.
func child(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, size := range []int{100, 1 << 20, 8 << 20, 9 << 20, 8 << 20} {
				if err := exercise.Blocks(size); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	fmt.Printf("on %v, %v blocks\n", isOn(), largeRequests() > 0)
}

// Another allocator or a checker that is preloaded gets every block, and so does the C
// library when this is switched off.
func TestStandsAside(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		child(t)
		return
	}
	library := func(pattern string) string {
		for _, dir := range []string{"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64"} {
			if list, _ := filepath.Glob(filepath.Join(dir, pattern)); len(list) > 0 {
				return list[0]
			}
		}
		return ""
	}
	for name, c := range map[string]struct {
		env  []string
		need string
		want string
	}{
		"alone":         {nil, "", "on true, true blocks"},
		"switched off":  {[]string{"LEDG_LARGE_PAGES=off"}, "", "on false, false blocks"},
		"a check":       {[]string{"MALLOC_CHECK_=3"}, "", "on false, false blocks"},
		"a tunable":     {[]string{"GLIBC_TUNABLES=glibc.malloc.check=3"}, "", "on false, false blocks"},
		"glibc's check": {[]string{"MALLOC_CHECK_=3", "LD_PRELOAD="}, "libc_malloc_debug.so.0", "on false, false blocks"},
		"its library":   {[]string{"LD_PRELOAD="}, "libc_malloc_debug.so.0", "on false, false blocks"},
		"jemalloc":      {[]string{"LD_PRELOAD="}, "libjemalloc.so*", "on false, false blocks"},
		"tcmalloc":      {[]string{"LD_PRELOAD="}, "libtcmalloc*.so*", "on false, false blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			env := append(os.Environ(), childVariable+"=yes")
			for _, e := range c.env {
				if e == "LD_PRELOAD=" {
					file := library(c.need)
					if file == "" {
						t.Skip("there is no " + c.need)
					}
					e += file
				}
				env = append(env, e)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestStandsAside$", "-test.v")
			cmd.Env = env
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, want %q in\n%s", err, c.want, out)
			}
		})
	}
}

// What is kept has a bound.
func TestReservedIsBounded(t *testing.T) {
	for size := range 20 {
		if err := exercise.Blocks((8 + 2*size) << 20); err != nil {
			t.Fatal(err)
		}
	}
	if reserved := reservedBytes(); isOn() && (reserved == 0 || reserved > 64<<20) {
		t.Errorf("%d bytes are kept after blocks of up to 46 MB, one at a time", reserved)
	}
}
