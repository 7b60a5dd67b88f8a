//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

/*
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { page = 2 << 20, large = 4 << 20 };

static atomic_long largeBlocks; // that were asked for

// posix_memalign takes the C library's place for the libraries that are loaded, because
// XLA takes a step's memory from it, hundreds of megabytes anew for every step. What is
// large is in pages of 2 MB here, if the system has them: with those of 4 KB their first
// use takes a tenth to a fifth of a step. (The C library does so by itself only if
// GLIBC_TUNABLES is set before the program starts.)
int posix_memalign(void** block, size_t alignment, size_t size) {
	if (alignment < sizeof(void*) || (alignment & (alignment - 1))) return EINVAL;
	if (size >= large && alignment < page) alignment = page;
	void* p = memalign(alignment, size);
	if (!p) return ENOMEM;
	if (size >= large) {
		madvise(p, size, MADV_HUGEPAGE); // advice: no harm where it is not taken
		largeBlocks++;
	}
	*block = p;
	return 0;
}

static long countLargeBlocks(void) { return largeBlocks; }

static void trim(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
*/
import "C"

// trim gives memory that C code has freed back to the system.
func trim() { C.trim() }

// largeBlocks counts the blocks of memory that were in large pages.
func largeBlocks() int { return int(C.countLargeBlocks()) }
