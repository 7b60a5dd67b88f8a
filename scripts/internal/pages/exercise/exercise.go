//go:build cgo && linux

// Package exercise asks the C library for memory as XLA does, for the tests of pages.
package exercise

/*
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// exercise returns 0, or the number of the step at which something is wrong.
static int exercise(size_t size) {
	char* p = NULL;
	if (posix_memalign((void**)&p, 64, size) || !p || (size_t)p % 64) return 1;
	memset(p, 7, size);
	if (malloc_usable_size(p) < size) return 2;
	char* q = realloc(p, size + (1 << 20));
	if (!q || q[0] != 7 || q[size - 1] != 7) return 3;
	free(q);
	if (posix_memalign((void**)&p, 24, size) == 0) return 4; // no power of two
	if (posix_memalign((void**)&p, 4096, size)) return 5;
	free(p);
	p = calloc(1, size);
	if (!p || p[size - 1]) return 6;
	free(p);
	free(NULL);
	return 0;
}
*/
import "C"

import "fmt"

// Blocks takes blocks of size bytes, uses them and gives them back.
func Blocks(size int) error {
	if at := C.exercise(C.size_t(size)); at != 0 {
		return fmt.Errorf("blocks of %d bytes: step %d fails", size, at)
	}
	return nil
}
