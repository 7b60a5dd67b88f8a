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

// blocks are those in use and those that are kept, to be read with lock held. All kept
// ones are given back before a new block is made, that is, when a size is asked for that
// none of them has: large blocks never take more than without keeping, rounding to pages
// apart. Beside other memory they stay until ledg_give_back.
static struct { char* at; size_t size; int used; } blocks[most];
static int count;
static long asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void ledg_give_back(void);

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

// take returns a block of at least size bytes, or NULL where the system has none or too
// many are in use.
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

// The functions that would be called without this file: the C library's, or those of an
// allocator that somebody preloads.
static void (*next_free)(void*);
static void* (*next_realloc)(void*, size_t);
static size_t (*next_usable)(void*);

// find looks them up, which may free something itself.
static void find(void) {
	static __thread int looking;
	if (looking || next_usable) return;
	looking = 1;
	int before = errno;
	next_free = dlsym(RTLD_NEXT, "free");
	next_realloc = dlsym(RTLD_NEXT, "realloc");
	next_usable = dlsym(RTLD_NEXT, "malloc_usable_size");
	errno = before;
	looking = 0;
}

static void acquire(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }

// prepare runs before main; calls that come even before that find what they need.
__attribute__((constructor)) static void prepare(void) {
	find();
	pthread_atfork(acquire, leave, leave); // a child may go on with what its parent has
}

int posix_memalign(void** block, size_t alignment, size_t size) {
	if (alignment < sizeof(void*) || (alignment & (alignment - 1))) return EINVAL;
	void* p = NULL;
	if (size >= large && alignment <= page) p = take(size);
	if (!p) p = memalign(alignment, size);
	if (!p) {
		ledg_give_back();
		p = memalign(alignment, size);
	}
	if (!p) return ENOMEM;
	*block = p;
	return 0;
}

void free(void* p) {
	if (!p || sizeOf(p, 1)) return;
	if (!next_free) find();
	if (next_free) next_free(p);
}

void* realloc(void* p, size_t size) {
	size_t had = sizeOf(p, 0);
	if (!had) {
		if (!next_realloc) find();
		if (next_realloc) return next_realloc(p, size);
		errno = ENOMEM;
		return NULL;
	}
	void* to = size ? malloc(size) : NULL;
	if (to) memcpy(to, p, size < had ? size : had);
	if (to || !size) free(p);
	return to;
}

size_t malloc_usable_size(void* p) {
	size_t size = sizeOf(p, 0);
	if (size) return size;
	if (!next_usable) find();
	return next_usable ? next_usable(p) : 0;
}

long ledg_large_requests(void) {
	pthread_mutex_lock(&lock);
	long n = asked;
	pthread_mutex_unlock(&lock);
	return n;
}

long ledg_kept_bytes(void) {
	long n = 0;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < count; i++) {
		if (!blocks[i].used) n += blocks[i].size;
	}
	pthread_mutex_unlock(&lock);
	return n;
}

void ledg_give_back(void) {
	pthread_mutex_lock(&lock);
	release();
	pthread_mutex_unlock(&lock);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
