//go:build cgo && !noxla && linux && (amd64 || arm64)

// XLA takes the memory of a step, hundreds of megabytes, anew for every step and frees
// it at the end, and the C library gives blocks of that size back to the system every
// time. Their pages are cleared again at their first use: a tenth to a fifth of a step
// with pages of 4 KB, and still a twelfth with those of 2 MB. So large blocks from
// posix_memalign, which is what XLA calls, come from here: in pages of 2 MB, and kept
// for the next request of their size. The functions below take the C library's place
// for every library of the process, and pass on what is not theirs.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page = 2 << 20, large = 4 << 20, most = 1024 };

// blocks are those in use and those that are kept, with lock held. Kept ones are given
// back as soon as a size is asked for that none of them has: what a program needs then
// is never more than without them.
static struct { char* at; size_t size; int used; } blocks[most];
static int count;
static long asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// release gives the kept blocks back to the system. lock is held.
static void release(void) {
	int n = 0;
	for (int i = 0; i < count; i++) {
		if (blocks[i].used) blocks[n++] = blocks[i];
		else munmap(blocks[i].at, blocks[i].size);
	}
	count = n;
}

// map returns a new block, whose size is a multiple of a page, or NULL. lock is held.
static char* map(size_t size) {
	if (count == most) return NULL;
	char* p = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) return NULL;
	size_t before = -(uintptr_t)p & (page - 1);
	if (before) munmap(p, before);
	munmap(p + before + size, page - before);
	p += before;
	madvise(p, size, MADV_HUGEPAGE); // advice: no harm where it is not taken
	blocks[count].at = p;
	blocks[count].size = size;
	blocks[count++].used = 1;
	return p;
}

// take returns a block of at least size bytes, or NULL where the system has none.
static char* take(size_t size) {
	if (size > PTRDIFF_MAX - 2 * (size_t)page) return NULL;
	size = (size + page - 1) & ~((size_t)page - 1);
	char* p = NULL;
	pthread_mutex_lock(&lock);
	asked++;
	for (int i = 0; i < count && !p; i++) {
		if (!blocks[i].used && blocks[i].size == size) {
			blocks[i].used = 1;
			p = blocks[i].at;
		}
	}
	if (!p) {
		release();
		p = map(size);
	}
	pthread_mutex_unlock(&lock);
	return p;
}

// sizeOf is the size of a block in use, 0 of any other memory; if drop, it is kept from
// now on.
static size_t sizeOf(void* p, int drop) {
	if (!p || (uintptr_t)p & (page - 1)) return 0;
	size_t size = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < count && !size; i++) {
		if (blocks[i].used && blocks[i].at == p) {
			size = blocks[i].size;
			if (drop) blocks[i].used = 0;
		}
	}
	pthread_mutex_unlock(&lock);
	return size;
}

// next is the function of that name which would be called without this file: the C
// library's, or that of an allocator which somebody preloads.
static void* next(void** found, const char* name) {
	void* f = __atomic_load_n(found, __ATOMIC_RELAXED);
	if (!f) {
		static __thread int looking; // dlsym may free something itself
		if (looking) return NULL;
		looking = 1;
		f = dlsym(RTLD_NEXT, name);
		looking = 0;
		__atomic_store_n(found, f, __ATOMIC_RELAXED);
	}
	return f;
}

int posix_memalign(void** block, size_t alignment, size_t size) {
	if (alignment < sizeof(void*) || (alignment & (alignment - 1))) return EINVAL;
	void* p = NULL;
	if (size >= large && alignment <= page) p = take(size);
	if (!p) p = memalign(alignment, size);
	if (!p) return ENOMEM;
	*block = p;
	return 0;
}

void free(void* p) {
	static void* found;
	if (!p || sizeOf(p, 1)) return;
	void (*f)(void*) = next(&found, "free");
	if (f) f(p);
}

void* realloc(void* p, size_t size) {
	static void* found;
	size_t had = sizeOf(p, 0);
	if (!had) {
		void* (*f)(void*, size_t) = next(&found, "realloc");
		return f ? f(p, size) : NULL;
	}
	void* to = size ? malloc(size) : NULL;
	if (to) memcpy(to, p, size < had ? size : had);
	if (to || !size) free(p);
	return to;
}

size_t malloc_usable_size(void* p) {
	static void* found;
	size_t size = sizeOf(p, 0);
	if (size) return size;
	size_t (*f)(void*) = next(&found, "malloc_usable_size");
	return f ? f(p) : 0;
}

long largeBlocks(void) {
	pthread_mutex_lock(&lock);
	long n = asked;
	pthread_mutex_unlock(&lock);
	return n;
}

long keptBytes(void) {
	long n = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < count; i++) {
		if (!blocks[i].used) n += blocks[i].size;
	}
	pthread_mutex_unlock(&lock);
	return n;
}

void giveBack(void) {
	pthread_mutex_lock(&lock);
	release();
	pthread_mutex_unlock(&lock);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
