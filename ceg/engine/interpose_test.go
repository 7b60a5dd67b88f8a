//go:build linux

package engine

import (
	"debug/elf"
	"os"
	"slices"
	"testing"
)

// A program that imports this package keeps the C library's functions for memory.
func TestInterposesNothing(t *testing.T) {
	f, err := elf.Open(os.Args[0])
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Skip("the test is linked without dynamic symbols:", err)
	}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && slices.Contains([]string{"malloc", "free", "realloc", "posix_memalign", "malloc_usable_size"}, s.Name) {
			t.Errorf("this program has a %s of its own", s.Name)
		}
	}
}
